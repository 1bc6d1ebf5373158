"""Leaving something in the root that the host would run later: hooks, editors' tasks, agents' settings.

`git config core.hooksPath` is not here: ordinary work writes that file, and the documents say so.
"""

import os

from attempt import Held, attempt, overwrite, write


def plant(path):
    """A file that says so if it is ever run. It must be where it was meant to be."""
    write(path, "#!/bin/sh\necho planted\n")
    return f"planted {path}"


def confirm(v, relative):
    """Whether it is there by the name by which the host would use it."""
    with open(f"{v.root}/{relative}", encoding="utf-8") as file:
        if "planted" not in file.read():
            raise Held("it is not there")
    return f"planted {relative}"


@attempt
def change_a_hook(v):
    return overwrite(f"{v.root}/.git/hooks/pre-commit")


@attempt
def add_a_hook(v):
    return plant(f"{v.root}/.git/hooks/post-commit")


@attempt
def make_a_hook_executable(v):
    os.chmod(f"{v.root}/.git/hooks/pre-push", 0o755)
    return "chmod"


@attempt
def remove_a_hook(v):
    os.unlink(f"{v.root}/.git/hooks/pre-receive")
    return "removed"


@attempt
def change_a_hook_by_hard_link(v):
    os.link(f"{v.root}/.git/hooks/pre-commit", v.own())
    return overwrite(v.own())


@attempt
def change_a_hook_by_descriptor(v):
    fd = os.open(f"{v.root}/.git/hooks/pre-commit", os.O_RDONLY)
    return overwrite(f"/proc/self/fd/{fd}")


@attempt
def move_a_hook_in(v):
    os.rename(v.own_file("planted"), f"{v.root}/.git/hooks/pre-rebase")
    return "moved in"


@attempt
def replace_the_hooks(v):
    hooks, away = f"{v.root}/.git/hooks", f"{v.root}/.git/hooks-{v.name}"
    os.rename(hooks, away)
    try:
        os.mkdir(hooks)
        plant(f"{hooks}/pre-commit")
        found = confirm(v, ".git/hooks/pre-commit")
        os.unlink(f"{hooks}/pre-commit")
        os.rmdir(hooks)
    finally:
        os.rename(away, hooks)
    return found


@attempt
def replace_the_hooks_by_a_symlink(v):
    hooks, away, ours = f"{v.root}/.git/hooks", f"{v.root}/.git/hooks-{v.name}", v.own("hooks")
    os.mkdir(ours)
    plant(f"{ours}/pre-commit")
    os.rename(hooks, away)
    try:
        os.symlink(ours, hooks)
        found = confirm(v, ".git/hooks/pre-commit")
        os.unlink(hooks)
    finally:
        os.rename(away, hooks)
    return found


@attempt
def move_the_repository_away_and_back(v):
    git, away = f"{v.root}/.git", f"{v.root}/git-{v.name}"
    os.rename(git, away)
    try:
        return plant(f"{away}/hooks/update")
    finally:
        os.rename(away, git)


@attempt
def replace_the_repository_by_a_symlink(v):
    git, away, ours = f"{v.root}/.git", f"{v.root}/git-{v.name}", v.own("git")
    os.makedirs(f"{ours}/hooks")
    plant(f"{ours}/hooks/pre-commit")
    os.rename(git, away)
    try:
        os.symlink(ours, git)
        found = confirm(v, ".git/hooks/pre-commit")
        os.unlink(git)
    finally:
        os.rename(away, git)
    return found


@attempt
def replace_the_repository_by_a_file(v):
    # A `.git` file names the directory that git then uses, with its hooks.
    git, away = f"{v.root}/.git", f"{v.root}/git-{v.name}"
    os.rename(git, away)
    try:
        write(git, f"gitdir: {v.own('git')}\n")
        os.unlink(git)
    finally:
        os.rename(away, git)
    return "another repository"


@attempt
def add_editor_tasks(v):
    os.makedirs(f"{v.root}/.vscode", exist_ok=True)
    return plant(f"{v.root}/.vscode/tasks.json")


@attempt
def add_agent_settings(v):
    os.makedirs(f"{v.root}/.claude", exist_ok=True)
    return plant(f"{v.root}/.claude/settings.json")


@attempt
def add_tool_servers(v):
    return plant(f"{v.root}/.mcp.json")


@attempt
def move_tool_servers_in(v):
    os.rename(v.own_file("planted"), f"{v.root}/.mcp.json")
    return "moved in"


@attempt
def link_tool_servers_in(v):
    os.unlink(f"{v.root}/.mcp.json") if os.path.lexists(f"{v.root}/.mcp.json") else None
    os.symlink(v.own_file("planted"), f"{v.root}/.mcp.json")
    return "linked in"


@attempt
def move_agent_settings_in(v):
    ours = v.own("claude")
    os.mkdir(ours)
    plant(f"{ours}/settings.json")
    if os.path.isdir(f"{v.root}/.claude"):
        os.rename(f"{v.root}/.claude", v.own("away"))
    os.rename(ours, f"{v.root}/.claude")
    return confirm(v, ".claude/settings.json")
