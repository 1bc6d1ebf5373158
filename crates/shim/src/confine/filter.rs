//! Which system calls a confined command may make: all but those that reach past the sandbox or widen what of the kernel
//! can be attacked.
//!
//! Calls of other architectures than this program's (32-bit programs, x32) and calls newer than this list do not exist in
//! a sandbox: they answer ENOSYS, which programs know how to live without. `clone3` is one of them, because its flags are
//! behind a pointer. `ptrace` stays: Landlock keeps it to processes of the same sandbox, and debuggers work.

#[cfg(test)]
mod tests;

use super::bpf::{
    ALLOW, ARCHITECTURE, Code, IF_ANY_BIT, IF_EQUAL, Instruction, NUMBER, argument, branch, errno, load,
    mask, tree, upper_half, verdict, when_equal,
};
use super::{Confine, Metadata, Namespaces, Sockets};
use rustix::io::Errno;
use std::collections::BTreeMap;

#[cfg(target_arch = "x86_64")]
const THIS_ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const THIS_ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const THIS_ARCHITECTURE: Option<u32> = None;

/// The last number that was judged here, of `file_setattr`.
const LAST_KNOWN: u32 = 469;
/// `open_tree_attr`, which the C library's list does not have yet.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Refused whatever the arguments.
const REFUSED: &[libc::c_long] = &[
    // Mounts: what is hidden must stay so.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    // Files past their paths.
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Other processes, and keys that belong to the user and not to a process.
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Large or little-tested parts of the kernel; and what io_uring does, no filter sees.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
];

/// Memory and queues without a path, which go by the user alone. Refused where they are not the sandbox's own.
const UNNAMED: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_semtimedop,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// `setxattrat`, `removexattrat` and `file_setattr`, which the C library's list does not have yet.
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// Modes, owners, times and attributes of files.
const METADATA: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];
/// The same by `ioctl`: `FS_IOC_SETFLAGS`, `FS_IOC32_SETFLAGS` and `FS_IOC_FSSETXATTR`.
const ATTRIBUTES: [u32; 3] = [0x4008_6602, 0x4004_6602, 0x401C_5820];

/// What may be asked of files with `ioctl` where no mount keeps them from being changed, because a descriptor for reading
/// is enough for much else, and Landlock does not see it: making and deleting subvolumes, sealing with verity, locking
/// encrypted directories. These only tell something, or need a descriptor for writing: how large a block is, flags,
/// version, attributes, extents; sharing of extents, by three names.
const OF_FILES: [u32; 10] = [
    0x2,
    0x8008_6601,
    0x8004_6601,
    0x8008_7601,
    0x801C_581F,
    0xC020_660B,
    0x4004_9409,
    0x4020_940D,
    0xC018_9436,
    0x8004_5200,
];
/// Kinds of `ioctl` that are not about files: terminals and what every descriptor knows, sockets.
const NOT_OF_FILES: [u32; 2] = [0x5400, 0x8900];
const KIND: u32 = 0xFF00;

/// Every flag that makes a namespace, for `clone`.
const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;
/// A namespace of clocks; for `clone` this bit is part of a signal's number.
const NEW_TIME: i32 = 0x80;

/// Types a key into a terminal; pastes into a console.
const TERMINAL_INJECTIONS: [u32; 2] = [0x5412, 0x541C];

/// The whole filter.
pub(super) fn program(confine: &Confine) -> Result<Code, Errno> {
    let here = THIS_ARCHITECTURE.ok_or(Errno::NOSYS)?;
    let unknown = errno(libc::ENOSYS);
    let start = vec![load(ARCHITECTURE), branch(IF_EQUAL, here, 1, 0), verdict(unknown), load(NUMBER)];
    Ok([start, tree(&leaves(judged(confine)))].concat())
}

/// What is not simply allowed, by number.
fn judged(confine: &Confine) -> BTreeMap<u32, Code> {
    let refuse = errno(libc::EPERM);
    let unnamed = if confine.namespaces == Namespaces::None { UNNAMED } else { &[] };
    let metadata = if confine.metadata == Metadata::Refused { METADATA } else { &[] };
    let refused = REFUSED.iter().chain(unnamed).chain(metadata);
    let mut judged: BTreeMap<u32, Code> =
        refused.map(|call| (number(*call), vec![verdict(refuse)])).collect();
    let mut judge = |call, code| judged.insert(number(call), code);
    judge(libc::SYS_clone3, vec![verdict(errno(libc::ENOSYS))]);
    judge(libc::SYS_clone, refuse_any_bit(0, NAMESPACES.cast_unsigned()));
    judge(libc::SYS_unshare, refuse_any_bit(0, (NAMESPACES | NEW_TIME).cast_unsigned()));
    judge(libc::SYS_ioctl, control(confine));
    judge(libc::SYS_socket, socket(confine.sockets));
    judge(libc::SYS_socketpair, socketpair(confine.sockets));
    judge(libc::SYS_prlimit64, own_limits_only());
    // How other processes of the same user are scheduled. Threads say 0 of themselves; by number, nobody is told apart.
    for call in [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        judge(call, allow_values(0, &[0]));
    }
    if !governs_truncation(confine) {
        judge(libc::SYS_truncate, vec![verdict(refuse)]);
        judge(libc::SYS_openat, empty_only_what_is_written(2));
        #[cfg(target_arch = "x86_64")]
        judge(libc::SYS_open, empty_only_what_is_written(1));
        // Its flags are behind a pointer; who uses it knows how to do without.
        judge(libc::SYS_openat2, vec![verdict(errno(libc::ENOSYS))]);
    }
    judge(libc::SYS_setpriority, only_oneself(libc::PRIO_PROCESS));
    judge(libc::SYS_ioprio_set, only_oneself(IOPRIO_WHO_PROCESS));
    judged.insert(LAST_KNOWN + 1, vec![verdict(errno(libc::ENOSYS))]);
    judged
}

/// Whether something else keeps files from being emptied that may only be read: mounts do, and Landlock from version 3 on
/// (`landlock(7)`, `LANDLOCK_ACCESS_FS_TRUNCATE`).
fn governs_truncation(confine: &Confine) -> bool {
    confine.namespaces != Namespaces::None || confine.landlock >= 3
}

/// A file can be emptied by opening it for reading. Landlock before version 3 sees only that it is to be read.
fn empty_only_what_is_written(flags: u32) -> Code {
    let [write, both] = [libc::O_WRONLY, libc::O_RDWR].map(i32::cast_unsigned);
    vec![
        load(argument(flags)),
        branch(IF_ANY_BIT, libc::O_TRUNC.cast_unsigned(), 1, 0),
        verdict(ALLOW),
        mask(libc::O_ACCMODE.cast_unsigned()),
        when_equal(write),
        verdict(ALLOW),
        when_equal(both),
        verdict(ALLOW),
        verdict(errno(libc::EACCES)),
    ]
}

/// The ranges between what is judged are allowed.
fn leaves(judged: BTreeMap<u32, Code>) -> Vec<(u32, Code)> {
    let mut leaves: Vec<(u32, Code)> = Vec::new();
    let mut next = 0;
    for (number, code) in judged {
        if number > next || leaves.is_empty() {
            leaves.push((next, vec![verdict(ALLOW)]));
        }
        next = number + 1;
        if leaves.last().is_none_or(|(_, last)| *last != code) {
            leaves.push((number, code));
        }
    }
    leaves
}

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

fn refuse_any_bit(at: u32, bits: u32) -> Code {
    vec![load(argument(at)), branch(IF_ANY_BIT, bits, 0, 1), verdict(errno(libc::EPERM)), verdict(ALLOW)]
}

fn refuse_values(at: u32, values: &[u32]) -> Code {
    let each = values.iter().flat_map(|value| [when_equal(*value), verdict(errno(libc::EPERM))]);
    std::iter::once(load(argument(at))).chain(each).chain([verdict(ALLOW)]).collect()
}

fn allow_values(at: u32, values: &[u32]) -> Code {
    let each = values.iter().flat_map(|value| [when_equal(*value), verdict(ALLOW)]);
    std::iter::once(load(argument(at))).chain(each).chain([verdict(errno(libc::EPERM))]).collect()
}

/// From `linux/ioprio.h`.
const IOPRIO_WHO_PROCESS: u32 = 1;

/// Of that kind, and the one who asks.
fn only_oneself(kind: u32) -> Code {
    let mut code = vec![load(argument(0)), branch(IF_EQUAL, kind, 1, 0), verdict(errno(libc::EPERM))];
    code.extend(allow_values(1, &[0]));
    code
}

/// Whatever types for somebody is refused; without mounts, whatever could change files.
fn control(confine: &Confine) -> Code {
    let mut code = refuse_values(1, &TERMINAL_INJECTIONS);
    if confine.namespaces != Namespaces::None {
        return code;
    }
    code.pop();
    let attributes = ATTRIBUTES.into_iter().flat_map(|value| match confine.metadata {
        Metadata::Usual => [when_equal(value), verdict(ALLOW)],
        Metadata::Refused => [when_equal(value), verdict(errno(libc::EPERM))],
    });
    code.extend(attributes);
    code.extend(OF_FILES.into_iter().flat_map(|value| [when_equal(value), verdict(ALLOW)]));
    code.push(mask(KIND));
    code.extend(NOT_OF_FILES.into_iter().flat_map(|kind| [when_equal(kind), verdict(ALLOW)]));
    // What programs take for "this file cannot do that".
    code.push(verdict(errno(libc::ENOTTY)));
    code
}

/// By family; of the internet's, whatever needs no packets made by hand. The kernel's answers about the network come
/// through netlink, by which nothing can be changed without a capability.
fn socket(sockets: Sockets) -> Code {
    let (unix, network) = match sockets {
        Sockets::None => (false, false),
        Sockets::Unix => (true, false),
        Sockets::Network => (false, true),
        Sockets::UnixAndNetwork => (true, true),
    };
    let family = |family: i32| when_equal(family.cast_unsigned());
    let mut code = vec![load(argument(0))];
    if unix {
        code.extend([family(libc::AF_UNIX), verdict(ALLOW)]);
    }
    if network {
        code.extend([family(libc::AF_NETLINK), verdict(ALLOW)]);
        let raw = libc::SOCK_RAW.cast_unsigned();
        let unless_raw =
            [load(argument(1)), mask(0xf), when_equal(raw), verdict(errno(libc::EPERM)), verdict(ALLOW)];
        // To the check, either way; past it, if it is neither.
        code.push(branch(IF_EQUAL, libc::AF_INET.cast_unsigned(), 1, 0));
        code.push(branch(IF_EQUAL, libc::AF_INET6.cast_unsigned(), 0, 5));
        code.extend(unless_raw);
    }
    code.push(verdict(errno(libc::EPERM)));
    code
}

/// Connected to each other. One for datagrams can still send to any name, so it is a socket like those that are refused.
fn socketpair(sockets: Sockets) -> Code {
    let unix = libc::AF_UNIX.cast_unsigned();
    match sockets {
        Sockets::Unix | Sockets::UnixAndNetwork => allow_values(0, &[unix]),
        Sockets::None | Sockets::Network => {
            let kinds = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(i32::cast_unsigned);
            let mut code = vec![load(argument(0)), branch(IF_EQUAL, unix, 1, 0), verdict(errno(libc::EPERM))];
            code.extend([load(argument(1)), mask(0xf)]);
            code.extend(kinds.into_iter().flat_map(|kind| [when_equal(kind), verdict(ALLOW)]));
            code.push(verdict(errno(libc::EPERM)));
            code
        }
    }
}

/// Limits of other processes of the same user can be set by anybody, to nothing: that ends them. Reading them is harmless.
fn own_limits_only() -> Code {
    vec![
        load(argument(0)),
        when_equal(0),
        verdict(ALLOW),
        load(argument(2)),
        branch(IF_EQUAL, 0, 0, 3),
        load(upper_half(2)),
        when_equal(0),
        verdict(ALLOW),
        verdict(errno(libc::EPERM)),
    ]
}

/// The last step: from here on the filter judges this process and everything it starts.
pub(super) fn load_into_kernel(program: &[Instruction]) -> Result<(), Errno> {
    /// As in `linux/filter.h`.
    #[repr(C)]
    struct Program {
        len: u16,
        filter: *const Instruction,
    }
    let len = u16::try_from(program.len()).map_err(|_| Errno::TOOBIG)?;
    let program = Program { len, filter: program.as_ptr() };
    let set = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: the kernel reads as many instructions as there are, and checks each of them.
    match unsafe { libc::syscall(libc::SYS_seccomp, set, 0, &raw const program) } {
        0 => Ok(()),
        _ => Err(super::last_errno()),
    }
}
