"""One request per line on standard input, one answer per line on standard output: what both peers have in common.

A peer is an object with `open(name)`, `run(name, command)` -> (exit code, text that an agent gets), `rest(name)` -> all that
can still be got of the last output, and `close()`.
"""

import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor


def own_output():
    """Standard output for answers alone: whatever else prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def answer(peer, request):
    names = request["names"]
    match request["op"]:
        case "open":
            for name in names:
                peer.open(name)
            return {}
        case "run":
            with ThreadPoolExecutor(len(names)) as threads:
                ran = list(threads.map(lambda name: peer.run(name, request["command"]), names))
            return {"answers": [{"exit_code": code, "output": text} for code, text in ran]}
        case "rest":
            return {"answers": [{"exit_code": 0, "output": peer.rest(name)} for name in names]}


def serve(make):
    answers = own_output()
    # Told to end, it takes its tmux servers along.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    peer = make()
    try:
        for line in sys.stdin:
            print(json.dumps(answer(peer, json.loads(line))), file=answers, flush=True)
    finally:
        peer.close()
