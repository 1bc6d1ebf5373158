//! Terminals for agents, without any protocol.
//!
//! A [`Store`] is a directory of terminals. Creating one starts a command under a holder of its own, which writes every
//! byte to a journal; a [`Terminal`] reads that journal by offset, waits for the end, sends input, kills and releases.
//! Any number of programs may look at the same store at the same time, and none of them holds anything that the others
//! would miss if it were killed.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use wharf_core::{Dirs, Holder, Spec, Store, unrestricted};
//!
//! let store = Store::open(Dirs::under("/var/lib/my-agent"), Holder::found())?;
//! let grant = unrestricted(Spec::shell_line("/bin/sh", "echo hello; exit 3"))?;
//! let terminal = store.create(grant).await?;
//! let ended = terminal.wait().await?;
//! let (text, _) = terminal.text(1 << 20)?;
//! assert_eq!((text.as_str(), ended.exit_code()), ("hello\n", Some(3)));
//! terminal.release().await?;
//! # Ok(()) }
//! ```
//!
//! # What the thread holder gives up
//!
//! With [`Holder::Process`] every terminal is held by a `wharf-shim` process, which outlives your program and inherits
//! every orphan of the command. With [`Holder::Thread`], for programs that want nothing installed beside them, the same
//! code runs on a thread of yours. Then a terminal cannot outlive your program: however that ends, a command that still
//! runs is `lost`, and its processes are swept by whoever looks at the store next. Where no cgroup can be made, daemons
//! that leave the process tree *and* clear their environment can escape a kill, and are not counted for limits. A
//! program that ignores SIGCHLD, or waits for children that are not its own, loses statuses. And starting costs a fork
//! of your program, which grows with its memory.
//!
//! # Good to know
//!
//! Reading and listing look at files and return at once; listing and tidying may have to end the processes of a dead
//! holder first, which can take seconds, so call them where blocking is allowed. A handle keeps two descriptors open, a
//! terminal that is to end with its owner one more.

pub mod amount;
mod client;
mod end;
mod error;
pub mod foreground;
mod grant;
mod guarded;
mod id;
pub mod key;
pub mod policy;
pub mod shape;
pub mod shell;
mod spec;
mod store;
mod terminal;
mod text;
pub mod view;

pub use end::{Ended, Limit, Outcome};
pub use error::{ControlError, CreateError, OpenError, ReadError};
pub use grant::{Grant, SpecError, unrestricted};
pub use guarded::{GuardError, Guarded};
pub use id::TerminalId;
pub use spec::{OnOwnerExit, Size, Spec};
pub use store::{Dirs, Found, Holder, Meta, Remains, Retention, Spares, Store, Tidied};
pub use terminal::{Input, Look, Newest, Output, Phase, Reader, Step, Terminal};
pub use text::{Decoder, Tail, is_unseen, orphans, reveal, tail};
pub use wharf_shim::journal::format::Damage;
pub use wharf_shim::journal::read::Chunk;
pub use wharf_shim::journal::record::{Cause, Lost};
pub use wharf_shim::launch::LaunchError;
pub use wharf_shim::plan::{DEFAULT_GRACE, DEFAULT_KEEP};
pub use wharf_shim::signal;
pub use wharf_shim::spawn::{Stage, StartError};
pub use wharf_shim::wire::message::Refusal;
