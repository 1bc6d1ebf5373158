"""Runs a program with what Docker's default profile leaves to one in a container. Everything else is as it was: files,
processes and the network are the host's.

    python3 -c THIS PROGRAM ARGS...

Docker allows what is on a list and refuses the rest; here the calls are named that are refused to everybody without
capabilities of their own. Whoever may not filter calls (an ordinary user, or root in a container) gives up new
privileges for it, which Docker does not ask for.
"""

import ctypes
import errno
import os
import struct
import sys

# x86-64, then arm64; None where an architecture has no such call. From 424 on all agree.
REFUSED = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "clock_settime": (227, 112),
    "delete_module": (176, 106), "fanotify_init": (300, 262), "finit_module": (313, 273), "get_mempolicy": (239, 236),
    "init_module": (175, 105), "ioperm": (173, None), "iopl": (172, None), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "lookup_dcookie": (212, 18),
    "mbind": (237, 235), "migrate_pages": (256, 238), "mount": (165, 40), "move_pages": (279, 239),
    "open_by_handle_at": (304, 265), "perf_event_open": (298, 241), "pivot_root": (155, 41), "quotactl": (179, 60),
    "reboot": (169, 142), "request_key": (249, 218), "set_mempolicy": (238, 237), "setdomainname": (171, 162),
    "sethostname": (170, 161), "setns": (308, 268), "settimeofday": (164, 170), "swapoff": (168, 225),
    "swapon": (167, 224), "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
    "vhangup": (153, 58), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "mount_setattr": (442, 442), "quotactl_fd": (443, 443),
}
AT = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
CLONE, SOCKET, CLONE3 = (56, 220)[AT], (41, 198)[AT], 435
# Of mounts, control groups, host names, IPC, users, processes and networks.
NAMESPACES = 0x7E020000
VSOCK = 40
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod,
# audit_write, setfcap.
KEPT = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}

LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NO_NEW_PRIVILEGES, SECCOMP, DROP_FROM_BOUNDING_SET = 38, 22, 24


def filter_code():
    code = [(LOAD, 0, 0, 0)]
    for numbers in REFUSED.values():
        if numbers[AT] is not None:
            code += [(EQUAL, 0, 1, numbers[AT]), (RETURN, 0, 0, REFUSE | errno.EPERM)]
    # Its flags are in memory, where a filter cannot look; a C library that hears of no such call uses the old one.
    code += [(EQUAL, 0, 1, CLONE3), (RETURN, 0, 0, REFUSE | errno.ENOSYS)]
    for number, test, value in ((CLONE, ANY_BIT, NAMESPACES), (SOCKET, EQUAL, VSOCK)):
        code += [(EQUAL, 0, 4, number), (LOAD, 0, 0, 16), (test, 0, 1, value)]
        code += [(RETURN, 0, 0, REFUSE | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    return code + [(RETURN, 0, 0, ALLOW)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def prctl(*args):
    libc = ctypes.CDLL(None, use_errno=True)
    return 0 if libc.prctl(*args, *[0] * (5 - len(args))) == 0 else ctypes.get_errno()


def main(argv):
    if os.geteuid() == 0:
        # What root has is cut to this when the program is executed.
        with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as last:
            for capability in set(range(int(last.read()) + 1)) - KEPT:
                if error := prctl(DROP_FROM_BOUNDING_SET, capability):
                    raise OSError(error, "bounding set")
    code = filter_code()
    program = Program(len(code), b"".join(struct.pack("=HBBI", *instruction) for instruction in code))
    error = prctl(SECCOMP, 2, ctypes.byref(program))
    if error == errno.EACCES:
        error = prctl(NO_NEW_PRIVILEGES, 1) or prctl(SECCOMP, 2, ctypes.byref(program))
    if error:
        raise OSError(error, "filter")
    os.execvp(argv[0], argv)


main(sys.argv[1:])
