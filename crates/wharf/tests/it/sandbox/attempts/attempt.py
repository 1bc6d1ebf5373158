"""What an attempt is: a function that tries one way out of a sandbox, on victims that the test made for it alone.

An attempt returns what it got: that is an escape. An `OSError` (or `Held`) is the way being closed. `Claim` is for what
looks the same on both sides of a private copy: whether it is an escape is for the host to say, who looks at the victim.
Anything else that is raised is a broken attempt, which proves nothing.
"""

import ctypes
import errno
import os
import platform

ATTEMPTS = {}


class Held(Exception):
    """The way is closed, and not by an error number."""


class Claim(Exception):
    """It seems to have worked; the host knows."""


class Victims:
    """Where things are, by name, and what was made for this attempt alone."""

    def __init__(self, facts, name):
        self.name = name
        self.facts = facts
        self.dir = os.path.join(facts["outside"], name)
        self.file = os.path.join(self.dir, "file")

    def __getattr__(self, key):
        return self.facts[key]

    @property
    def process(self):
        """A process outside, of the same user, that only waits."""
        return self.facts["processes"][self.name]

    def own(self, leaf="own"):
        """A path that no other attempt uses, where it may be written."""
        return os.path.join(self.facts["workplace"], f"{self.name}-{leaf}")

    def own_file(self, leaf="own"):
        path = self.own(leaf)
        write(path, "from inside\n")
        return path


def attempt(function):
    ATTEMPTS[function.__name__.replace("_", "-")] = function
    return function


def write(path, text):
    """Creates or overwrites."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def overwrite(path, flags=0, dir_fd=None):
    """Writes to what must exist already."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | flags, dir_fd=dir_fd)
    try:
        os.write(fd, b"from inside\n")
    finally:
        os.close(fd)
    return f"wrote to {path}"


def read(path):
    with open(path, "rb") as file:
        return file.read()


LIBC = ctypes.CDLL(None, use_errno=True)

# x86-64, then arm64. From 424 on all architectures agree.
NUMBERS = {
    "ptrace": (101, 117), "mount": (165, 40), "umount2": (166, 39), "reboot": (169, 142), "sethostname": (170, 161),
    "init_module": (175, 105), "delete_module": (176, 106), "kexec_load": (246, 104), "acct": (163, 89),
    "swapoff": (168, 225), "syslog": (103, 116), "add_key": (248, 217), "keyctl": (250, 219), "unshare": (272, 97),
    "perf_event_open": (298, 241), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "setns": (308, 268), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "bpf": (321, 280),
    "userfaultfd": (323, 282), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138), "mq_open": (240, 180),
    "mq_timedsend": (242, 182), "mq_unlink": (241, 181), "shmget": (29, 194), "shmctl": (31, 195), "shmat": (30, 196),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgctl": (71, 187), "finit_module": (313, 273), "clone": (56, 220),
    "kcmp": (312, 272), "linkat": (265, 37), "semget": (64, 190), "semctl": (66, 191), "ioprio_set": (251, 30),
    "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425), "open_tree": (428, 428), "fsopen": (430, 430),
    "pidfd_open": (434, 434), "clone3": (435, 435), "pidfd_getfd": (438, 438), "mount_setattr": (442, 442),
}
AT = {"x86_64": 0, "aarch64": 1}[platform.machine()]


def call(name, *args):
    """One system call; its error is an `OSError`."""
    number = NUMBERS[name] if isinstance(name, str) else (name, name)
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    LIBC.syscall.restype = ctypes.c_long
    result = LIBC.syscall(ctypes.c_long(number[AT]), *given)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


# What a refusal looks like. Everything else comes from behind the gate.
CLOSED = {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EROFS}


def gate(name, *args):
    """A call that can never take effect: an escape is to be told anything but that it is not for us."""
    try:
        call(name, *args)
    except OSError as error:
        if error.errno in CLOSED:
            raise
        return f"{name} is past the gate: {errno.errorcode[error.errno]}"
    return f"{name} succeeded"
