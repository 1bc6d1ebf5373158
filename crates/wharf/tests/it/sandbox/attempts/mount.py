"""Changing what paths mean: mounts, namespaces, another root."""

import ctypes
import errno
import os
import signal

from attempt import Held, attempt, call, gate, read

NEWNS, NEWUSER, NEWPID = 0x20000, 0x10000000, 0x20000000
BIND, REMOUNT, REC, PRIVATE = 4096, 32, 16384, 1 << 18
DETACH = 2


@attempt
def bind_mount(v):
    # What succeeds must not be seen by the host. Where there is no other place for it, it is a mount of nothing.
    try:
        call("unshare", NEWNS)
    except OSError:
        return gate("mount", b"", v.root.encode(), None, BIND, None)
    os.mkdir(v.own())
    call("mount", v.dir.encode(), v.own().encode(), None, BIND, None)
    return "bind mount"


@attempt
def remount_writable(v):
    # Not a mount point under `open`: then the answer is EINVAL, from behind the gate.
    return gate("mount", None, f"{v.root}/.git/hooks".encode(), None, REMOUNT | BIND, None)


@attempt
def unmount_a_mask(v):
    return gate("umount2", f"{v.home}/.ssh".encode(), DETACH)


@attempt
def set_mount_attributes(v):
    attributes = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
    return gate("mount_setattr", -100, f"{v.root}/.git/hooks".encode(), 0, attributes, 32)


@attempt
def clone_a_mount(v):
    call("open_tree", -100, v.dir.encode(), 1)
    return "open_tree"


@attempt
def open_a_file_system(v):
    call("fsopen", b"tmpfs", 0)
    return "fsopen"


@attempt
def change_root(v):
    os.mkdir(v.own())
    os.chroot(v.own())
    return "chroot"


@attempt
def enter_mount_namespace_of_another(v):
    call("setns", os.open(f"/proc/{v.process}/ns/mnt", os.O_RDONLY), NEWNS)
    return "setns"


@attempt
def enter_namespaces_by_pidfd(v):
    call("setns", call("pidfd_open", v.process, 0), NEWNS)
    return "setns"


@attempt
def mount_in_new_user_namespace(v):
    call("unshare", NEWUSER | NEWNS)
    return mount_something(v)


@attempt
def mount_in_namespace_by_clone(v):
    return in_child(lambda: call("clone", NEWUSER | NEWNS | signal.SIGCHLD, 0, 0, 0, 0), v)


@attempt
def mount_in_namespace_by_clone3(v):
    arguments = (ctypes.c_uint64 * 8)(NEWUSER | NEWNS, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    return in_child(lambda: call("clone3", arguments, ctypes.sizeof(arguments)), v)


@attempt
def unmask_in_new_user_namespace(v):
    call("unshare", NEWUSER | NEWNS)
    try:
        call("umount2", f"{v.home}/.ssh".encode(), DETACH)
    except OSError as error:
        # Nothing is mounted there under `open`.
        if error.errno != errno.EINVAL:
            raise
    return read(f"{v.home}/.ssh/id_test").decode().strip()


def mount_something(v):
    call("mount", b"none", b"/", None, REC | PRIVATE, None)
    os.makedirs(v.own(), exist_ok=True)
    call("mount", b"none", v.own().encode(), b"tmpfs", 0, None)
    return "mounted a file system"


def in_child(make, v):
    """What `mount_something` gives in a child that is made in another way."""
    os.mkdir(v.own())
    child = make()
    if child == 0:
        code = 0
        try:
            mount_something(v)
        except OSError as error:
            code = error.errno
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code != 0:
        raise Held(f"the child was told {os.strerror(code) if code > 0 else code}")
    return "mounted a file system"
