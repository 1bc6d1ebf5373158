// An agent on the last TypeScript SDK of the 1.x line.

import * as sdk from "acp-sdk-1";
import { versionOf } from "./sessions.mjs";
import { serve } from "./agent-classic.mjs";

serve(sdk, versionOf("acp-sdk-1"));
