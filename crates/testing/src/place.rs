//! A place for a test's terminals: a store in a directory that vanishes, and an account of what was there before.
//!
//! One at a time in a process, since the account covers the whole process. End a test with [`Place::check`]; a test
//! that fails before it leaves nothing either.

use crate::leak::{self, Account, Handles};
use crate::program;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;
use wharf_core::{Dirs, Holder, Spec, Store, Terminal, unrestricted};
use wharf_shim::journal::EVENTS;
use wharf_shim::journal::read::Events;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A store for one test.
pub struct Place {
    /// The store.
    pub store: Store,
    holder: Holder,
    account: Account,
    dir: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Place {
    /// Terminals held by processes of their own.
    #[must_use]
    pub fn process() -> Self {
        Self::with(Holder::Process(program("wharf-shim")))
    }

    /// Terminals held by threads of the test.
    #[must_use]
    pub fn thread() -> Self {
        Self::with(Holder::Thread)
    }

    /// Both ways to hold terminals, for tests that go through them one after the other.
    #[must_use]
    pub fn holders() -> [Holder; 2] {
        [Holder::Process(program("wharf-shim")), Holder::Thread]
    }

    /// A place with that holder.
    #[must_use]
    pub fn with(holder: Holder) -> Self {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = TempDir::with_prefix("wharf-test-").unwrap();
        let store = Store::open(Dirs::under(dir.path().join("s")), holder.clone()).unwrap();
        let account = Account::open(dir.path());
        Self { store, holder, account, dir, _turn: turn }
    }

    /// The directory under which everything is.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Where the store is.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.dir.path().join("s")
    }

    /// The files of one terminal.
    #[must_use]
    pub fn files(&self, terminal: &Terminal) -> PathBuf {
        self.state().join("terminals").join(terminal.id().as_str())
    }

    /// The socket of one terminal.
    #[must_use]
    pub fn socket(&self, terminal: &Terminal) -> PathBuf {
        self.files(terminal).join("socket")
    }

    /// The same store as another program would see it.
    #[must_use]
    pub fn reopened(&self) -> Store {
        Store::open(Dirs::under(self.state()), self.holder.clone()).unwrap()
    }

    /// A spec for a behaviour of `wharf-misbehave`.
    #[must_use]
    pub fn misbehaving(&self, args: &[&str]) -> Spec {
        self.marked(Spec::argv(program("wharf-misbehave"), args.iter().copied()))
    }

    /// A spec for a line of shell.
    #[must_use]
    pub fn line(&self, line: &str) -> Spec {
        self.marked(Spec::shell_line("/bin/sh", line))
    }

    /// Marks what is started here, so that the account finds it wherever it goes.
    #[must_use]
    pub fn marked(&self, spec: Spec) -> Spec {
        spec.env("PATH", "/usr/local/bin:/usr/bin:/bin").env(leak::MARK, self.dir.path())
    }

    /// Starts it.
    pub async fn start(&self, spec: Spec) -> Terminal {
        let grant = unrestricted(spec).unwrap();
        crate::guarded(self.store.create(grant)).await.unwrap()
    }

    /// The code of the error that starting it gives.
    pub async fn refused(&self, spec: Spec) -> String {
        let grant = match unrestricted(spec) {
            Ok(grant) => grant,
            Err(error) => return error.code().to_owned(),
        };
        match crate::guarded(self.store.create(grant)).await {
            Ok(terminal) => panic!("{:?} was started", terminal.meta()),
            Err(error) => error.code().to_owned(),
        }
    }

    /// The process that holds a terminal, from its start record.
    #[must_use]
    pub fn holder_of(&self, terminal: &Terminal) -> u32 {
        self.events(terminal).start().unwrap().1.holder
    }

    /// SIGKILL to the process that holds a terminal.
    pub fn kill_holder(&self, terminal: &Terminal) {
        let holder = rustix::process::Pid::from_raw(self.holder_of(terminal).cast_signed()).unwrap();
        rustix::process::kill_process(holder, rustix::process::Signal::KILL).unwrap();
    }

    /// What a terminal's journal says.
    #[must_use]
    pub fn events(&self, terminal: &Terminal) -> Events {
        Events::read(&fs::File::open(self.files(terminal).join(EVENTS)).unwrap()).unwrap()
    }

    /// Releases every terminal and makes sure that nothing is left.
    ///
    /// # Panics
    /// If something is, with a list of it.
    pub async fn check(self) {
        self.check_with(Handles::Held).await;
    }

    /// As [`Place::check`], for a test that has dropped all its handles: then no descriptor may be left either.
    ///
    /// # Panics
    /// As above.
    pub async fn check_to_the_last_descriptor(self) {
        self.check_with(Handles::Dropped).await;
    }

    async fn check_with(self, handles: Handles) {
        for found in self.store.list().unwrap() {
            let terminal = found.terminal.unwrap();
            crate::guarded(terminal.release_with(Some(std::time::Duration::ZERO))).await.unwrap();
        }
        // A host answers a release before the files are deleted, and nobody says when they are.
        let on_its_way = |path: &PathBuf| path.to_string_lossy().contains("/.gone-");
        crate::guarded(async {
            while leak::files(&self.state()).iter().any(on_its_way) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        let files = leak::files(&self.state());
        assert!(files.is_empty(), "files left after release: {files:#?}");
        self.account.settle(handles).await;
    }
}

impl Drop for Place {
    /// After a failed test: ends by force what would otherwise stay on the machine.
    fn drop(&mut self) {
        leak::end_all(self.dir.path());
    }
}
