//! A shim that holds one terminal after another: the next finds nothing of the one before, and nobody waits for ever.
//!
//! Every test here makes sure that it is the same process; otherwise it would show nothing.

mod account;
mod gone;
mod trace;

use std::fs;
use std::time::{Duration, Instant};
use wharf_core::{Dirs, Ended, Grant, Holder, Spares, Spec, Step, Store, Terminal, unrestricted};
use wharf_shim::tree::proc;
use wharf_testing::{GUARD, Place, guarded, program};

/// A store whose shims come back, in a place.
struct Reusing {
    place: Place,
    store: Store,
}

impl Reusing {
    fn new() -> Self {
        let place = Place::process();
        let holder = Holder::Process(program("wharf-shim"));
        let store = Store::open_with(Dirs::under(place.state()), holder, Spares::One).unwrap();
        Self { place, store }
    }

    async fn start(&self, spec: Spec) -> Terminal {
        self.create(unrestricted(spec).unwrap()).await
    }

    async fn create(&self, grant: Grant) -> Terminal {
        guarded(self.store.create(grant)).await.unwrap()
    }

    /// Starts it and sees it through until its holder waits again; that holder, how it ended, and what it said.
    async fn see_through(&self, grant: Grant) -> (u32, Ended, String) {
        let terminal = self.create(grant).await;
        let holder = self.place.holder_of(&terminal);
        let ended = until_over(&terminal).await;
        let (text, _) = terminal.text(1 << 20).unwrap();
        until_idle(holder, &self.place).await;
        guarded(terminal.release()).await.unwrap();
        (holder, ended, text)
    }

    /// The same for a spec, in the process that has held another before.
    async fn again(&self, holder: u32, spec: Spec) -> (Ended, String) {
        let (now, ended, text) = self.see_through(unrestricted(spec).unwrap()).await;
        assert_eq!(now, holder, "another process holds it");
        (ended, text)
    }

    /// The store goes, and with it every shim that waits.
    async fn check(self) {
        drop(self.store);
        self.place.check_to_the_last_descriptor().await;
    }
}

/// Waits until nothing is left of it.
async fn until_over(terminal: &Terminal) -> Ended {
    let ended = guarded(terminal.wait()).await.unwrap();
    let mut reader = terminal.reader(u64::MAX);
    assert_eq!(guarded(reader.next_until_closed(1)).await.unwrap(), Step::Closed);
    ended
}

/// Waits until a holder has nothing of a terminal any more and sleeps, which is waiting for a plan: there is nothing else
/// that it could sleep in. What it says when it comes back is heard by the store alone.
async fn until_idle(holder: u32, place: &Place) {
    let until = Instant::now() + GUARD;
    while !is_idle(holder, place) {
        assert!(Instant::now() < until, "{holder} does not come back: {:?}", descriptors(holder));
        pause().await;
    }
}

fn is_idle(holder: u32, place: &Place) -> bool {
    let in_place = |target: &String| target.starts_with(place.dir().to_str().unwrap());
    let sleeps = proc::look(holder.cast_signed()).is_some_and(|process| process.state == 'S');
    sleeps && !descriptors(holder).iter().any(in_place)
}

/// What descriptors of a process lead to.
fn descriptors(pid: u32) -> Vec<String> {
    let fds = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    fds.filter_map(|fd| Some(fs::read_link(fd.path()).ok()?.to_string_lossy().into_owned())).collect()
}

/// There is no event of another process for this.
async fn pause() {
    #[expect(clippy::disallowed_methods, reason = "looks again at what gives no event, within a limit")]
    tokio::time::sleep(Duration::from_millis(2)).await;
}
