"""Calls that reach the kernel itself, and its files and devices.

Every call here has arguments that can never take effect, or concerns nobody else; files and devices are opened and
closed, never read or written.
"""

import ctypes
import errno
import mmap
import os

from attempt import Held, attempt, call, gate


@attempt
def set_up_io_uring(v):
    return gate("io_uring_setup", 0, None)


@attempt
def load_bpf(v):
    # A map of nothing.
    return gate("bpf", 0, None, 0)


@attempt
def open_performance_event(v):
    return gate("perf_event_open", None, 0, -1, -1, 0)


@attempt
def catch_page_faults(v):
    os.close(call("userfaultfd", 1))
    return "page faults in user mode"


@attempt
def load_module(v):
    return gate("init_module", None, 0, b"")


@attempt
def load_module_by_descriptor(v):
    return gate("finit_module", -1, b"", 0)


@attempt
def remove_module(v):
    return gate("delete_module", v.unique.encode(), os.O_NONBLOCK)


@attempt
def load_another_kernel(v):
    # Too many segments and flags that do not exist: refused twice before anything is looked at.
    return gate("kexec_load", 0, 1 << 20, None, 0xFFFF)


@attempt
def reboot(v):
    # Without the magic numbers.
    return gate("reboot", 0, 0, 0, None)


@attempt
def turn_off_swap(v):
    return gate("swapoff", f"/{v.unique}/none".encode())


@attempt
def turn_on_accounting(v):
    return gate("acct", f"/{v.unique}/none".encode())


@attempt
def name_the_host(v):
    return gate("sethostname", None, -1)


@attempt
def read_the_kernels_log(v):
    return f"a buffer of {call('syslog', 10, None, 0)} bytes"


@attempt
def call_as_x32(v):
    # The same calls by other numbers, where the kernel has them.
    pid = call(NUMBER_OF_GETPID | 0x40000000)
    return f"process {pid}"


NUMBER_OF_GETPID = 39


@attempt
def call_as_32_bit(v):
    """`getpid` by the old interrupt: a filter that forgets the architecture takes 20 for another call."""
    if os.uname().machine != "x86_64":
        raise Held("another machine")
    code = b"\xb8\x14\x00\x00\x00" + b"\xcd\x80" + b"\xc3"
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    result = function()
    if result != os.getpid():
        raise OSError(-result, "int 0x80")
    return f"process {result}"


def first_that_opens(paths, flags):
    """An escape if one of them opens."""
    error = Held("there is none here")
    for path in paths:
        try:
            os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY))
            return path
        except OSError as refused:
            if refused.errno not in (errno.ENOENT, errno.ENXIO, errno.ENODEV):
                error = refused
    raise error


@attempt
def open_kernel_setting(v):
    return first_that_opens(["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname"], os.O_WRONLY)


@attempt
def open_system_request(v):
    return first_that_opens(["/proc/sysrq-trigger"], os.O_WRONLY)


@attempt
def open_system_file(v):
    names = ["mm/transparent_hugepage/enabled", "mm/ksm/run", "rcu_expedited", "profiling", "notes"]
    return first_that_opens([f"/sys/kernel/{name}" for name in names], os.O_WRONLY)


@attempt
def open_memory_device(v):
    return first_that_opens(["/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"], os.O_RDONLY)


@attempt
def open_kernel_log_device(v):
    return first_that_opens(["/dev/kmsg"], os.O_WRONLY)


@attempt
def open_block_device(v):
    names = os.listdir("/sys/block") if os.path.isdir("/sys/block") else []
    return first_that_opens([f"/dev/{name}" for name in names], os.O_RDONLY)


@attempt
def open_other_device(v):
    names = ["fuse", "net/tun", "loop-control", "kvm", "btrfs-control", "uinput", "vhost-net", "input/event0"]
    return first_that_opens([f"/dev/{name}" for name in names], os.O_RDWR)
