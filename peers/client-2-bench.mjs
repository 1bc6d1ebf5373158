// The client that `cargo xtask bench acp` holds wharf against: the current TypeScript SDK and terminals made with
// `child_process`, with nothing in between that would slow it down. One session, one prompt, however long it takes.
//
//     node client-2-bench.mjs [--usual] DIR AGENT ARGS…
//
// `--usual` reports the end when the process exits, as most clients do, instead of waiting for its output first.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream } from "acp-sdk-2";
import { Terminals } from "./child-terminals.mjs";

const words = process.argv.slice(2);
const isUsual = words[0] === "--usual";
const [cwd, program, ...args] = isUsual ? words.slice(1) : words;

const terminals = new Terminals({ drain: !isUsual });
process.on("exit", () => terminals.end());
const app = client({ name: "wharf-bench" });
terminals.equip(app);

const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const { agent } = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));

await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: { terminal: true } });
const { sessionId } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
terminals.open(sessionId, cwd);
await agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: "go" }] });
process.exit(0);
