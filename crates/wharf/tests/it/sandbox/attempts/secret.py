"""Reading what is nobody's business: keys, credentials, what wharf keeps of other terminals."""

import os

from attempt import Held, attempt, read

CLOUD = (".aws/credentials", ".azure/accessTokens.json", ".config/gcloud/credentials.db", ".kube/config")
REGISTRY = (".npmrc", ".pypirc", ".cargo/credentials.toml", ".docker/config.json")
GIT = (".git-credentials", ".netrc", ".config/gh/hosts.yml", ".gnupg/private-keys-v1.d/key")
ALL = (".ssh/id_test", *CLOUD, *REGISTRY, *GIT)


def any_of(v, names):
    """An escape if one of them can be read."""
    found = [name for name in names if can_be_read(f"{v.home}/{name}", v.secret)]
    if not found:
        raise Held(f"none of {len(names)}")
    return " ".join(found)


def can_be_read(path, secret):
    try:
        return secret.encode() in read(path)
    except OSError:
        return False


@attempt
def read_ssh_key(v):
    return any_of(v, [".ssh/id_test"])


@attempt
def list_ssh_directory(v):
    if "id_test" not in os.listdir(f"{v.home}/.ssh"):
        raise Held("it is empty")
    return "the names of keys"


@attempt
def read_cloud_credentials(v):
    return any_of(v, CLOUD)


@attempt
def read_registry_credentials(v):
    return any_of(v, REGISTRY)


@attempt
def read_git_credentials(v):
    return any_of(v, GIT)


@attempt
def read_key_by_own_symlink(v):
    os.symlink(f"{v.home}/.ssh", v.own())
    return check(v, f"{v.own()}/id_test")


@attempt
def read_key_by_hard_link(v):
    os.link(f"{v.home}/.ssh/id_test", v.own())
    return check(v, v.own())


@attempt
def read_key_by_moving_its_directory(v):
    os.rename(f"{v.home}/.gnupg", v.own())
    return "moved a directory of keys"


@attempt
def read_key_by_root_link_of_another(v):
    return check(v, f"/proc/{v.process}/root{v.home}/.ssh/id_test")


@attempt
def read_key_by_root_link_of_the_parent(v):
    return check(v, f"/proc/{v.parent}/root{v.home}/.ssh/id_test")


@attempt
def read_key_by_directory_of_another(v):
    return check(v, f"/proc/{v.process}/cwd/../home/.ssh/id_test")


@attempt
def read_key_by_descriptor_of_another(v):
    return check(v, f"/proc/{v.host}/fd/{v.open_key}")


@attempt
def read_key_by_symlink_of_the_host(v):
    # Made by the host beforehand, outside.
    return check(v, f"{v.outside}/link-to-home/.ssh/id_test")


def check(v, path):
    if v.secret.encode() not in read(path):
        raise Held("something else is there")
    return path


@attempt
def list_state_directory(v):
    if v.terminal["id"] not in os.listdir(f"{v.state}/terminals"):
        raise Held("it is empty")
    return "the ids of terminals"


@attempt
def read_another_journal(v):
    return f"{len(read(f'{v.state}/terminals/{v.terminal_id}/out'))} bytes"


@attempt
def read_own_journal(v):
    """One's own output is no secret, but the way to it is that to all others."""
    return f"{len(read(f'{v.state}/terminals/{v.own_terminal}/meta'))} bytes"


@attempt
def write_in_state_directory(v):
    path = f"{v.state}/terminals/{v.unique}"
    os.mkdir(path)
    os.rmdir(path)
    return path


@attempt
def change_another_journal(v):
    with open(f"{v.state}/terminals/{v.terminal_id}/out", "r+b") as file:
        file.write(b"x")
    return "another's output changed"
