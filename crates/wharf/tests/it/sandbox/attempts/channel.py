"""Talking to whoever listens outside: sockets, shared memory, queues, keys, and terminals of others.

A connection counts when it is made: what could be said over it is the listener's business.
"""

import ctypes
import fcntl
import os
import pty
import socket
import termios

from attempt import Held, attempt, call, gate, overwrite

USER_KEYRING, SESSION_KEYRING = -4, -3


def connect(family, address, kind=socket.SOCK_STREAM, protocol=0):
    with socket.socket(family, kind, protocol) as s:
        s.settimeout(3)
        s.connect(address)
        return f"connected to {address}"


def ask(address):
    """Connects, and hears the host's greeting."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(3)
        s.connect(address)
        return f"{address} says {s.recv(100)!r}"


@attempt
def ask_ssh_agent(v):
    return ask(v.agent)


@attempt
def ask_docker(v):
    return ask(f"{v.runtime}/docker.sock")


@attempt
def ask_podman(v):
    return ask(f"{v.runtime}/podman/podman.sock")


@attempt
def ask_session_bus(v):
    return ask(f"{v.runtime}/bus")


@attempt
def ask_session_manager(v):
    return ask(f"{v.runtime}/systemd/private")


@attempt
def ask_by_datagram(v):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(b"from inside", f"{v.runtime}/notify")
    return "sent"


@attempt
def ask_by_own_symlink(v):
    os.symlink(v.runtime, v.own())
    return ask(f"{v.own()}/bus")


@attempt
def ask_by_root_link_of_another(v):
    return ask(f"/proc/{v.process}/root{v.runtime}/bus")


@attempt
def ask_another_terminal(v):
    return connect(socket.AF_UNIX, f"{v.state}/terminals/{v.terminal_id}/socket")


@attempt
def ask_own_holder(v):
    # Whoever can talk to the holder can lift its limits.
    return connect(socket.AF_UNIX, f"{v.state}/terminals/{v.own_terminal}/socket")


@attempt
def ask_abstract_socket(v):
    return ask("\0" + v.unique)


@attempt
def ask_abstract_socket_by_datagram(v):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(b"from inside", "\0" + v.unique + "-datagram")
    return "sent"


@attempt
def ask_any_socket_file(v):
    return ask(f"{v.outside}/plain.sock")


@attempt
def connect_by_tcp(v):
    return connect(socket.AF_INET, ("127.0.0.1", v.tcp))


@attempt
def connect_by_tcp_6(v):
    return connect(socket.AF_INET6, ("::1", v.tcp6))


@attempt
def connect_by_mapped_address(v):
    return connect(socket.AF_INET6, ("::ffff:127.0.0.1", v.tcp))


@attempt
def connect_by_multipath_tcp(v):
    return connect(socket.AF_INET, ("127.0.0.1", v.tcp), protocol=262)


@attempt
def connect_by_fast_open(v):
    # Without a time limit, which would make it return before the connection is there.
    with socket.socket(socket.AF_INET) as s:
        s.sendto(b"x", socket.MSG_FASTOPEN, ("127.0.0.1", v.tcp))
    return "sent with the first packet"


@attempt
def send_by_udp(v):
    # A loopback of one's own would take it too: the host says what arrived, by answering.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(3)
        s.connect(("127.0.0.1", v.udp))
        s.send(b"from inside")
        return f"heard {s.recv(100)!r}"


@attempt
def listen_for_the_host(v):
    with socket.socket(socket.AF_INET) as s:
        s.bind(("127.0.0.1", 0))
        s.listen(1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as word:
            word.settimeout(3)
            word.sendto(f"call {s.getsockname()[1]}".encode(), ("127.0.0.1", v.udp))
        s.settimeout(3)
        s.accept()
    return "the host called back"


@attempt
def open_ping_socket(v):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP).close()
    return "a ping socket"


@attempt
def open_raw_socket(v):
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "a raw socket"


@attempt
def open_packet_socket(v):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "a packet socket"


@attempt
def open_vsock(v):
    socket.socket(40, socket.SOCK_STREAM).close()
    return "a socket to the machine's host"


@attempt
def open_crypto_socket(v):
    socket.socket(38, socket.SOCK_SEQPACKET).close()
    return "a socket to the kernel's ciphers"


@attempt
def open_netlink_in_a_locked_place(v):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()
    return "a netlink socket"


@attempt
def write_shared_memory_file(v):
    return overwrite(f"/dev/shm/{v.unique}")


@attempt
def write_shared_memory_segment(v):
    at = call("shmat", call("shmget", v.shm_key, 0, 0o600), None, 0)
    ctypes.memmove(at, b"from inside", 11)
    return "a segment of the host"


@attempt
def send_to_message_queue(v):
    queue = call("mq_open", v.unique.encode(), os.O_WRONLY | os.O_NONBLOCK, 0, None)
    call("mq_timedsend", queue, b"x", 1, 0, None)
    return "a queue of the host"


@attempt
def send_to_old_message_queue(v):
    message = ctypes.create_string_buffer(b"\x01" + 7 * b"\0" + b"x")
    call("msgsnd", call("msgget", v.shm_key, 0o600), message, 1, 0o4000)
    return "a queue of the host"


@attempt
def set_a_semaphore(v):
    call("semctl", call("semget", v.shm_key, 1, 0o600), 0, 16, 7)
    return "a semaphore of the host"


@attempt
def find_a_key_of_the_user(v):
    call("keyctl", 10, USER_KEYRING, b"user", v.unique.encode(), 0)
    return "a key in the user's keyring"


@attempt
def add_a_key(v):
    key = call("add_key", b"user", v.unique.encode(), b"x", 1, SESSION_KEYRING)
    call("keyctl", 9, key, SESSION_KEYRING)
    return "a key of one's own"


@attempt
def write_to_another_terminal(v):
    fd = os.open(v.terminal["tty"], os.O_WRONLY | os.O_NOCTTY)
    os.write(fd, b"from inside\r\n")
    return f"wrote to {v.terminal['tty']}"


@attempt
def type_into_another_terminal(v):
    fd = os.open(v.terminal["tty"], os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(fd, termios.TIOCSTI, b"#")
    return "typed"


def on_a_terminal_of_its_own(act):
    """What `act` does with a controlling terminal made here; nobody else is on it."""
    os.setsid()
    _, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    return act(slave)


@attempt
def type_into_own_terminal(v):
    on_a_terminal_of_its_own(lambda fd: fcntl.ioctl(fd, termios.TIOCSTI, b"#"))
    return "typed"


@attempt
def type_with_high_bits(v):
    # The kernel reads 32 bits of the number. A filter that compares all 64 is passed by this one.
    def act(fd):
        return call(16 if NATIVE else 29, fd, termios.TIOCSTI | 1 << 32, ctypes.c_char_p(b"#"))

    on_a_terminal_of_its_own(act)
    return "typed"


@attempt
def paste_into_own_terminal(v):
    # Only consoles know it: ENOTTY comes from behind the gate.
    number = 16 if NATIVE else 29
    return on_a_terminal_of_its_own(lambda fd: gate(number, fd, termios.TIOCLINUX, ctypes.c_char_p(b"\x0a")))


NATIVE = os.uname().machine == "x86_64"


@attempt
def open_the_console(v):
    error = Held("there is none")
    for path in ("/dev/console", "/dev/tty0", "/dev/tty1"):
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK))
            return path
        except OSError as refused:
            error = refused
    raise error
