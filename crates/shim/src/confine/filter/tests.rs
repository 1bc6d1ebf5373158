//! The filter, run by an interpreter of its instructions: what the kernel would answer to each call.

use super::super::bpf::{AND, IF_AT_LEAST, JUMP, LOAD, RETURN};
use super::super::{OwnNet, OwnUser};
use super::*;

/// What the kernel would answer.
fn run(program: &[Instruction], arch: u32, call: u32, arguments: [u64; 6]) -> u32 {
    let mut data = [call.to_le_bytes(), arch.to_le_bytes(), [0; 4], [0; 4]].concat();
    arguments.iter().for_each(|argument| data.extend(argument.to_le_bytes()));
    let (mut at, mut value) = (0, 0);
    loop {
        let now = program[at];
        let jump = |taken: bool| usize::from(if taken { now.if_true } else { now.if_false });
        at += 1;
        match now.code {
            LOAD => {
                let from = now.value as usize;
                value = u32::from_le_bytes(data[from..from + 4].try_into().unwrap());
            }
            AND => value &= now.value,
            JUMP => at += now.value as usize,
            IF_EQUAL => at += jump(value == now.value),
            IF_AT_LEAST => at += jump(value >= now.value),
            IF_ANY_BIT => at += jump(value & now.value != 0),
            RETURN => return now.value,
            code => panic!("unknown instruction {code:#x}"),
        }
    }
}

fn with(sockets: Sockets) -> Confine {
    Confine {
        name: String::new(),
        namespaces: Namespaces::Mount { net: OwnNet::No, user: OwnUser::IfNeeded },
        landlock: 6,
        mounts: Vec::new(),
        rules: Vec::new(),
        sockets,
        metadata: Metadata::Usual,
    }
}

fn judge(sockets: Sockets, call: libc::c_long, arguments: &[u64]) -> u32 {
    let mut all = [0; 6];
    all[..arguments.len()].copy_from_slice(arguments);
    run(&program(&with(sockets)).unwrap(), THIS_ARCHITECTURE.unwrap(), number(call), all)
}

const REFUSE: u32 = 0x0005_0000 | libc::EPERM as u32;
const NO_SUCH_CONTROL: u32 = 0x0005_0000 | libc::ENOTTY as u32;
const UNKNOWN: u32 = 0x0005_0000 | libc::ENOSYS as u32;

#[test]
fn every_call_but_the_listed_ones_is_allowed() {
    let program = program(&with(Sockets::UnixAndNetwork)).unwrap();
    let special = [libc::SYS_clone3, libc::SYS_socket, libc::SYS_socketpair, libc::SYS_ioprio_set];
    for call in 0..=i64::from(LAST_KNOWN) {
        let answer = run(&program, THIS_ARCHITECTURE.unwrap(), number(call), [0; 6]);
        if REFUSED.contains(&call) {
            assert_eq!(answer, REFUSE, "{call}");
        } else if !special.contains(&call) {
            assert_eq!(answer, ALLOW, "{call}");
        }
    }
}

#[test]
fn what_is_not_known_does_not_exist() {
    let program = program(&with(Sockets::None)).unwrap();
    let here = THIS_ARCHITECTURE.unwrap();
    for call in [LAST_KNOWN + 1, 1000, 0x4000_0000, 0x4000_0001, u32::MAX] {
        assert_eq!(run(&program, here, call, [0; 6]), UNKNOWN, "{call}");
    }
    assert_eq!(run(&program, 0x4000_0003, 1, [0; 6]), UNKNOWN, "32-bit");
    assert_eq!(judge(Sockets::None, libc::SYS_clone3, &[]), UNKNOWN);
}

#[test]
fn arguments_are_judged_as_the_kernel_reads_them() {
    let fork = libc::SIGCHLD as u64;
    let high = 1 << 32;
    let cases: &[(libc::c_long, &[u64], u32)] = &[
        (libc::SYS_clone, &[fork], ALLOW),
        (libc::SYS_clone, &[libc::CLONE_NEWUSER as u64 | fork], REFUSE),
        (libc::SYS_clone, &[libc::CLONE_NEWPID as u64 | fork], REFUSE),
        (libc::SYS_clone, &[libc::CLONE_VM as u64 | libc::CLONE_THREAD as u64], ALLOW),
        (libc::SYS_unshare, &[libc::CLONE_FILES as u64], ALLOW),
        (libc::SYS_unshare, &[libc::CLONE_NEWNS as u64], REFUSE),
        (libc::SYS_unshare, &[0x80], REFUSE),
        (libc::SYS_ioctl, &[0, libc::TIOCSTI], REFUSE),
        (libc::SYS_ioctl, &[0, libc::TIOCSTI | high], REFUSE),
        (libc::SYS_ioctl, &[0, libc::TIOCLINUX], REFUSE),
        (libc::SYS_ioctl, &[0, libc::TIOCGWINSZ], ALLOW),
        (libc::SYS_prlimit64, &[0, 7, 1], ALLOW),
        (libc::SYS_prlimit64, &[9, 7, 0], ALLOW),
        (libc::SYS_prlimit64, &[9, 7, 1], REFUSE),
        (libc::SYS_prlimit64, &[9, 7, high], REFUSE),
        (libc::SYS_setpriority, &[0, 0, 5], ALLOW),
        (libc::SYS_setpriority, &[0, 9, 5], REFUSE),
        (libc::SYS_setpriority, &[2, 0, 5], REFUSE),
        (libc::SYS_sched_setaffinity, &[0, 8], ALLOW),
        (libc::SYS_sched_setaffinity, &[9, 8], REFUSE),
        (libc::SYS_ioprio_set, &[1, 0, 0], ALLOW),
        (libc::SYS_ioprio_set, &[3, 0, 0], REFUSE),
        (libc::SYS_chmod, &[0, 0], ALLOW),
        (libc::SYS_socketpair, &[libc::AF_UNIX as u64, libc::SOCK_STREAM as u64], ALLOW),
        (libc::SYS_socketpair, &[libc::AF_UNIX as u64, (libc::SOCK_SEQPACKET | 0o2000000) as u64], ALLOW),
        (libc::SYS_socketpair, &[libc::AF_UNIX as u64, libc::SOCK_DGRAM as u64], REFUSE),
        (libc::SYS_socketpair, &[libc::AF_UNIX as u64, libc::SOCK_RAW as u64], REFUSE),
        (libc::SYS_socketpair, &[libc::AF_TIPC as u64], REFUSE),
    ];
    for (call, arguments, answer) in cases {
        assert_eq!(judge(Sockets::None, *call, arguments), *answer, "{call} {arguments:x?}");
    }
}

#[test]
fn what_goes_by_the_user_alone_is_refused_where_mounts_do_not_help() {
    let here = THIS_ARCHITECTURE.unwrap();
    let bare = Confine { namespaces: Namespaces::None, ..with(Sockets::None) };
    let locked = Confine { metadata: Metadata::Refused, ..bare.clone() };
    let answer =
        |confine: &Confine, call, arguments| run(&program(confine).unwrap(), here, number(call), arguments);
    assert_eq!(answer(&bare, libc::SYS_shmget, [0; 6]), REFUSE);
    assert_eq!(answer(&with(Sockets::None), libc::SYS_shmget, [0; 6]), ALLOW);
    assert_eq!(answer(&bare, libc::SYS_fchmod, [0; 6]), ALLOW);
    assert_eq!(answer(&locked, libc::SYS_fchmod, [0; 6]), REFUSE);
    assert_eq!(answer(&locked, libc::SYS_ioctl, [0, 0x4008_6602, 0, 0, 0, 0]), REFUSE);
    assert_eq!(answer(&bare, libc::SYS_ioctl, [0, 0x4008_6602, 0, 0, 0, 0]), ALLOW);
    let (tiocgwinsz, fionread, fiemap) = (0x5413, 0x541B, 0xC020_660B);
    let (subvolume, verity, lock, freeze) = (0x5000_940E, 0x4080_6685, 0xC040_6618, 0xC004_5877);
    for confine in [&bare, &locked] {
        for call in [tiocgwinsz, fionread, fiemap, 0x8912, 0x4004_9409, 0x4004_5431] {
            assert_eq!(answer(confine, libc::SYS_ioctl, [0, call, 0, 0, 0, 0]), ALLOW, "{call:x}");
        }
        for call in [subvolume, verity, lock, freeze, 0] {
            assert_eq!(answer(confine, libc::SYS_ioctl, [0, call, 0, 0, 0, 0]), NO_SUCH_CONTROL, "{call:x}");
        }
        assert_eq!(answer(confine, libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0]), REFUSE);
    }
    assert_eq!(answer(&with(Sockets::None), libc::SYS_ioctl, [0, subvolume, 0, 0, 0, 0]), ALLOW);
}

#[test]
fn sockets_are_those_that_were_granted() {
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET];
    let table = [
        (Sockets::None, [false, false, false, false, false]),
        (Sockets::Unix, [true, false, false, false, false]),
        (Sockets::Network, [false, true, true, true, false]),
        (Sockets::UnixAndNetwork, [true, true, true, true, false]),
    ];
    for (sockets, allowed) in table {
        for (family, allowed) in families.into_iter().zip(allowed) {
            let stream = (libc::SOCK_STREAM | libc::SOCK_CLOEXEC) as u64;
            let answer = judge(sockets, libc::SYS_socket, &[family as u64, stream]);
            assert_eq!(answer == ALLOW, allowed, "{sockets:?} {family}");
        }
        for (family, kind) in [(libc::AF_INET, libc::SOCK_RAW), (libc::AF_INET6, libc::SOCK_RAW | 0x800)] {
            let answer = judge(sockets, libc::SYS_socket, &[family as u64, kind as u64]);
            assert_eq!(answer, REFUSE, "raw, {sockets:?} {family}");
        }
    }
    let raw = libc::SOCK_RAW as u64;
    let netlink = judge(Sockets::Network, libc::SYS_socket, &[libc::AF_NETLINK as u64, raw]);
    assert_eq!(netlink, ALLOW, "the C library asks for it in that way");
}

#[test]
fn files_that_may_only_be_read_are_not_emptied_where_nothing_else_keeps_them() {
    let judge = |namespaces, landlock, call, arguments: &[u64]| {
        let confine = Confine { namespaces, landlock, ..with(Sockets::None) };
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        run(&program(&confine).unwrap(), THIS_ARCHITECTURE.unwrap(), number(call), all)
    };
    const DENY: u32 = 0x0005_0000 | libc::EACCES as u32;
    let [empty, write, both, neither] =
        [libc::O_TRUNC, libc::O_WRONLY, libc::O_RDWR, libc::O_ACCMODE].map(|flag| flag as u64);
    let cases = [
        (0, ALLOW),
        (write, ALLOW),
        (empty | write, ALLOW),
        (empty | both | libc::O_CREAT as u64, ALLOW),
        (empty, DENY),
        (empty | neither, DENY),
        (empty | libc::O_CREAT as u64, DENY),
        ((1 << 32) | empty, DENY),
    ];
    for (flags, expected) in cases {
        for version in [0, 1, 2] {
            assert_eq!(
                judge(Namespaces::None, version, libc::SYS_openat, &[0, 0, flags]),
                expected,
                "{flags:o}"
            );
            #[cfg(target_arch = "x86_64")]
            assert_eq!(judge(Namespaces::None, version, libc::SYS_open, &[0, flags]), expected, "{flags:o}");
        }
        assert_eq!(judge(Namespaces::None, 3, libc::SYS_openat, &[0, 0, flags]), ALLOW);
        assert_eq!(judge(with(Sockets::None).namespaces, 1, libc::SYS_openat, &[0, 0, flags]), ALLOW);
    }
    assert_eq!(judge(Namespaces::None, 2, libc::SYS_truncate, &[]), REFUSE);
    assert_eq!(judge(Namespaces::None, 2, libc::SYS_openat2, &[]), UNKNOWN);
    assert_eq!(judge(Namespaces::None, 3, libc::SYS_truncate, &[]), ALLOW);
}
