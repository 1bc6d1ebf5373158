"""Writing where it may not be written: by every name and every kind of change that a file has."""

import ctypes
import os
import stat

from attempt import Claim, attempt, call, overwrite, read, write


@attempt
def write_by_absolute_path(v):
    return overwrite(v.file)


@attempt
def write_by_dot_dot(v):
    return overwrite(os.path.relpath(v.file, os.getcwd()))


@attempt
def write_by_dot_dot_beyond_a_symlink(v):
    os.symlink(v.dir, v.own())
    return overwrite(f"{v.own()}/../{v.name}/file")


@attempt
def write_through_own_symlink(v):
    os.symlink(v.file, v.own())
    return overwrite(v.own())


@attempt
def write_by_directory_descriptor(v):
    fd = os.open(v.dir, os.O_PATH | os.O_DIRECTORY)
    return overwrite("file", dir_fd=fd)


@attempt
def write_by_hard_link(v):
    os.link(v.file, v.own())
    return overwrite(v.own())


@attempt
def write_by_reopened_descriptor(v):
    fd = os.open(v.file, os.O_RDONLY)
    return overwrite(f"/proc/self/fd/{fd}")


@attempt
def write_by_reopened_path_descriptor(v):
    fd = os.open(v.file, os.O_PATH)
    return overwrite(f"/proc/thread-self/fd/{fd}")


@attempt
def write_by_own_root_link(v):
    return overwrite(f"/proc/self/root{v.file}")


@attempt
def write_by_root_link_of_another(v):
    return overwrite(f"/proc/{v.process}/root{v.file}")


@attempt
def write_by_root_link_of_the_parent(v):
    return overwrite(f"/proc/{v.parent}/root{v.file}")


@attempt
def write_by_directory_of_another(v):
    return overwrite(f"/proc/{v.process}/cwd/{v.name}/file")


@attempt
def write_by_descriptor_of_another(v):
    return overwrite(f"/proc/{v.host}/fd/{v.open_file}")


@attempt
def write_by_fetched_descriptor(v):
    pidfd = call("pidfd_open", v.host, 0)
    os.write(call("pidfd_getfd", pidfd, v.open_file, 0), b"from inside\n")
    return "a descriptor of another process"


@attempt
def create_file(v):
    write(f"{v.dir}/new", "from inside\n")
    raise Claim("created a file")


@attempt
def create_directory(v):
    os.mkdir(f"{v.dir}/new")
    raise Claim("created a directory")


@attempt
def create_symlink(v):
    os.symlink("/", f"{v.dir}/new")
    raise Claim("created a symlink")


@attempt
def create_fifo(v):
    os.mkfifo(f"{v.dir}/new")
    raise Claim("created a fifo")


@attempt
def create_in_home(v):
    write(f"{v.home}/.bashrc", "from inside\n")
    return "a shell's start file"


@attempt
def create_in_host_temp(v):
    write(f"{v.temp}/new", "from inside\n")
    raise Claim("created a file in the host's temporary directory")


@attempt
def move_outside_file_in(v):
    os.rename(v.file, v.own())
    return "took a file away"


@attempt
def move_own_file_out(v):
    os.rename(v.own_file(), f"{v.dir}/new")
    raise Claim("brought a file out")


@attempt
def replace_outside_file(v):
    os.rename(v.own_file(), v.file)
    raise Claim("replaced a file")


@attempt
def link_own_file_out(v):
    os.link(v.own_file(), f"{v.dir}/new")
    raise Claim("linked a file out")


@attempt
def link_unnamed_file_out(v):
    fd = os.open(v.dir, os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(fd, b"from inside\n")
    link_unnamed(fd, f"{v.dir}/new")
    raise Claim("named an unnamed file")


@attempt
def link_own_unnamed_file_out(v):
    fd = os.open(v.workplace, os.O_TMPFILE | os.O_RDWR, 0o600)
    link_unnamed(fd, f"{v.dir}/new")
    raise Claim("named an unnamed file")


def link_unnamed(fd, path):
    # Python's own does not follow the link.
    call("linkat", -100, f"/proc/self/fd/{fd}".encode(), -100, path.encode(), 0x400)


@attempt
def remove_file(v):
    os.unlink(v.file)
    return "removed a file"


@attempt
def remove_directory(v):
    os.rmdir(f"{v.dir}/empty")
    return "removed a directory"


@attempt
def move_the_root(v):
    away = f"{v.root}-moved"
    os.rename(v.root, away)
    os.rename(away, v.root)
    return "moved the root"


@attempt
def truncate_by_path(v):
    os.truncate(v.file, 0)
    return "truncated"


@attempt
def truncate_by_opening(v):
    os.close(os.open(v.file, os.O_RDONLY | os.O_TRUNC))
    return "truncated"


@attempt
def write_policy_file(v):
    return overwrite(v.policy)


@attempt
def make_device_node(v):
    # A second /dev/zero. A private file system of no devices would hold it too.
    os.mknod(v.own(), stat.S_IFCHR | 0o600, os.makedev(1, 5))
    return f"a device node that reads {read_some(v.own())!r}"


def read_some(path):
    fd = os.open(path, os.O_RDONLY)
    return os.read(fd, 1)


@attempt
def open_by_handle(v):
    handle = ctypes.create_string_buffer(8 + 128)
    ctypes.c_uint.from_buffer(handle).value = 128
    mount = ctypes.c_int()
    call("name_to_handle_at", -100, v.file.encode(), handle, ctypes.byref(mount), 0)
    directory = os.open(v.root, os.O_RDONLY)
    os.write(call("open_by_handle_at", directory, handle, os.O_WRONLY | os.O_APPEND), b"from inside\n")
    return "wrote by handle"
