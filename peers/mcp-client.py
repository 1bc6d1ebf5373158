# A client on the Python MCP SDK. Plays its scenarios against a server and prints one line of JSON for each.
#
#     mcp-client.py auto|legacy -- wharf mcp --cwd DIR
#
# `auto` speaks the protocol without a handshake where the server does; `legacy` begins with one.

import asyncio
import json
import os
import sys

import mcp.types as types
from mcp import Client, StdioServerParameters

questions = []


async def answer(_context, params):
    questions.append(params.message)
    return types.ElicitResult(action="accept", content={"decision": "allow once"})


def tell(scenario, **seen):
    print(json.dumps({"scenario": scenario, "seen": seen}), flush=True)


def seen(result):
    structured = result.structured_content or {}
    return {
        "is_error": bool(result.is_error),
        "text": "\n".join(block.text for block in result.content),
        "content": structured.get("content"),
        "exit_code": structured.get("exit_code"),
        "status": structured.get("status"),
    }


async def play(client):
    listed = await client.list_tools()
    tell("list", names=[tool.name for tool in listed.tools])
    tell("run", **seen(await client.call_tool("terminal_execute", {"command": "cd / && echo hi; false"})))
    tell("remembers", **seen(await client.call_tool("terminal_execute", {"command": "pwd"})))
    tell("refused", **seen(await client.call_tool("terminal_execute", {"cmd": "ls"})))
    heard = []

    async def progress(amount, _total, message):
        heard.append([amount, message])

    command = {"command": "echo working; sleep 2.5; echo done"}
    ran = await client.call_tool("terminal_execute", command, progress_callback=progress)
    tell("progress", heard=heard, **seen(ran))
    asked = await client.call_tool("terminal_execute", {"command": "cd - > /dev/null; touch asked"})
    tell("ask", questions=questions, **seen(asked))


async def main():
    mode, command = sys.argv[1], sys.argv[3:]
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        await play(client)


asyncio.run(main())
