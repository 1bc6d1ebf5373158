"""Changing what is known of a file instead of what is in it. The kernel's path rules do not speak of these calls."""

import fcntl
import os
import struct

from attempt import attempt, call


@attempt
def change_mode(v):
    os.chmod(v.file, 0o666)
    return "mode changed"


@attempt
def change_mode_by_path_descriptor(v):
    fd = os.open(v.file, os.O_PATH)
    os.chmod(f"/proc/self/fd/{fd}", 0o666)
    return "mode changed"


@attempt
def change_mode_by_new_call(v):
    # fchmodat2, which filters written before it do not know.
    call(452, -100, v.file.encode(), 0o666, 0)
    return "mode changed"


@attempt
def change_owner(v):
    os.chown(v.file, os.getuid(), os.getgid())
    return "owner set"


@attempt
def change_times(v):
    os.utime(v.file, (1, 1))
    return "times changed"


@attempt
def change_times_by_descriptor(v):
    fd = os.open(v.file, os.O_RDONLY)
    os.utime(fd, (1, 1))
    return "times changed"


@attempt
def set_attribute(v):
    os.setxattr(v.file, "user.wharf", b"x")
    return "attribute set"


@attempt
def set_attribute_by_descriptor(v):
    fd = os.open(v.file, os.O_RDONLY)
    os.setxattr(fd, "user.wharf", b"x")
    return "attribute set"


@attempt
def remove_attribute(v):
    os.removexattr(v.file, "user.host")
    return "attribute removed"


@attempt
def set_flags(v):
    # Not to be dumped, by the old call on a descriptor that is only for reading.
    fcntl.ioctl(os.open(v.file, os.O_RDONLY), 0x40086602, struct.pack("l", 0x40))
    return "flags set"
