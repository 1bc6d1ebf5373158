//! Why a holder did not start what it was to hold.

use crate::plan;
use crate::spawn::StartError;
use std::io;
use std::path::Path;

/// Why there is no running command.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The shim program could not be started.
    #[error("cannot start the shim {path}: {source}")]
    Shim {
        /// Where it was looked for.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The shim that waited for a plan is not there any more; it has seen nothing of this one.
    #[error("the waiting shim is gone: {0}")]
    Gone(io::Error),
    /// The shim was started and did not answer.
    #[error("the shim did not answer: {0}")]
    Silent(io::Error),
    /// The shim is not of this program's version.
    #[error(
        "the shim {path} is of another version: it knows plans of version {theirs}, and this program sends version {ours}; \
         install wharf and wharf-shim of the same version, and start this program again if it was running meanwhile"
    )]
    Version {
        /// Where it is.
        path: String,
        /// What it knows.
        theirs: u8,
        /// What it was sent.
        ours: u8,
    },
    /// The shim ended without a word. Those of early versions do if they are sent what they do not know.
    #[error(
        "the shim {path} ended without an answer; it may be broken, or of an earlier version than this program, which sends \
         plans of version {ours}: install wharf and wharf-shim of the same version"
    )]
    Mute {
        /// Where it is.
        path: String,
        /// What it was sent.
        ours: u8,
    },
    /// The command could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Its sandbox could not be set up, so it was not started.
    #[error("the sandbox could not be set up: {doing}: {source}")]
    Sandbox {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
}

impl LaunchError {
    /// What it means when the shim at that path was started for this plan and for nothing before.
    #[must_use]
    pub fn of_new(self, path: &Path) -> Self {
        let (path, ours) = (path.display().to_string(), plan::VERSION);
        match self {
            Self::Gone(_) => Self::Mute { path, ours },
            // Reset if it has not even read the plan.
            Self::Silent(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
                ) =>
            {
                Self::Mute { path, ours }
            }
            Self::Version { theirs, ours, .. } => Self::Version { path, theirs, ours },
            other => other,
        }
    }
}
