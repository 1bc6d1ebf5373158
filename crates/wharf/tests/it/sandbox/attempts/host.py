"""The world outside: makes the victims of every attempt, listens where attempts may call, and says at its end what
became of them. It runs as the user whom the attempts run as, because the same user is the hardest to keep out.

    host.py BASE NAME...      prints one line of JSON when all is there, and one when its input has ended
"""

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import sys
import tempfile

from attempt import call
from secret import ALL

LIBC = ctypes.CDLL(None, use_errno=True)
SECRET = os.environ["CLOUD_SECRET_ACCESS_KEY"]
# In every fork at the same place.
MEMORY = ctypes.create_string_buffer(SECRET.encode())


def put(path, text, mode=0o600):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def make_files(base, names):
    for name in ALL:
        put(f"{base}/home/{name}", f"{SECRET}\n")
    for name in names:
        put(f"{base}/outside/{name}/file", "untouched\n")
        os.setxattr(f"{base}/outside/{name}/file", "user.host", b"x")
        os.mkdir(f"{base}/outside/{name}/empty")
    os.symlink(f"{base}/home", f"{base}/outside/link-to-home")
    # What git takes for a repository.
    put(f"{base}/root/.git/HEAD", "ref: refs/heads/main\n")
    put(f"{base}/root/.git/config", "[core]\nrepositoryformatversion = 0\n")
    for name in ("objects", "refs"):
        os.mkdir(f"{base}/root/.git/{name}")
    for hook in ("pre-commit", "pre-push", "pre-receive"):
        put(f"{base}/root/.git/hooks/{hook}", "#!/bin/sh\n")


def make_process():
    """One that waits. It goes when the host does, however that is."""
    child = os.fork()
    if child == 0:
        LIBC.prctl(1, signal.SIGKILL)
        os.setpgid(0, 0)
        for fd in (0, 1):
            os.close(fd)
        while True:
            signal.pause()
    os.setpgid(child, child)
    return child


class Listeners:
    """Whoever calls is greeted. UDP is answered, and calls back if it is told to."""

    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.heard = []

    def listen(self, family, address, kind=socket.SOCK_STREAM):
        s = socket.socket(family, kind)
        if family == socket.AF_INET6:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if isinstance(address, str) and not address.startswith("\0"):
            os.makedirs(os.path.dirname(address), exist_ok=True)
        s.bind(address)
        if kind == socket.SOCK_STREAM:
            s.listen(16)
        self.selector.register(s, selectors.EVENT_READ, kind)
        return s.getsockname()[1] if family in (socket.AF_INET, socket.AF_INET6) else address

    def serve_until_input_ends(self):
        self.selector.register(sys.stdin, selectors.EVENT_READ, None)
        while True:
            for key, _ in self.selector.select():
                if key.data is None:
                    return
                self.heard.append(str(key.fileobj.getsockname()))
                greet(key.fileobj, key.data)


def greet(s, kind):
    if kind == socket.SOCK_STREAM:
        caller, _ = s.accept()
        # Whoever has hung up already has been here all the same.
        try:
            caller.send(b"hello")
        except OSError:
            pass
        caller.close()
        return
    said, whence = s.recvfrom(100)
    if said.startswith(b"call "):
        try:
            socket.create_connection(("127.0.0.1", int(said[5:])), 3).close()
        except OSError:
            pass
    elif s.family == socket.AF_INET:
        s.sendto(b"hello", whence)


def listen_everywhere(base, unique, temp):
    ears = Listeners()
    for name in ("docker.sock", "podman/podman.sock", "bus", "systemd/private"):
        ears.listen(socket.AF_UNIX, f"{base}/runtime/{name}")
    ears.listen(socket.AF_UNIX, f"{base}/runtime/notify", socket.SOCK_DGRAM)
    ears.listen(socket.AF_UNIX, f"{base}/outside/plain.sock")
    ears.listen(socket.AF_UNIX, "\0" + unique)
    ears.listen(socket.AF_UNIX, "\0" + unique + "-datagram", socket.SOCK_DGRAM)
    return ears, {
        "agent": ears.listen(socket.AF_UNIX, f"{temp}/agent.1"),
        "tcp": ears.listen(socket.AF_INET, ("127.0.0.1", 0)),
        "tcp6": listen_6(ears),
        "udp": ears.listen(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM),
    }


def listen_6(ears):
    """A machine without IPv6 has nothing to reach by it."""
    try:
        return ears.listen(socket.AF_INET6, ("::1", 0))
    except OSError:
        return 1


def add_key(unique):
    """Where keys are refused, as in most containers, there is none to be found."""
    try:
        return call("add_key", b"user", unique.encode(), b"x", 1, -4)
    except PermissionError:
        return None


class Shared:
    """What the kernel keeps for all processes of a user, and who removes it again."""

    def __init__(self, unique):
        self.unique = unique
        self.key = os.getpid() | 0x5A000000
        put(f"/dev/shm/{unique}", "untouched\n")
        self.segment = call("shmget", self.key, 4096, 0o1600)
        self.semaphores = call("semget", self.key, 1, 0o1600)
        self.messages = call("msgget", self.key, 0o1600)
        call("mq_open", unique.encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        self.secret = add_key(unique)

    def remove(self):
        os.unlink(f"/dev/shm/{self.unique}")
        call("shmctl", self.segment, 0, None)
        call("semctl", self.semaphores, 0, 0, 0)
        call("msgctl", self.messages, 0, None)
        call("mq_unlink", self.unique.encode())
        if self.secret is not None:
            call("keyctl", 9, self.secret, -4)


def fate(pid):
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        return f"ended with {os.waitstatus_to_exitcode(status)}"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def main(base, names):
    unique = f"wharf-escape-{os.getpid()}"
    make_files(base, names)
    # For whoever fetches descriptors of others.
    put(f"{base}/outside/opened", "untouched\n")
    facts = {name: f"{base}/{name}" for name in ("outside", "home", "runtime", "state", "root")} | {
        "open_file": os.open(f"{base}/outside/opened", os.O_RDWR | os.O_APPEND),
        "open_key": os.open(f"{base}/home/.ssh/id_test", os.O_RDONLY),
        "host": os.getpid(), "unique": unique, "secret": SECRET, "address": ctypes.addressof(MEMORY),
        "policy": f"{base}/policy.toml", "setuid": f"{base}/setuid-id", "capable": f"{base}/capable-cat",
        # A user without processes.
        "nobody": 64999,
    }
    with tempfile.TemporaryDirectory(prefix="wharf-escape-") as temp, contextlib.ExitStack() as at_the_end:
        shared = Shared(unique)
        at_the_end.callback(shared.remove)
        ears, addresses = listen_everywhere(base, unique, temp)
        os.chdir(f"{base}/outside")
        processes = {name: make_process() for name in names}
        facts |= addresses | {"temp": temp, "processes": processes, "shm_key": shared.key}
        print(json.dumps(facts), flush=True)
        ears.serve_until_input_ends()
        ended = {name: what for name, pid in processes.items() if (what := fate(pid))}
        left = sorted(set(os.listdir(temp)) - {"agent.1"})
    print(json.dumps({"ended": ended, "temp": left, "heard": ears.heard}), flush=True)


main(sys.argv[1], sys.argv[2:])
