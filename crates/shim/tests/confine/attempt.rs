//! The program that tries, from inside, what a sandbox must refuse, and says what the kernel answered.
//!
//! It is this test program itself, started with the name of a test that nobody runs otherwise. Every attempt aims at its
//! own processes, its holder, or what the test made for it; what could change the machine aims at what does not exist, since
//! the same attempts are made without a sandbox, to see that they would get further.

use super::place::{Place, c_path};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use wharf_shim::confine::{Confine, Provision};
use wharf_shim::journal::record::Status;
use wharf_shim::plan::Plan;

/// What the kernel said to each attempt: zero, or an error number.
pub(crate) type Answers = BTreeMap<String, i32>;

/// Makes all attempts in that sandbox, on a PTY.
#[track_caller]
pub(crate) fn carry_out(place: &Place, confine: Option<Confine>) -> Answers {
    carry_out_with(place, Place::on_pty(program(place, confine)), Provision::Own)
}

/// Makes all attempts in a sandbox that another command has made.
#[track_caller]
pub(crate) fn carry_out_after_another(place: &Place, confine: Confine) -> Answers {
    let provision = place.standing(&confine);
    carry_out_with(place, program(place, Some(confine)), provision)
}

fn program(place: &Place, confine: Option<Confine>) -> Plan {
    let program = place.path("attempts");
    if !program.exists() {
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    }
    let argv = ["attempts", "--exact", "attempt::every_attempt", INSIDE, "--nocapture"];
    place.plan(&program, &argv, confine)
}

#[track_caller]
fn carry_out_with(place: &Place, plan: Plan, provision: Provision) -> Answers {
    let mut env = plan.env.clone();
    env.push(c_path(Path::new(&format!("WHARF_TEST_SOCKET={}", place.path("socket").display()))));
    let held = place.launch_with(&Plan { env, ..plan }, &place.path("root"), provision);
    let outcome = held.unwrap().end();
    assert_eq!(outcome.status, Status::Code(0), "{}", outcome.output);
    let answers: Answers = outcome
        .output
        .lines()
        .filter_map(|line| line.trim().strip_prefix("attempt ")?.split_once('='))
        .map(|(name, errno)| (name.to_owned(), errno.parse().unwrap()))
        .collect();
    assert!(answers.len() > 25, "{}", outcome.output);
    answers
}

/// The answer of a system call.
fn said(result: libc::c_long) -> i32 {
    if result < 0 { io::Error::last_os_error().raw_os_error().unwrap() } else { 0 }
}

fn of<T>(result: io::Result<T>) -> i32 {
    result.err().map_or(0, |error| error.raw_os_error().unwrap_or(-1))
}

fn call(number: libc::c_long, arguments: [libc::c_long; 5]) -> i32 {
    let [a, b, c, d, e] = arguments;
    // SAFETY: every caller gives numbers, or pointers to what lives until the call is over.
    said(unsafe { libc::syscall(number, a, b, c, d, e, 0) })
}

fn socket(family: i32, kind: i32, protocol: i32) -> i32 {
    call(libc::SYS_socket, [family.into(), kind.into(), protocol.into(), 0, 0])
}

/// Said by the tests that run this one in a sandbox; it is a name that matches no test.
pub(crate) const INSIDE: &str = "attempted-inside";

/// By itself it does nothing: what it tries is for a sandbox, or for a test that has looked at every target.
#[test]
fn every_attempt() {
    if !std::env::args().any(|argument| argument == INSIDE) {
        return;
    }
    let parent = libc::c_long::from(std::os::unix::process::parent_id().cast_signed());
    let text = |text: &'static std::ffi::CStr| text.as_ptr() as libc::c_long;
    let mut answers: Vec<(&str, i32)> = vec![
        ("mount", call(libc::SYS_mount, [text(c"x"), text(c"/nowhere"), text(c"tmpfs"), 0, 0])),
        ("umount", call(libc::SYS_umount2, [text(c"/nowhere"), 0, 0, 0, 0])),
        ("fsopen", call(libc::SYS_fsopen, [text(c"tmpfs"), 0, 0, 0, 0])),
        ("open_tree", call(libc::SYS_open_tree, [-100, text(c"/"), 1, 0, 0])),
        ("chroot", call(libc::SYS_chroot, [text(c"/"), 0, 0, 0, 0])),
        ("unshare user", call(libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0, 0])),
        ("unshare files", call(libc::SYS_unshare, [libc::CLONE_FILES.into(), 0, 0, 0, 0])),
        ("clone3", call(libc::SYS_clone3, [0, 0, 0, 0, 0])),
        ("bpf", call(libc::SYS_bpf, [0, 0, 0, 0, 0])),
        ("perf", call(libc::SYS_perf_event_open, [0, 0, 0, 0, 0])),
        ("io_uring", call(libc::SYS_io_uring_setup, [0, 0, 0, 0, 0])),
        ("userfaultfd", call(libc::SYS_userfaultfd, [0, 0, 0, 0, 0])),
        ("keyring", call(libc::SYS_keyctl, [0, -3, 0, 0, 0])),
        ("module", call(libc::SYS_delete_module, [text(c"no_such_module"), 0, 0, 0, 0])),
        ("reboot", call(libc::SYS_reboot, [0, 0, 0, 0, 0])),
        ("clock", call(libc::SYS_clock_settime, [99, 0, 0, 0, 0])),
        ("hostname", call(libc::SYS_sethostname, [0, -1, 0, 0, 0])),
        ("handle", call(libc::SYS_open_by_handle_at, [-1, 0, 0, 0, 0])),
        ("type a key", call(libc::SYS_ioctl, [0, libc::TIOCSTI as libc::c_long, text(c"x"), 0, 0])),
        (
            "type a key, high",
            call(libc::SYS_ioctl, [0, libc::TIOCSTI as libc::c_long | 1 << 32, text(c"x"), 0, 0]),
        ),
        (
            "window size",
            call(
                libc::SYS_ioctl,
                [0, libc::TIOCGWINSZ as libc::c_long, [0u16; 4].as_mut_ptr() as libc::c_long, 0, 0],
            ),
        ),
        ("signal", call(libc::SYS_kill, [parent, 0, 0, 0, 0])),
        ("ptrace", call(libc::SYS_ptrace, [libc::PTRACE_SEIZE.into(), parent, 0, 0, 0])),
        ("memory", call(libc::SYS_process_vm_readv, [parent, 0, 0, 0, 0])),
        ("limits", set_limit_of(parent)),
        (
            "limits, reading",
            call(libc::SYS_prlimit64, [parent, 7, 0, [0u64; 2].as_mut_ptr() as libc::c_long, 0]),
        ),
        ("environment", of(std::fs::read(format!("/proc/{parent}/environ")))),
        ("root of others", of(std::fs::read_link(format!("/proc/{parent}/root")))),
        ("unix", socket(libc::AF_UNIX, libc::SOCK_STREAM, 0)),
        ("unix pair", of(UnixStream::pair())),
        ("internet", socket(libc::AF_INET, libc::SOCK_STREAM, 0)),
        ("raw", socket(libc::AF_INET, libc::SOCK_RAW, 1)),
        ("packet", socket(libc::AF_PACKET, libc::SOCK_DGRAM, 0)),
        ("vsock", socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
        ("loopback", of(loopback())),
        ("debug a child", debug_a_child()),
    ];
    answers.extend(sockets());
    // After the test's own name, and the key that was typed.
    println!();
    for (name, errno) in answers {
        println!("attempt {name}={errno}");
    }
}

/// To what it is already, so that nothing changes where it is allowed.
fn set_limit_of(process: libc::c_long) -> i32 {
    let mut limit = [0u64; 2];
    let limit = limit.as_mut_ptr() as libc::c_long;
    call(libc::SYS_prlimit64, [process, 7, 0, limit, 0]);
    call(libc::SYS_prlimit64, [process, 7, limit, 0, 0])
}

/// A server and a client, by the address that every machine has.
fn loopback() -> io::Result<()> {
    let server = std::net::TcpListener::bind("127.0.0.1:0")?;
    std::net::TcpStream::connect(server.local_addr()?).map(|_| ())
}

/// To what the test listens on: by path, and by a name without one.
fn sockets() -> Vec<(&'static str, i32)> {
    #[expect(clippy::disallowed_methods, reason = "the test that started this program says so")]
    let path = std::env::var_os("WHARF_TEST_SOCKET").unwrap();
    let name = {
        use std::os::linux::net::SocketAddrExt;
        SocketAddr::from_abstract_name(path.as_bytes()).unwrap()
    };
    let by_name = UnixStream::connect_addr(&name);
    vec![("socket by path", of(UnixStream::connect(&path))), ("socket by name", of(by_name))]
}

/// What every debugger does.
fn debug_a_child() -> i32 {
    let (mut ready, told) = io::pipe().unwrap();
    // SAFETY: the child makes system calls only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: takes no pointer that it uses.
        let answer = said(unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) });
        let _ = rustix::io::write(&told, &answer.to_le_bytes());
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(0) };
    }
    let mut answer = [0; 4];
    io::Read::read_exact(&mut ready, &mut answer).unwrap();
    let _ = (
        ready.as_raw_fd(),
        rustix::process::waitpid(
            rustix::process::Pid::from_raw(child),
            rustix::process::WaitOptions::empty(),
        ),
    );
    i32::from_le_bytes(answer)
}
