// A client on the TypeScript MCP SDK. Plays its scenarios against a server and prints one line of JSON for each: the same
// as mcp-client.py does.
//
//     node mcp-client.mjs -- wharf mcp --cwd DIR

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(process.argv.indexOf("--") + 1);
const questions = [];

const tell = (scenario, seen) => console.log(JSON.stringify({ scenario, seen }));

const seen = (result) => ({
  is_error: result.isError ?? false,
  text: result.content.map((block) => block.text).join("\n"),
  content: result.structuredContent?.content ?? null,
  exit_code: result.structuredContent?.exit_code ?? null,
  status: result.structuredContent?.status ?? null,
});

const client = new Client({ name: "peer-ts", version: "1" }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, (request) => {
  questions.push(request.params.message);
  return { action: "accept", content: { decision: "allow once" } };
});
await client.connect(new StdioClientTransport({ command, args, env: process.env }));

const execute = (given, options) =>
  client.callTool({ name: "terminal_execute", arguments: given }, undefined, options);

// The SDK holds every answer against the tool's output schema once it has listed the tools.
const listed = await client.listTools();
tell("list", { names: listed.tools.map((tool) => tool.name) });
tell("run", seen(await execute({ command: "cd / && echo hi; false" })));
tell("remembers", seen(await execute({ command: "pwd" })));
tell("refused", seen(await execute({ cmd: "ls" })));
const heard = [];
const onprogress = ({ progress, message }) => heard.push([progress, message]);
const ran = await execute({ command: "echo working; sleep 2.5; echo done" }, { onprogress });
tell("progress", { heard, ...seen(ran) });
tell("ask", { ...seen(await execute({ command: "cd - > /dev/null; touch asked" })), questions });
await client.close();
