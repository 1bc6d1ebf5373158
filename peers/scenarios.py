"""What an agent does with terminals, one scenario a function: `scenarios.mjs` in Python, with the same names and results.

A terminal is an object with `id`, `output()`, `wait()`, `kill()` and `release()`.
"""

import asyncio
import json
import os
import re
import signal
import time
from pathlib import Path

# Nothing here takes this long; what does hangs.
GUARD = 20.0
# How long a process may outlive its terminal: until it was asked, and then told, to end.
GRACE = 6.0

scenarios = {}


def scenario(function):
    scenarios[function.__name__] = function
    return function


def status(answer):
    if answer is None:
        return {"exitCode": None, "signal": None}
    return {"exitCode": answer.exit_code, "signal": answer.signal}


async def outcome(awaitable):
    """"ok", or the code of the error."""
    try:
        await awaitable
        return "ok"
    except Exception as error:
        return getattr(error, "code", str(error))


async def until(is_so, what, guard=GUARD):
    """Tries until it is so. There is no other way for an agent to learn of output."""
    end = time.monotonic() + guard
    while True:
        if found := await is_so():
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"in vain: {what}")
        await asyncio.sleep(0.01)


async def printed(terminal, text):
    async def is_there():
        return text in (await terminal.output()).output

    await until(is_there, f"output with {text}")


async def is_gone(pid):
    """Whether a process is gone within the time that its end may take; afterwards it is, in any case."""

    async def is_dead():
        # A zombie waits for a parent that may never ask, and does nothing any more.
        try:
            return bool(re.search(r"^State:\s+Z", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE))
        except OSError:
            return True

    try:
        return await until(is_dead, f"end of {pid}", GRACE)
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        return False


async def run(agent, command, args=None, **more):
    """create → wait → output → release."""
    terminal = await agent.create(command, args, **more)
    exit = status(await terminal.wait())
    answer = await terminal.output()
    await terminal.release()
    return {"output": answer.output, "truncated": answer.truncated, "exit": exit, "exitStatus": status(answer.exit_status)}


def sh(script):
    return "sh", ["-c", script]


marks = iter(range(1_000_000))


async def refusal(agent, **more):
    """Asks for a command that leaves a mark. What was answered, and whether it ran nevertheless."""
    mark = Path(agent.cwd, f"mark-{next(marks)}")
    answer = await outcome(agent.create(*sh(f"echo > '{mark}'"), **more))
    return {"answer": answer, "ran": mark.exists()}


def gated(agent, name):
    """Prints, waits at a gate, prints again: what is shown in between is shown while it runs."""
    gate = Path(agent.cwd, f"gate-{name}")
    return f"echo first; until [ -e '{gate}' ]; do sleep 0.02; done; echo second", gate.touch


@scenario
async def basics(agent):
    terminal = await agent.create("printf", ["%s\\n", "a  b", "$HOME", "*", "it's"])
    exit = status(await terminal.wait())
    answer = await terminal.output()
    released = await outcome(terminal.release())
    return {
        "named": len(terminal.id) > 0,
        "exit": exit,
        "output": answer.output,
        "truncated": answer.truncated,
        "exitStatus": status(answer.exit_status),
        "released": released,
    }


@scenario
async def shell_line(agent):
    return await run(agent, "for i in 1 2; do echo $i; done | tr '\\n' ' ' && (exit 3)")


@scenario
async def interleaved(agent):
    return await run(agent, *sh("echo 1; echo 2 >&2; echo 3; echo 4 >&2"))


@scenario
async def spaced_path(agent):
    program = Path(agent.cwd, "a dir", "say hello")
    program.parent.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    return await run(agent, str(program))


@scenario
async def no_such_program(agent):
    try:
        terminal = await agent.create("no-such-program-anywhere", ["x"])
    except Exception:
        return {"honest": True}
    code = status(await terminal.wait())["exitCode"]
    await terminal.release()
    return {"honest": code not in (0, None)}


@scenario
async def env_wins(agent):
    env = {"TERM": "dumb", "DEBIAN_FRONTEND": "mine", "GREETING": "a b=c"}
    return await run(agent, *sh('echo "$TERM|$DEBIAN_FRONTEND|$GREETING"'), env=env)


@scenario
async def bad_env(agent):
    return {
        "empty": await refusal(agent, env={"": "x"}),
        "equals": await refusal(agent, env={"A=B": "x"}),
        "nul": await refusal(agent, env={"A\0B": "x"}),
    }


@scenario
async def session_cwd(agent):
    sub = Path(agent.cwd, "sub")
    sub.mkdir(exist_ok=True)

    async def where(**more):
        return (await run(agent, *sh("pwd -P"), **more))["output"].rstrip("\n")

    return {
        "default": await where() == os.path.realpath(agent.cwd),
        "given": await where(cwd=str(sub)) == os.path.realpath(sub),
    }


@scenario
async def bad_cwd(agent):
    file = Path(agent.cwd, "a file")
    file.touch()
    return {
        "missing": await refusal(agent, cwd=str(Path(agent.cwd, "nowhere"))),
        "file": await refusal(agent, cwd=str(file)),
        "relative": await refusal(agent, cwd="."),
    }


@scenario
async def signal_death(agent):
    async def by(name):
        seen = await run(agent, *sh(f"kill -{name} $$"))
        return {"exit": seen["exit"], "exitStatus": seen["exitStatus"]}

    return {"kill": await by("KILL"), "term": await by("TERM"), "segv": await by("SEGV")}


@scenario
async def timeout(agent):
    terminal = await agent.create(*sh("echo begun; exec sleep 300"))
    await printed(terminal, "begun")
    wait = asyncio.ensure_future(terminal.wait())
    done, _ = await asyncio.wait([wait], timeout=0.1)
    await terminal.kill()
    answer = await terminal.output()
    exit = status(await wait)
    await terminal.release()
    return {
        "first": "exit" if done else "timer",
        "output": answer.output,
        "exitStatus": status(answer.exit_status),
        "exit": exit,
    }


@scenario
async def kill_is_quiet(agent):
    running = await agent.create(*sh("exec sleep 300"))
    first = await outcome(running.kill())
    again = await outcome(running.kill())
    exit = status(await running.wait())
    late = await outcome(running.kill())
    await running.release()

    ended = await agent.create(*sh("echo bye; exit 7"))
    await ended.wait()
    after = await outcome(ended.kill())
    answer = await ended.output()
    await ended.release()
    ended = {"kill": after, "output": answer.output, "exitStatus": status(answer.exit_status)}
    return {"first": first, "again": again, "late": late, "exit": exit, "ended": ended}


@scenario
async def kill_reaches_the_tree(agent):
    script = "sleep 301 & echo child $!; setsid sh -c 'echo escaped $$; exec sleep 302' & wait"
    terminal = await agent.create(*sh(script))

    async def pid(name):
        async def find():
            return re.search(f"{name} (\\d+)\n", (await terminal.output()).output)

        return int((await until(find, name))[1])

    child, escaped = await pid("child"), await pid("escaped")
    await terminal.kill()
    await terminal.release()
    return {"child": await is_gone(child), "escaped": await is_gone(escaped)}


@scenario
async def release_invalidates(agent):
    terminal = await agent.create(*sh("echo $$; exec sleep 300"))
    await printed(terminal, "\n")
    pid = int((await terminal.output()).output)
    pending = asyncio.ensure_future(outcome(terminal.wait()))
    release = await outcome(terminal.release())
    await pending
    return {
        "release": release,
        "pending": "answered",
        "output": await outcome(terminal.output()),
        "wait": await outcome(terminal.wait()),
        "kill": await outcome(terminal.kill()),
        "again": await outcome(terminal.release()),
        "gone": await is_gone(pid),
    }


@scenario
async def unknown_id(agent):
    terminal = agent.terminal("no-such-terminal")
    return {
        "output": await outcome(terminal.output()),
        "wait": await outcome(terminal.wait()),
        "kill": await outcome(terminal.kill()),
        "release": await outcome(terminal.release()),
    }


@scenario
async def other_session(agent):
    terminal = await agent.create(*sh("echo mine"))
    await terminal.wait()
    stolen = agent.terminal(terminal.id, agent.other_session_id)
    nowhere = agent.terminal(terminal.id, "no-such-session")
    seen = {
        "output": await outcome(stolen.output()),
        "kill": await outcome(stolen.kill()),
        "release": await outcome(stolen.release()),
        "unknownSession": await outcome(nowhere.output()) != "ok",
        "create": (await refusal(agent, session_id="no-such-session"))["ran"],
    }
    still = (await terminal.output()).output
    await terminal.release()
    return {**seen, "still": still}


@scenario
async def truncation(agent):
    async def keep(text, limit):
        seen = await run(agent, "printf", ["%s", text], output_byte_limit=limit)
        return {"output": seen["output"], "truncated": seen["truncated"]}

    return {
        "twoByteCut": await keep("ééééé", 5),
        "fourByteCut": await keep("a😀😀", 7),
        "noWholeCharacter": await keep("😀", 3),
        "exact": await keep("0123456789", 10),
        "oneOver": await keep("0123456789", 9),
        "zero": await keep("0123456789", 0),
        "zeroOfNothing": await keep("", 0),
    }


@scenario
async def prefix_stable(agent):
    script = "for i in $(seq 40); do printf 'x\\303'; sleep 0.01; printf '\\251\\n'; done"
    terminal = await agent.create(*sh(script))
    exit = asyncio.ensure_future(terminal.wait())
    last, stable, reads = "", True, 0
    while not exit.done():
        output = (await terminal.output()).output
        stable = stable and output.startswith(last)
        last, reads = output, reads + 1
        await asyncio.sleep(0.005)
    output = (await terminal.output()).output
    stable = stable and output.startswith(last)
    await terminal.release()
    return {"stable": stable, "readOften": reads > 5, "whole": output == "xé\n" * 40}


@scenario
async def large_output(agent):
    seen = await run(agent, "seq", ["1", "200000"], output_byte_limit=4 * 1024 * 1024)
    output = seen["output"]
    return {"bytes": len(output.encode()), "last": output[-7:], "truncated": seen["truncated"], "exit": seen["exit"]}


@scenario
async def many_waits(agent):
    terminal = await agent.create(*sh("echo here; exec sleep 300"))
    waits = [asyncio.ensure_future(terminal.wait()) for _ in range(300)]
    await printed(terminal, "here")
    await terminal.kill()
    answers = await asyncio.gather(*waits)
    await terminal.release()
    kinds = {json.dumps(status(answer), separators=(",", ":")) for answer in answers}
    return {"answers": len(answers), "kinds": sorted(kinds)}


@scenario
async def cancel_wait(agent):
    terminal = await agent.create(*sh("exec sleep 300"))
    cancelled = await agent.cancellable_wait(terminal)
    other = asyncio.ensure_future(terminal.wait())
    await cancelled.cancel()
    seen = {"cancelled": await outcome(cancelled.answer), "otherAnswered": other.done()}
    running = (await terminal.output()).exit_status is None
    await terminal.kill()
    exit = status(await other)
    await terminal.release()
    return {**seen, "running": running, "exit": exit}


@scenario
async def flood(agent):
    limit = 64 * 1024
    terminal = await agent.create("yes", [], output_byte_limit=limit)

    async def is_full():
        answer = await terminal.output()
        return answer if answer.truncated else None

    full = (await until(is_full, "a truncated output")).output
    await terminal.kill()
    exit = status(await terminal.wait())
    answer = await terminal.output()
    await terminal.release()
    texts = [full, answer.output]
    return {
        "bounded": all(len(text.encode()) <= limit for text in texts),
        "full": all(len(text.encode()) > limit - 4 for text in texts),
        "yes": all(re.fullmatch(r"\n?(y\n)*y?", text) is not None for text in texts),
        "truncated": answer.truncated,
        "exit": exit,
    }


@scenario
async def stdin_at_eof(agent):
    line = await run(agent, 'cat; echo "cat $?"; read x || echo nothing')
    argv = await run(agent, "cat", ["-"])
    return {"line": line["output"], "argv": argv["exit"]}


@scenario
async def background_child(agent):
    terminal = await agent.create("sleep 303 & echo $!")
    begin = time.monotonic()
    exit = status(await terminal.wait())
    prompt = time.monotonic() - begin < 5
    pid = int((await terminal.output()).output)
    await terminal.release()
    return {"exit": exit, "prompt": prompt, "gone": await is_gone(pid)}


@scenario
async def unfinished_line(agent):
    heredoc = await run(agent, "cat <<END\nhello")
    quote = await run(agent, 'echo "hello')
    return {"heredoc": "hello" in heredoc["output"], "quoteFails": quote["exit"]["exitCode"] > 0}


@scenario
async def embed(agent):
    script, open_gate = gated(agent, "embed")
    terminal = await agent.create(*sh(script))
    await agent.tool_call("embed", content=[agent.shown(terminal)], raw_input={"command": "build"})
    await printed(terminal, "first")
    # A viewer is shown the first line by now, or soon; nobody tells the agent.
    await asyncio.sleep(0.3)
    open_gate()
    exit = status(await terminal.wait())
    await agent.tool_update("embed", status="completed", raw_output={"exitCode": 0})
    await terminal.release()
    return {"exit": exit}


@scenario
async def embed_by_update(agent):
    script, open_gate = gated(agent, "update")
    text = agent.text("beside")
    await agent.tool_call("by-update", status="pending", content=[text])
    terminal = await agent.create(*sh(f"{script}; exit 4"))
    await agent.tool_update("by-update", status="in_progress", content=[text, agent.shown(terminal)])
    await printed(terminal, "first")
    open_gate()
    exit = status(await terminal.wait())
    await terminal.release()
    await agent.tool_update("by-update", status="failed")
    return {"exit": exit}


@scenario
async def embed_in_permission(agent):
    script, open_gate = gated(agent, "permission")
    terminal = await agent.create(*sh(script))
    await printed(terminal, "first")
    chosen = await agent.permission("permission", content=[agent.shown(terminal)])
    open_gate()
    exit = status(await terminal.wait())
    await agent.tool_update("permission", status="completed")
    await terminal.release()
    return {"chosen": chosen, "exit": exit}
