"""OpenHands' terminal tool as it is by default: a pool of tmux panes, one executor for each terminal."""

import os
from pathlib import Path

from serve import serve

from openhands.tools.terminal.definition import TerminalAction
from openhands.tools.terminal.impl import TerminalExecutor


class OpenHands:
    def __init__(self):
        self.executors = {}
        self.texts = {}

    def open(self, name):
        # Where it saves what it leaves out.
        saved = Path.cwd() / "saved" / name
        saved.mkdir(parents=True)
        self.executors[name] = TerminalExecutor(os.getcwd(), full_output_save_dir=str(saved))
        self.run(name, "true")

    def run(self, name, command):
        seen = self.executors[name](TerminalAction(command=command, timeout=60))
        self.texts[name] = "".join(part.text for part in seen.to_llm_content)
        return seen.exit_code, self.texts[name]

    def rest(self, name):
        files = sorted((Path.cwd() / "saved" / name).iterdir(), key=lambda file: file.stat().st_mtime_ns)
        saved = files[-1].read_text() if files else ""
        return max(saved, self.texts[name], key=len)

    def close(self):
        for executor in self.executors.values():
            executor.close()


serve(OpenHands)
