//! Homes of the machine's accounts, from the password file: `HOME` can be anything, and what is to be hidden lies where
//! the account has it.
//!
//! What surprises: only the file is read. Accounts of a directory service are not in it, and asking for them could take
//! as long as a network does; for those there is `HOME`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const PASSWORDS: &str = "/etc/passwd";
const HOMES: &str = "/home";
const ROOT: &str = "/root";

/// Where accounts of the system have a home that is none, with what everybody needs in it.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys",
    "/tmp", "/usr",
];

/// The homes that one user can get at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Homes {
    /// That of the account.
    pub own: Option<PathBuf>,
    /// Those of everybody else, for root; sorted.
    pub others: Vec<PathBuf>,
}

impl Homes {
    /// Of the user that this process is.
    #[must_use]
    pub fn find() -> Self {
        let listed = fs::read_dir(HOMES).into_iter().flatten().flatten().map(|entry| entry.path());
        let listed = listed.chain([PathBuf::from(ROOT)]).collect();
        let user = rustix::process::geteuid().as_raw();
        Self::of(user, &fs::read(PASSWORDS).unwrap_or_default(), listed)
    }

    fn of(user: u32, passwords: &[u8], listed: Vec<PathBuf>) -> Self {
        let accounts: Vec<(u32, PathBuf)> = parse(passwords).filter(|(_, home)| is_home(home)).collect();
        let own = accounts.iter().find(|(id, _)| *id == user).map(|(_, home)| home.clone());
        let mut others = Vec::new();
        if user == 0 {
            others.extend(accounts.into_iter().map(|(_, home)| home).chain(listed));
            others.retain(|home| Some(home) != own.as_ref());
            others.sort();
            others.dedup();
        }
        Self { own, others }
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        self.own.iter().chain(&self.others).map(PathBuf::as_path)
    }
}

/// Users and their homes, as in `passwd(5)`: seven columns, the third and the sixth of which are these.
fn parse(passwords: &[u8]) -> impl Iterator<Item = (u32, PathBuf)> {
    passwords.split(|byte| *byte == b'\n').filter_map(|line| {
        let columns: Vec<&[u8]> = line.split(|byte| *byte == b':').collect();
        let [_, _, user, _, _, home, _] = columns[..] else { return None };
        let user = std::str::from_utf8(user).ok()?.parse().ok()?;
        Some((user, PathBuf::from(OsStr::from_bytes(home))))
    })
}

fn is_home(path: &Path) -> bool {
    let plain = path.components().all(|part| part != Component::ParentDir);
    let system = SYSTEM.iter().any(|dir| path.starts_with(dir));
    path.is_absolute() && plain && path.parent().is_some() && !system
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &[u8] = b"root:x:0:0:root:/root:/bin/bash\n\
        daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n\
        systemd-network:x:998:998::/:/usr/sbin/nologin\n\
        jenkins:x:104:111:,,,:/var/lib/jenkins:/bin/bash\n\
        # a comment\n+::::::\nshort:x:1000\n\
        alice:x:1000:1000:Alice:/users/alice:/bin/zsh\n\
        bob:x:1001:1001::/srv/../bob:/bin/sh\n\
        eve:x:-5:0::relative:/bin/sh";

    #[test]
    fn an_ordinary_user_has_the_home_of_the_account_and_no_other() {
        let of = |user| Homes::of(user, PASSWD, vec!["/users/alice".into()]);
        assert_eq!(of(1000), Homes { own: Some("/users/alice".into()), others: vec![] });
        for none in [1, 998, 1001, 4242] {
            assert_eq!(of(none), Homes::default(), "{none}");
        }
    }

    #[test]
    fn root_can_get_at_every_home() {
        let listed = ["/users/alice", "/users/zoe", "/root"].map(PathBuf::from).into();
        let homes = Homes::of(0, PASSWD, listed);
        assert_eq!(homes.own.as_deref(), Some(Path::new("/root")));
        assert_eq!(homes.others, ["/users/alice", "/users/zoe", "/var/lib/jenkins"].map(PathBuf::from));
    }
}
