// An agent on the SDK's first home, which older agents still carry.

import * as sdk from "acp-sdk-zed";
import { versionOf } from "./sessions.mjs";
import { serve } from "./agent-classic.mjs";

serve(sdk, versionOf("acp-sdk-zed"));
