//! Where a sandbox failed: small enough for the pipe out of a child that may not allocate, and told in words by whoever
//! has the [`Confine`] at hand.

use super::{Confine, Mount};
use std::ffi::CStr;

/// A step, and which mount or rule it was about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The step.
    pub step: Step,
    /// Counted from zero; meaningless for steps that are about the whole.
    pub index: u16,
}

/// The steps into a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Leaving the namespaces of everybody else.
    Namespace = 1,
    /// Being the same user in the new user namespace.
    User = 2,
    /// Cutting the mounts off from everybody else's.
    Propagation = 3,
    /// Switching the loopback on.
    Loopback = 4,
    /// One of the mounts.
    Mount = 5,
    /// Entering the working directory among the new mounts.
    Directory = 6,
    /// Giving up capabilities.
    Privileges = 7,
    /// Making the Landlock ruleset, and entering it.
    Ruleset = 8,
    /// One of the rules.
    Rule = 9,
    /// Loading the filter on system calls.
    Filter = 10,
    /// Making a directory that is to be protected.
    Placeholder = 11,
    /// Entering a sandbox that stands.
    Join = 12,
    /// Making sure that no rule reaches beyond the root directory.
    Reach = 13,
}

/// How long a fault is in bytes.
pub(crate) const LEN: usize = 3;

impl Fault {
    pub(crate) fn new(step: Step) -> Self {
        Self { step, index: 0 }
    }

    pub(crate) fn nth(step: Step, index: usize) -> Self {
        Self { step, index: u16::try_from(index).unwrap_or(u16::MAX) }
    }

    pub(crate) fn to_bytes(self) -> [u8; LEN] {
        let [low, high] = self.index.to_le_bytes();
        [self.step as u8, low, high]
    }

    pub(crate) fn from_bytes([step, low, high]: [u8; LEN]) -> Option<Self> {
        let step = Step::ALL.into_iter().find(|known| *known as u8 == step)?;
        Some(Self { step, index: u16::from_le_bytes([low, high]) })
    }
}

impl Step {
    const ALL: [Self; 13] = [
        Self::Namespace,
        Self::User,
        Self::Propagation,
        Self::Loopback,
        Self::Mount,
        Self::Directory,
        Self::Privileges,
        Self::Ruleset,
        Self::Rule,
        Self::Filter,
        Self::Placeholder,
        Self::Join,
        Self::Reach,
    ];

    /// What was being done.
    #[must_use]
    pub fn doing(self) -> &'static str {
        match self {
            Self::Namespace => "making namespaces of its own",
            Self::User => "keeping its user in a user namespace",
            Self::Propagation => "separating its mounts",
            Self::Loopback => "switching its loopback on",
            Self::Mount => "mounting",
            Self::Directory => "entering the working directory among its mounts",
            Self::Privileges => "giving up privileges",
            Self::Ruleset => "making the Landlock ruleset",
            Self::Rule => "opening a path for its Landlock rule",
            Self::Filter => "loading the filter on system calls",
            Self::Placeholder => "making a directory that is to be protected",
            Self::Join => "entering the sandbox of the command before",
            Self::Reach => {
                "making sure that Landlock's rules end at the root directory, which in this chroot they do not"
            }
        }
    }
}

impl Confine {
    /// What was being done when a fault happened, with the path it was about.
    #[must_use]
    pub fn describe(&self, fault: Fault) -> String {
        let index = usize::from(fault.index);
        let doing = match fault.step {
            Step::Mount | Step::Placeholder => self.mounts.get(index).map(Mount::describe),
            Step::Rule => {
                self.rules.get(index).map(|rule| format!("the Landlock rule for {}", text(&rule.path)))
            }
            _ => None,
        };
        let doing = doing.unwrap_or_else(|| fault.step.doing().to_owned());
        format!("{}: {doing}", self.name)
    }
}

impl Mount {
    fn describe(&self) -> String {
        match self {
            Self::Hide { path, .. } => format!("hiding {}", text(path)),
            Self::ReadOnly { path, .. } => format!("keeping {} read-only", text(path)),
            Self::Placeholder { path } => format!("making {} and keeping it read-only", text(path)),
            Self::Fixed { path, .. } => format!("keeping {} at its place", text(path)),
            Self::Link { path, .. } => format!("keeping the link {} at its place", text(path)),
            Self::Over { from, onto, .. } => format!("mounting {} over {}", text(from), text(onto)),
            Self::Again { path, .. } => format!("mounting {} back at its place", text(path)),
            Self::Fresh { path, .. } => format!("mounting an empty directory over {}", text(path)),
            Self::Everything => "making everything read-only".to_owned(),
            Self::Writable { path, .. } => format!("making {} writable", text(path)),
            Self::View { path, .. } => format!("making a view of {}", text(path)),
            Self::Layer { path, .. } => format!("making a layer over {}", text(path)),
            Self::Terminals => "mounting terminals of its own".to_owned(),
        }
    }
}

fn text(path: &CStr) -> std::borrow::Cow<'_, str> {
    path.to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_comes_back_as_it_was() {
        for step in Step::ALL {
            let fault = Fault::nth(step, 517);
            assert_eq!(Fault::from_bytes(fault.to_bytes()), Some(fault));
        }
        assert_eq!(Fault::from_bytes([0, 0, 0]), None);
        assert_eq!(Fault::from_bytes([Step::ALL.len() as u8 + 1, 0, 0]), None);
    }
}
