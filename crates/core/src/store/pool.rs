//! Shims that wait for a plan, and whose children they are.
//!
//! A terminal that is to outlive its creator is held by an orphan: there are clients that end a program with all its
//! descendants, by their parents' numbers. Where nobody reaps orphans, as process 1 of some containers does not, each
//! would leave its remains, so a program that makes one after the other tries that, once, in the background. Until it
//! knows, and where it makes only one, they are orphans: it would leave one itself.

use super::{Holder, Store};
use crate::spec::OnOwnerExit;
use std::future::pending;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wharf_shim::launch::{self, Afterwards, Descent, Idle, LaunchError, Returning, Whereabouts};

/// A shim that waits for its plan.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) idle: Idle,
    /// What was started for it, unless it has held a terminal before and so has shown what it is.
    pub(super) started: Option<Started>,
}

/// A process that was started as a shim. It may turn out to be none.
#[derive(Debug)]
pub(super) struct Started {
    end: oneshot::Sender<()>,
    gone: JoinHandle<()>,
}

impl Started {
    /// Kills it, if it is still there, and returns when nothing is left of it.
    pub(super) async fn end(self) {
        let _ = self.end.send(());
        let _ = self.gone.await;
    }
}

/// As many as an agent that works in parallel has commands under way.
const MOST_RETURNING: usize = 8;

impl Store {
    /// Whose child the holder of such a terminal is to be, as far as is known.
    pub(super) fn descent(&self, on_owner_exit: OnOwnerExit) -> Descent {
        match on_owner_exit {
            OnOwnerExit::Keep if !self.shared.unreaped.load(Ordering::Relaxed) => Descent::Orphan,
            OnOwnerExit::Keep | OnOwnerExit::Kill => Descent::Child,
        }
    }

    /// A shim that waits for its plan: one that has come back, the spare, or a new one.
    pub(super) fn idle_shim(&self, shim: &Path, descent: Descent) -> Result<Ready, LaunchError> {
        if let Some(idle) = self.back(descent) {
            return Ok(Ready { idle, started: None });
        }
        let mut spare = self.shared.spare.lock().unwrap_or_else(PoisonError::into_inner);
        match spare.take_if(|spare| will_do(spare.idle.descent(), descent)) {
            Some(spare) => Ok(spare),
            None => {
                drop(spare);
                self.start_shim(shim, descent)
            }
        }
    }

    /// A shim that has come back.
    fn back(&self, descent: Descent) -> Option<Idle> {
        let mut away = self.shared.away.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unseen = std::mem::take(&mut *away).into_iter();
        let back = unseen.by_ref().find_map(|returning| {
            if !will_do(returning.descent(), descent) {
                away.push(returning);
                return None;
            }
            match returning.look() {
                Whereabouts::Back(idle) => Some(idle),
                Whereabouts::Away(returning) => {
                    away.push(returning);
                    None
                }
                Whereabouts::Gone => None,
            }
        });
        away.extend(unseen);
        back
    }

    /// What the next shim does after its terminal. Only few come back, since each that waits for ever is one too many.
    pub(super) fn afterwards(&self) -> Afterwards {
        let away = self.shared.away.lock().unwrap_or_else(PoisonError::into_inner).len();
        if self.shared.keep_spare && away < MOST_RETURNING { Afterwards::Return } else { Afterwards::Leave }
    }

    /// Remembers one that will come back.
    pub(super) fn expect_back(&self, returning: Option<Returning>) {
        let Some(returning) = returning else { return };
        let mut away = self.shared.away.lock().unwrap_or_else(PoisonError::into_inner);
        // Others may have come first since it was asked to come back. Let go here, it leaves after this terminal.
        if away.len() < MOST_RETURNING {
            away.push(returning);
        }
    }

    /// Starts a shim and sees to it that what was started is waited for when it ends.
    pub(super) fn start_shim(&self, path: &Path, descent: Descent) -> Result<Ready, LaunchError> {
        let failed = |source| LaunchError::Shim { path: path.display().to_string(), source };
        let (command, idle) = launch::shim(path, self.shared.cgroup.as_deref(), descent).map_err(failed)?;
        let mut child = tokio::process::Command::from(command).spawn().map_err(failed)?;
        let (end, ended) = oneshot::channel();
        let gone = tokio::spawn(async move {
            // By its handle, while it is surely its own.
            let is_to_end = async {
                if ended.await.is_err() {
                    pending::<()>().await
                }
            };
            let to_end = tokio::select! {
                _ = child.wait() => false,
                () = is_to_end => true,
            };
            if to_end {
                let _ = child.kill().await;
            }
        });
        Ok(Ready { idle, started: Some(Started { end, gone }) })
    }

    /// Prepares for the next terminal, which is probably like this one. Not before this one's command runs: it would take a
    /// processor away from it. Who creates one after the other finds it ready.
    pub(super) fn get_ready(&self, on_owner_exit: OnOwnerExit) {
        let Holder::Process(shim) = &self.shared.holder else { return };
        if on_owner_exit == OnOwnerExit::Keep && self.shared.keep_spare {
            self.try_orphan(shim);
        }
        if self.wants_spare() {
            let (store, shim) = (self.clone(), shim.clone());
            tokio::task::spawn_blocking(move || store.prepare_spare(&shim, store.descent(on_owner_exit)));
        }
    }

    fn wants_spare(&self) -> bool {
        // If somebody has it, it is being taken or prepared.
        self.shared.keep_spare && self.shared.spare.try_lock().is_ok_and(|spare| spare.is_none())
    }

    /// Gets a spare ready for the next terminal.
    fn prepare_spare(&self, shim: &Path, descent: Descent) {
        let mut spare = self.shared.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.is_none() {
            // Without one, the next terminal takes a little longer: nothing to report.
            *spare = self.start_shim(shim, descent).ok();
        }
    }

    /// Finds out, once, whether orphans are reaped here.
    fn try_orphan(&self, shim: &Path) {
        if self.shared.tried_orphan.swap(true, Ordering::Relaxed) {
            return;
        }
        // What cannot be tried is believed.
        let attempt = tokio::process::Command::from(launch::tries_orphan(shim)).spawn();
        let Ok(mut attempt) = attempt else { return };
        let shared = std::sync::Arc::downgrade(&self.shared);
        tokio::spawn(async move {
            let reaps = attempt.wait().await.ok().and_then(launch::reaps);
            if let (Some(false), Some(shared)) = (reaps, shared.upgrade()) {
                shared.unreaped.store(true, Ordering::Relaxed);
            }
        });
    }
}

/// Where a child was asked for, an orphan is as good.
fn will_do(have: Descent, wanted: Descent) -> bool {
    have == wanted || wanted == Descent::Child
}
