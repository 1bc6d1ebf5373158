// A client on the current TypeScript SDK that has terminals, made with `child_process`.
//
// `--usual` reports the end when the process exits, as most clients do, instead of waiting for its output first.

import { drive, readArguments } from "./drive.mjs";
import { Terminals } from "./child-terminals.mjs";

const options = readArguments(["--usual"]);
const terminals = new Terminals({ drain: !options.usual });
process.on("exit", () => terminals.end());
await drive(options, {
  capabilities: { terminal: true },
  equip: (app) => terminals.equip(app),
  opened: (sessionId) => terminals.open(sessionId, options.cwd),
});
