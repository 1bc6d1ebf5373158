"""Reaching processes outside: those of the same user that the host made, the holder, another terminal's command."""

import ctypes
import fcntl
import os
import resource
import signal

from attempt import Claim, Held, attempt, call, overwrite, read


class Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


@attempt
def kill_another(v):
    os.kill(v.process, signal.SIGKILL)
    return "killed"


@attempt
def kill_a_group(v):
    os.killpg(v.process, signal.SIGKILL)
    return "killed"


@attempt
def kill_a_thread(v):
    call("tgkill", v.process, v.process, int(signal.SIGKILL))
    return "killed"


@attempt
def kill_by_pidfd(v):
    call("pidfd_send_signal", call("pidfd_open", v.process, 0), int(signal.SIGKILL), None, 0)
    return "killed"


@attempt
def kill_by_queued_signal(v):
    information = (ctypes.c_int * 32)(int(signal.SIGTERM), 0, -1)
    call("rt_sigqueueinfo", v.process, int(signal.SIGTERM), information)
    return "killed"


@attempt
def kill_by_file_owner(v):
    # The kernel sends SIGIO on our behalf. Setting the owner may well succeed; what arrives is what counts.
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, v.process)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")
    raise Claim("asked for SIGIO")


@attempt
def signal_the_holder(v):
    # Signal 0 takes the same decision; a real one would end the attempts, and is another test's.
    os.kill(v.parent, 0)
    return "could signal the holder"


@attempt
def signal_another_terminal(v):
    # Ignored by default, so that the terminal is there for the other attempts.
    os.kill(v.terminal["pid"], signal.SIGWINCH)
    return "signalled another terminal's command"


@attempt
def trace_another(v):
    call("ptrace", 0x4206, v.process, 0, 0)
    return "attached"


@attempt
def trace_the_holder(v):
    call("ptrace", 0x4206, v.parent, 0, 0)
    return "attached"


@attempt
def read_memory_by_call(v):
    into = ctypes.create_string_buffer(len(v.secret))
    here, there = Span(ctypes.addressof(into), len(into) - 1), Span(v.address, len(into) - 1)
    call("process_vm_readv", v.process, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return into.value.decode()


@attempt
def write_memory_by_call(v):
    given = ctypes.create_string_buffer(b"x")
    here, there = Span(ctypes.addressof(given), 1), Span(v.address, 1)
    call("process_vm_writev", v.process, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return "memory written"


@attempt
def read_memory_by_file(v):
    fd = os.open(f"/proc/{v.process}/mem", os.O_RDONLY)
    return os.pread(fd, len(v.secret), v.address).decode()


@attempt
def read_environment_of_another(v):
    if v.secret.encode() not in read(f"/proc/{v.process}/environ"):
        raise Held("no secret in it")
    return "a secret in its environment"


@attempt
def look_for_a_secret_in_every_environment(v):
    found = [pid for pid in os.listdir("/proc") if pid.isdigit() and has_secret(pid, v.secret.encode())]
    if not found:
        raise Held("none shows it")
    return f"processes {' '.join(found)}"


def has_secret(pid, secret):
    # One's own is another attempt's.
    if int(pid) in (os.getpid(), os.getppid()):
        return False
    try:
        return secret in read(f"/proc/{pid}/environ")
    except OSError:
        return False


@attempt
def see_a_secret_in_own_environment(v):
    if v.secret not in os.environ.get("CLOUD_SECRET_ACCESS_KEY", ""):
        raise Held("it did not come along")
    return "wharf's own environment"


@attempt
def compare_descriptors_with_another(v):
    call("kcmp", os.getpid(), v.process, 1, 0, 0)
    return "kcmp"


@attempt
def limit_another(v):
    resource.prlimit(v.process, resource.RLIMIT_NOFILE, (10, 10))
    return "limits of another set"


@attempt
def renice_another(v):
    os.setpriority(os.PRIO_PROCESS, v.process, 19)
    return "priority of another set"


@attempt
def renice_a_user(v):
    # The user of nobody: what answers from behind the gate is "no such process".
    try:
        os.setpriority(os.PRIO_USER, v.nobody, 19)
    except ProcessLookupError:
        return "looked for a user's processes"
    return "priority of a user set"


@attempt
def pin_another(v):
    os.sched_setaffinity(v.process, os.sched_getaffinity(v.process))
    return "processors of another set"


@attempt
def reschedule_another(v):
    os.sched_setscheduler(v.process, os.SCHED_BATCH, os.sched_param(0))
    return "scheduling of another set"


@attempt
def slow_the_disk_of_another(v):
    # The class for when nobody else wants the disk.
    call("ioprio_set", 1, v.process, 3 << 13)
    return "disk priority of another set"


@attempt
def offer_another_to_the_memory_killer(v):
    overwrite_number(f"/proc/{v.process}/oom_score_adj", 900)
    return "made another the first to go"


def overwrite_number(path, number):
    fd = os.open(path, os.O_WRONLY)
    os.write(fd, str(number).encode())


@attempt
def raise_a_hard_limit(v):
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    soft = 0
    if hard == resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, 1 << 20))
        hard = 1 << 20
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard + 1))
    except ValueError as why:
        raise Held(why) from None
    return "a hard limit raised"


@attempt
def leave_the_cgroup(v):
    error = Held("there is no group to go to")
    for place in ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"):
        try:
            return overwrite_number(place, os.getpid()) or f"joined {place}"
        except FileNotFoundError:
            continue
        except OSError as refused:
            error = refused
    raise error


@attempt
def make_a_cgroup(v):
    error = Held("there is no tree of groups")
    for place in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        try:
            os.mkdir(f"{place}/{v.unique}")
            os.rmdir(f"{place}/{v.unique}")
            return f"a group in {place}"
        except OSError as refused:
            error = refused
    raise error


@attempt
def inherit_a_descriptor(v):
    found = []
    # The driver's pipe for the result is the one that belongs here.
    for fd in set(range(3, 256)) - {v.result}:
        try:
            found.append(f"{fd} -> {os.readlink(f'/proc/self/fd/{fd}')}")
        except FileNotFoundError:
            pass
    if not found:
        raise Held("nothing is open")
    return ", ".join(found)


@attempt
def gain_by_setuid_program(v):
    return gain([v.setuid], "euid=0(")


@attempt
def gain_by_file_capabilities(v):
    # CAP_KILL, which an ordinary user's programs never have.
    return gain([v.capable, "/proc/self/status"], "CapEff:\t0000000000000020")


def gain(argv, sign):
    reader, writer = os.pipe()
    child = os.posix_spawn(argv[0], argv, {}, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])
    os.close(writer)
    said = os.fdopen(reader).read()
    os.waitpid(child, 0)
    if sign not in said:
        raise Held("it ran without what it is marked with")
    return "privileges of a file"
