"""A client on the Python SDK that has no terminals. Starts an agent, gives it one scenario after the other, and prints a
line of JSON for each with everything that it sent meanwhile. Anything that is against the protocol makes the exit code 1.

    python client.py [--meta] [--record FILE] --cwd DIR --scenario NAME ... -- AGENT ARGS ...
"""

import argparse
import asyncio
import json
import logging
import os
import sys

import acp
from acp.schema import AllowedOutcome, ClientCapabilities
from agent import plain, recorder
from scenarios import scenarios

# Nothing takes this long.
GUARD = 60


class Trouble(logging.Handler):
    """Everything that went wrong. What does not fit the schema, the SDK only logs."""

    def __init__(self):
        super().__init__(level=logging.WARNING)
        self.count, self.unsaid = 0, []

    def emit(self, record):
        self.add(self.format(record))

    def add(self, what):
        self.count += 1
        self.unsaid.append(what)

    def take(self):
        taken, self.unsaid = self.unsaid, []
        return taken


class Turn:
    """The updates of one prompt, and the report among them; an agent that is not of here makes none."""

    def __init__(self):
        self.updates, self.permissions, self.report = [], [], None


class Client(acp.Client):
    def __init__(self, trouble):
        self.trouble, self.turn = trouble, Turn()

    async def session_update(self, session_id, update, **meta):
        update = plain(update)
        self.turn.updates.append({"sessionId": session_id, "update": update, "_meta": meta or None})
        if update["sessionUpdate"] == "agent_message_chunk" and update["content"]["text"].startswith("{"):
            self.turn.report = json.loads(update["content"]["text"])

    async def request_permission(self, session_id, tool_call, options, **_):
        self.turn.permissions.append({"sessionId": session_id, "toolCall": plain(tool_call)})
        outcome = AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return acp.RequestPermissionResponse(outcome=outcome)

    def hear(self, event):
        method = event.message.get("method") or ""
        if event.direction.value == "incoming" and method.startswith("terminal/"):
            self.trouble.add(f"{method} was sent here")


async def play(client, agent, session_id, name):
    client.turn = turn = Turn()
    prompt = agent.prompt(session_id=session_id, prompt=[acp.text_block(name)])
    answer = await asyncio.wait_for(prompt, GUARD)
    if answer.stop_reason != "end_turn":
        client.trouble.add(f"stopped: {answer.stop_reason}")
    return {
        "scenario": name,
        "report": turn.report,
        "updates": turn.updates,
        "permissions": turn.permissions,
        "errors": client.trouble.take(),
    }


async def converse(options, client, agent):
    capabilities = ClientCapabilities(field_meta={"terminal_output": True} if options.meta else None)
    await agent.initialize(protocol_version=1, client_capabilities=capabilities)
    # One to work in, one whose terminals are somebody else's.
    sessions = [await agent.new_session(cwd=options.cwd, mcp_servers=[]) for _ in range(2)]
    for name in options.scenario:
        print(json.dumps(await play(client, agent, sessions[0].session_id, name)), flush=True)


async def drive(options):
    trouble = Trouble()
    logging.getLogger().addHandler(trouble)
    client = Client(trouble)
    os.makedirs(options.cwd, exist_ok=True)
    observers = [client.hear]
    if options.record:
        observers.append(recorder(options.record, "client", "agent"))
    transport = {"stderr": None, "limit": 64 * 1024 * 1024}
    command, *args = options.agent
    try:
        async with acp.spawn_agent_process(
            client, command, *args, env=dict(os.environ), transport_kwargs=transport, observers=observers
        ) as (agent, process):
            await converse(options, client, agent)
        if process.returncode != 0:
            trouble.add(f"the agent ended with {process.returncode}")
    except Exception as error:
        trouble.add(repr(error))
    for what in trouble.take():
        print(what, file=sys.stderr)
    return 1 if trouble.count else 0


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--meta", action="store_true")
    parser.add_argument("--record")
    parser.add_argument("--cwd", required=True, type=os.path.abspath)
    parser.add_argument("--scenario", required=True, nargs="+")
    at = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:at])
    options.agent = sys.argv[at + 1 :]
    if "all" in options.scenario:
        options.scenario = list(scenarios)
    return options


if __name__ == "__main__":
    sys.exit(asyncio.run(drive(read_arguments())))
