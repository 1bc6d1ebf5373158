"""An agent on the Python SDK. A turn runs the scenario which the prompt names and reports what it saw as one JSON document.

    python agent.py [--record FILE]
"""

import asyncio
import itertools
import json
import sys
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import acp
from acp.schema import EnvVariable, PermissionOption, ToolCallUpdate
from scenarios import scenarios


@dataclass
class Terminal:
    """The SDK has no handle of its own."""

    client: Any
    session_id: str
    id: str

    def output(self):
        return self.client.terminal_output(session_id=self.session_id, terminal_id=self.id)

    def wait(self):
        return self.client.wait_for_terminal_exit(session_id=self.session_id, terminal_id=self.id)

    def kill(self):
        return self.client.kill_terminal(session_id=self.session_id, terminal_id=self.id)

    def release(self):
        return self.client.release_terminal(session_id=self.session_id, terminal_id=self.id)


@dataclass
class Wait:
    """A wait that can be cancelled; the SDK has no call for that, and does not tell the number of a request."""

    connection: Any
    number: int
    answer: Any

    async def cancel(self):
        await self.connection.send_notification("$/cancel_request", {"requestId": self.number})


@dataclass
class View:
    """All that a scenario may use."""

    client: Any
    session_id: str
    other_session_id: str
    cwd: str

    def terminal(self, id, session_id=None):
        return Terminal(self.client, session_id or self.session_id, id)

    async def create(self, command, args=None, env=None, session_id=None, **more):
        if env is not None:
            env = [EnvVariable(name=name, value=value) for name, value in env.items()]
        session_id = session_id or self.session_id
        answer = await self.client.create_terminal(session_id=session_id, command=command, args=args, env=env, **more)
        return self.terminal(answer.terminal_id)

    async def cancellable_wait(self, terminal):
        connection = self.client._conn
        number = connection._next_request_id
        answer = asyncio.ensure_future(terminal.wait())
        while connection._next_request_id == number:
            await asyncio.sleep(0)
        return Wait(connection, number, answer)

    def shown(self, terminal):
        return acp.tool_terminal_ref(terminal.id)

    def text(self, text):
        return acp.tool_content(acp.text_block(text))

    async def tool_call(self, id, status="in_progress", **more):
        update = acp.start_tool_call(id, "Build", kind="execute", status=status, **more)
        await self.client.session_update(session_id=self.session_id, update=update)

    async def tool_update(self, id, **more):
        update = acp.update_tool_call(id, **more)
        await self.client.session_update(session_id=self.session_id, update=update)

    async def permission(self, id, content):
        call = ToolCallUpdate(tool_call_id=id, title="Build", kind="execute", status="pending", content=content)
        options = [PermissionOption(option_id="yes", name="Go on", kind="allow_once")]
        answer = await self.client.request_permission(session_id=self.session_id, tool_call=call, options=options)
        return plain(answer.outcome)


class Agent(acp.Agent):
    def __init__(self):
        self.sdk = version("agent-client-protocol")
        self.cwds = {}
        self.numbers = itertools.count(1)

    def on_connect(self, conn):
        self.client = conn

    async def initialize(self, protocol_version, client_capabilities=None, **_):
        self.capabilities = plain(client_capabilities)
        return acp.InitializeResponse(protocol_version=1)

    async def new_session(self, cwd, **_):
        session_id = f"session-{next(self.numbers)}"
        self.cwds[session_id] = cwd
        return acp.NewSessionResponse(session_id=session_id)

    async def prompt(self, session_id, prompt, **_):
        name = prompt[0].text.strip()
        other = next(id for id in self.cwds if id != session_id)
        report = {"scenario": name, "sdk": self.sdk, "capabilities": self.capabilities}
        try:
            if not (self.capabilities or {}).get("terminal"):
                raise RuntimeError("the client has no terminals")
            report["seen"] = await scenarios[name](View(self.client, session_id, other, self.cwds[session_id]))
        except Exception as error:
            report["failed"] = {"code": getattr(error, "code", None), "message": repr(error)}
        text = json.dumps(report, ensure_ascii=False)
        await self.client.session_update(session_id=session_id, update=acp.update_agent_message_text(text))
        return acp.PromptResponse(stop_reason="end_turn")


def plain(model):
    return model and model.model_dump(mode="json", by_alias=True, exclude_none=True)


def recorder(path, own, other):
    """Keeps every message, with whom it is for."""
    file = open(path, "w", buffering=1)
    sides = {"incoming": own, "outgoing": other}

    def note(event):
        file.write(json.dumps({"to": sides[event.direction.value], "message": event.message}) + "\n")

    return note


if __name__ == "__main__":
    observers = [recorder(sys.argv[2], "agent", "client")] if sys.argv[1:2] == ["--record"] else []
    asyncio.run(acp.run_agent(Agent(), observers=observers))
