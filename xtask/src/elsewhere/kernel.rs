//! `cargo xtask kernel`: tests on a kernel of Debian's, in an emulated machine.
//!
//! The guest sees this machine's files below a layer of its own, and has neither a network nor anything else to leave a
//! trace with. It says on its console how the tests ended, and turns itself off; emulation in software needs no right
//! that a virtual machine would not have.

use super::initramfs::{self, quoted};
use super::linux::Linux;
use super::suite::{self, PATH, Suite};
use super::{PLACE, Scratch, skip, split};
use crate::debian::{self, Wanted};
use crate::program::{lines, program, run as step, start};
use crate::{Failure, root};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian 12's.
const VERSION: &str = "6.1";

/// All tests of the sandbox take half as long; in seconds.
const LIMIT: &str = "1200";

/// How the guest's last line begins; the exit status of the tests follows.
const ENDED: &str = "guest: the tests ended with ";

const WANTED: [Wanted; 2] = [
    Wanted { program: "qemu-system-x86_64", asked: "--version", package: "qemu-system-x86" },
    Wanted { program: "mke2fs", asked: "-V", package: "e2fsprogs" },
];

/// What a kernel can be kept from having.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Without {
    Landlock,
    /// Of users, as many containers and hardened machines are set.
    Namespaces,
}

impl Without {
    fn parse(name: &str) -> Result<Self, Failure> {
        match name {
            "landlock" => Ok(Self::Landlock),
            "namespaces" => Ok(Self::Namespaces),
            _ => Err(Failure::new(format!("--without takes `landlock` or `namespaces`, not `{name}`"))),
        }
    }

    /// What the kernel is told.
    fn parameter(self) -> &'static str {
        match self {
            // What Debian has, less one.
            Self::Landlock => "lsm=lockdown,capability,yama,apparmor,tomoyo,bpf",
            Self::Namespaces => "sysctl.user.max_user_namespaces=0",
        }
    }
}

/// The tests that are run if none is named, in less than a minute: that attempts to get out are made and held, and that a
/// shell does its work.
const USUAL: [&str; 2] = [
    "-E",
    "test(/^sandbox::escape::in_the_open_attempts_succeed_as_an_ordinary_user$/) \
     | test(/^sandbox::escape::no_attempt_succeeds_in_workspace$/) \
     | test(/^sandbox::week::on_this_machine::/)",
];

/// The same where attempts that need namespaces cannot be made.
const USUAL_WITHOUT_NAMESPACES: [&str; 2] = [
    "-E",
    "test(/^sandbox::escape::in_the_open_attempts_succeed_without/) \
     | test(/^sandbox::escape::without_namespaces_no_attempt_succeeds_in_workspace$/) \
     | test(/^sandbox::week::without_namespaces::/)",
];

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
struct Machine<'a> {
    version: &'a str,
    without: Vec<Without>,
}

impl<'a> Machine<'a> {
    fn parse(args: &[&'a str]) -> Result<Self, Failure> {
        let mut machine = Self { version: VERSION, without: Vec::new() };
        let mut rest = args;
        while let [flag, value, others @ ..] = rest {
            match *flag {
                "--kernel" => machine.version = value,
                "--without" => machine.without.push(Without::parse(value)?),
                _ => break,
            }
            rest = others;
        }
        match rest {
            [] => Ok(machine),
            [other, ..] => Err(Failure::new(format!("`kernel` does not take `{other}`; tests follow `--`"))),
        }
    }

    fn usual(&self) -> &'static [&'static str] {
        if self.without.contains(&Without::Namespaces) { &USUAL_WITHOUT_NAMESPACES } else { &USUAL }
    }
}

pub(crate) fn run(args: &[&str]) -> Result<(), Failure> {
    let (own, filter) = split(args);
    let machine = Machine::parse(own)?;
    let why = if cfg!(target_arch = "x86_64") { debian::absent() } else { Some("this is not x86-64") };
    if let Some(why) = why {
        return skip("kernel", why);
    }
    debian::install(&WANTED)?;
    let scratch = Scratch::new()?;
    let busybox = busybox()?;
    let linux = Linux::get(machine.version, &busybox)?;
    let suite = Suite::build(&scratch)?;
    let job = job(&suite, if filter.is_empty() { machine.usual() } else { filter });
    let light = Suite::light_programs(&scratch)?;
    let initramfs = initramfs::make(&scratch, &linux, &busybox, &light, &job)?;
    let disk = disk(&scratch)?;
    boot(qemu(&linux, &initramfs, &disk, &machine.without))
}

/// A busybox that needs no library. Not installed: Debian has another one that it would take the place of.
fn busybox() -> Result<PathBuf, Failure> {
    let dir = root().join(PLACE).join("busybox");
    if !dir.is_dir() {
        debian::update("busybox cannot be found without them")?;
        debian::unpack(&["busybox-static"], &dir)?;
    }
    let places = [dir.join("bin/busybox"), dir.join("usr/bin/busybox")];
    let found = places.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| Failure::new(format!("there is no busybox in {}", dir.display())))
}

/// The script that runs the tests in the guest, as its first process.
fn job(suite: &Suite, filter: &[&str]) -> String {
    let words = std::iter::once(suite.runner.display().to_string()).chain(suite.args(filter));
    let words = words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ");
    // A console is a terminal, on which a runner would draw.
    let quiet = "CARGO_TERM_COLOR=never NEXTEST_HIDE_PROGRESS_BAR=1 TERM=dumb";
    let root = quoted(&root().display().to_string());
    format!(
        "export HOME=/root PATH={PATH} {quiet}\ncd {root}\n{words} < /dev/null 2>&1\n\
         echo \"{ENDED}$?\"\nexec /run/busybox poweroff -f\n"
    )
}

/// An empty disk for all that the guest writes. It is sparse, and is never written out before it is removed.
fn disk(scratch: &Scratch) -> Result<PathBuf, Failure> {
    let disk = scratch.path().join("disk");
    let mut make = program("mke2fs");
    make.args(["-q", "-t", "ext4", "-F"]).arg(&disk).arg("8G");
    step(make, "the guest's disk cannot be made")?;
    Ok(disk)
}

/// It ends after a while, when we do, and (`panic` with `-no-reboot`) when the guest is beyond saying anything.
fn qemu(linux: &Linux, initramfs: &Path, disk: &Path, without: &[Without]) -> Command {
    let parameters = without.iter().map(|without| without.parameter());
    let parameters = ["console=ttyS0", "loglevel=3", "panic=-1"].into_iter().chain(parameters);
    let parameters = parameters.collect::<Vec<_>>().join(" ");
    let mut command = program("setpriv");
    command.args(["--pdeathsig", "TERM", "timeout", "--foreground", "--signal=KILL", LIMIT]);
    command.arg("qemu-system-x86_64");
    command.args(["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "2048"]);
    command.args(["-nodefaults", "-display", "none", "-monitor", "none", "-serial", "stdio", "-no-reboot"]);
    command.arg("-kernel").arg(linux.image()).arg("-initrd").arg(initramfs).args(["-append", &parameters]);
    command.args(["-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]);
    command.args(["-drive", &format!("file={},format=raw,if=virtio,cache=unsafe", disk.display())]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Shows what the guest says, and repeats at the end what counts.
fn boot(qemu: Command) -> Result<(), Failure> {
    let mut child = start(qemu)?;
    let (mut summary, mut ended) = (None, None);
    for line in child.stdout.take().into_iter().flat_map(lines) {
        eprintln!("{line}");
        if suite::is_summary(&line) {
            summary = Some(line);
        } else if let Some(status) = line.strip_prefix(ENDED) {
            ended = Some(status.to_owned());
        }
    }
    let status = child.wait().map_err(|error| Failure::new(format!("the machine is lost: {error}")))?;
    eprintln!("\n── on another kernel");
    summary.iter().for_each(|line| eprintln!("{line}"));
    match ended.as_deref() {
        Some("0") => Ok(()),
        Some(status) => Err(Failure::new(format!("the tests failed in the guest (exit status {status})"))),
        None => Err(Failure::new(format!(
            "the guest did not say how the tests ended, in {LIMIT} seconds at most (qemu: {status})"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_asked_for_by_version_and_by_what_it_lacks() {
        let machine = Machine::parse(&["--kernel", "6.12", "--without", "namespaces"]).unwrap();
        assert_eq!(machine, Machine { version: "6.12", without: vec![Without::Namespaces] });
        assert_eq!(Machine::parse(&[]).unwrap().version, VERSION);
        for wrong in [&["--kernel"][..], &["--without", "luck"], &["sandbox::"]] {
            assert!(Machine::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
