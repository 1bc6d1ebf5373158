"""What is written by hand again and again: type a command and a marker into tmux, look until the marker is there.

The one argument is the pause between two looks, in seconds.
"""

import os
import re
import sys
import time

import libtmux
from serve import serve

# As both known tools of this kind have it.
HISTORY = 10_000


class Bare:
    def __init__(self):
        self.pause = float(sys.argv[1])
        self.server = libtmux.Server(socket_name=f"bench-{os.getpid()}", config_file="/dev/null")
        self.panes = {}
        self.count = 0

    def open(self, name):
        command = "bash --norc --noprofile"
        session = self.server.new_session(session_name=f"s{name}", x=120, y=30, window_command=command)
        if not self.panes:
            # Counts for windows that are made from here on.
            self.server.cmd("set-option", "-g", "history-limit", str(HISTORY))
            session.new_window(window_shell=command, attach=True)
        self.panes[name] = session.active_pane
        self.run(name, "true")

    def run(self, name, command):
        pane = self.panes[name]
        self.count += 1
        mark = f"__done_{name}_{self.count}_"
        end = re.compile(rf"^{mark}(\d+)$", re.MULTILINE)
        pane.send_keys(f"{command}; echo {mark}$?", enter=True, literal=True)
        while not (found := end.search("\n".join(pane.capture_pane()))):
            time.sleep(self.pause)
        return int(found[1]), self.captured(pane, mark)

    def captured(self, pane, mark):
        """From the line that was typed, if it is still there, to the marker."""
        text = "\n".join(pane.capture_pane(start="-", join_wrapped=True))
        before = text.rpartition(f"\n{mark}")[0]
        return before.rpartition(f"echo {mark}$?")[2].removeprefix("\n")

    def rest(self, name):
        pane = self.panes[name]
        return "\n".join(pane.capture_pane(start="-", join_wrapped=True))

    def close(self):
        if self.panes:
            self.server.kill()


serve(Bare)
