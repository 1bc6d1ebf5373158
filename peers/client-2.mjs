// A client on the current TypeScript SDK that has no terminals of its own.

import { drive, readArguments } from "./drive.mjs";

await drive(readArguments());
