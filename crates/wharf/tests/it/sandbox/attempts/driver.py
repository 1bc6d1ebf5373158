"""Runs attempts one after the other, each in a process of its own, and prints a line for each:

    NAME <tab> ESCAPED|HELD|CLAIMED|BROKEN <tab> what or why

    driver.py FACTS NAME...     or     driver.py --list
"""

import json
import os
import signal
import sys
import tempfile

import channel  # noqa: F401  (each of these adds its attempts)
import file  # noqa: F401
import kernel  # noqa: F401
import metadata  # noqa: F401
import mount  # noqa: F401
import process  # noqa: F401
import repository  # noqa: F401
import secret  # noqa: F401
from attempt import ATTEMPTS, Claim, Held, Victims

# No attempt takes this long, in seconds.
GUARD = 10


def judge(name, facts):
    try:
        return "ESCAPED", str(ATTEMPTS[name](Victims(facts, name)))
    except Claim as what:
        return "CLAIMED", str(what)
    except (Held, OSError) as why:
        return "HELD", str(why)
    except BaseException as error:  # also an interpreter that is told to exit
        return "BROKEN", repr(error)


def in_child(name, facts):
    """The verdict of a process that may do anything to itself."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(GUARD)
        os.write(writer, "\t".join(judge(name, dict(facts, result=writer))).replace("\n", " ").encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if said:
        return said
    # A call that is answered by a signal was not made.
    return "HELD\tended by SIGSYS" if code == -signal.SIGSYS else f"BROKEN\tended with {code}"


def workplace(root):
    """The root, or where nothing may be written in it, the temporary directory: an attempt must get to its point."""
    try:
        return os.path.dirname(tempfile.mkdtemp(dir=root)) if os.access(root, os.W_OK) else tempfile.gettempdir()
    except OSError:
        return tempfile.gettempdir()


def main(args):
    if args == ["--list"]:
        print("\n".join(sorted(ATTEMPTS)))
        return
    with open(args[0], encoding="utf-8") as given:
        facts = json.load(given)
    facts["workplace"] = workplace(facts["root"])
    facts["parent"] = os.getppid()
    facts["own_terminal"] = os.environ.get("WHARF_TERMINAL", "none")
    facts["terminal_id"] = facts["terminal"]["id"]
    for name in args[1:]:
        print(f"{name}\t{in_child(name, facts)}", flush=True)


main(sys.argv[1:])
