//! Kill, release, signals, size.

use super::wait::{ATTEMPTS, Fate};
use super::{Phase, Terminal};
use crate::client::Client;
use crate::error::{ControlError, ReadError};
use crate::spec::{OnOwnerExit, Size};
use crate::store::{Remains, open_events};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::process::Signal;
use std::future::pending;
use std::io;
use std::pin::pin;
use std::time::Duration;
use wharf_shim::tree::{self, proc};
use wharf_shim::wire::frame::frame;
use wharf_shim::wire::message::{Refusal, Reply, Request, State};

/// How long a holder may be silent before it is looked whether somebody has stopped it.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1500);

impl Terminal {
    /// Ends the whole tree and answers when nothing of it is left and the end can be read. Returns how many processes
    /// that took; none if it had ended before. `grace` replaces the one the terminal was created with.
    /// On a full disk the oldest output is given up for the end, once the grace is over or nobody is left to wait for.
    pub async fn kill(&self, author: &str, grace: Option<Duration>) -> Result<u32, ControlError> {
        let grace_ms = grace.map(|g| u64::try_from(g.as_millis()).unwrap_or(u64::MAX));
        let request = Request::Kill { grace_ms, author: author.to_owned() };
        let before = self.look()?;
        if self.lacks_holder(&before) {
            self.settle().await?;
            self.look()?;
            return self.closed().ok_or(ControlError::Survivors);
        }
        if !before.held && matches!(before.phase, Phase::Ended(_) | Phase::NotStarted) {
            return Ok(0);
        }
        for _ in 0..ATTEMPTS {
            match self.ask_once(&request).await {
                Ok(Reply::Killed { processes }) => return Ok(processes),
                Ok(Reply::Refused(Refusal::System(errno))) => {
                    return Err(ControlError::Unrecorded(io::Error::from_raw_os_error(errno)));
                }
                Ok(Reply::Refused(refusal)) => return Err(refusal.into()),
                // Somebody has removed the socket alone.
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.end_by_signal().await?,
                Ok(_) | Err(_) => {}
            }
            if self.holder_closed().await? == Fate::Gone {
                self.look()?;
                // Its own exit was faster than our question, or it died and was settled: the journal has the count.
                return match before.phase {
                    Phase::Ended(_) => Ok(0),
                    // Released by somebody else meanwhile, who saw to it that nothing is left.
                    _ if !self.is_stored() => Ok(self.closed().unwrap_or(0)),
                    _ => self.closed().ok_or(ControlError::Survivors),
                };
            }
        }
        Err(ControlError::Unreachable(io::Error::other("it closes every connection")))
    }

    /// Asks a holder that cannot be reached to end its terminal, with the terminal's own grace, by the signal that means
    /// that to it, and waits for it.
    /// A holder on a thread of some program cannot be asked so.
    async fn end_by_signal(&self) -> Result<(), ControlError> {
        let Some(holder) = self.holder() else {
            let why = "its socket is gone, and the program that holds it does other things too";
            return Err(ControlError::Unreachable(io::Error::other(why)));
        };
        for signal in [Signal::TERM, Signal::CONT] {
            tree::signal(&holder, signal);
        }
        let dir = self.shared.dir.clone();
        let task = tokio::task::spawn_blocking(move || {
            let events = open_events(&dir)?;
            rustix::fs::flock(&events, FlockOperation::LockShared)
                .map_err(|errno| ReadError::from(io::Error::from(errno)))
        });
        Ok(task.await.map_err(io::Error::other)??)
    }

    /// The process that holds it, if that does nothing else.
    fn holder(&self) -> Option<proc::Process> {
        let (pid, ticks) = self.holder_identity()?;
        proc::look(pid).filter(|holder| holder.ticks == ticks)
    }

    /// A holder that somebody has stopped, its own command perhaps, is continued: it would not answer.
    pub(crate) fn wake_holder(&self) {
        if self.holder_identity().is_none() {
            // Nothing has been read yet. What cannot be read names nobody who could be woken.
            let _ = self.look();
        }
        if let Some(holder) = self.holder().filter(|holder| holder.state == 'T') {
            tree::signal(&holder, Signal::CONT);
        }
    }

    /// Reaches the holder.
    pub(super) async fn connect(&self) -> io::Result<Client> {
        Client::connect(&self.shared.socket).await
    }

    /// Waits for something of this terminal, such as an answer, its end or more output, and sees to it every second and a
    /// half that its holder has not been stopped: that is no event. A wait alone does so once, when it begins.
    pub async fn keep_awake<T>(&self, something: impl Future<Output = T>) -> T {
        let mut something = pin!(something);
        loop {
            self.wake_holder();
            if let Ok(done) = tokio::time::timeout(BETWEEN_LOOKS, &mut something).await {
                return done;
            }
        }
    }

    async fn ask_once(&self, request: &Request) -> io::Result<Reply> {
        let mut client = self.connect().await?;
        self.keep_awake(client.ask(request)).await
    }

    /// Tells the holder how far its owner has read. There is no answer. False if there is no room for it now.
    pub(super) fn taken(&self, upto: u64) -> bool {
        let leases = self.shared.store.leases();
        let Some(lease) = leases.get(&self.shared.id) else { return true };
        let message = frame(&Request::Taken(upto).encode(0));
        let sent = rustix::net::send(lease.as_ref(), &message, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
        sent != Err(Errno::AGAIN)
    }

    /// Why a holder that was asked something did not answer.
    pub(super) async fn silent(&self) -> ControlError {
        match self.holder_gone().await {
            Ok(Fate::Gone) => Refusal::Ended.into(),
            Ok(Fate::Alive) => ControlError::Unreachable(io::Error::other("it closes every connection")),
            Err(error) => error,
        }
    }

    /// Ends the tree and forgets the terminal. Quiet if that was done before.
    pub async fn release(&self) -> Result<(), ControlError> {
        self.release_with(None).await
    }

    /// As [`Terminal::release`], with another grace than the terminal's own.
    pub async fn release_with(&self, grace: Option<Duration>) -> Result<(), ControlError> {
        self.retire(grace).await?.deleted().await.map_err(ControlError::Kept)
    }

    /// Ends the tree and forgets the terminal, but for its files. They are out of sight by then, and who has no time to
    /// lose deletes them later.
    pub async fn retire(&self, grace: Option<Duration>) -> Result<Remains, ControlError> {
        if !self.is_stored() {
            return Ok(Remains::default());
        }
        let mut killing = pin!(self.kill("release", grace));
        let killed = tokio::select! {
            // In this order: the kill is sent before anything else is asked.
            biased;
            killed = &mut killing => Some(killed),
            () = self.stalled() => None,
        };
        match killed {
            Some(Err(ControlError::Read(ReadError::Damaged(_)))) => {
                // What cannot be read can still be ended, by its holder or by sweeping, and forgotten.
                let kill = Request::Kill { grace_ms: Some(0), author: "release".to_owned() };
                if let Ok(mut client) = self.connect().await {
                    let _ = client.ask(&kill).await;
                } else if self.is_held()? {
                    self.end_by_signal().await?;
                } else {
                    let _ = self.settle().await;
                }
                self.forget()
            }
            // Nothing of it is left; that its end could not be written does not matter any more.
            Some(Err(ControlError::Unrecorded(_))) => self.forget(),
            Some(Err(ControlError::Read(ReadError::Io(error))))
                if error.kind() == io::ErrorKind::StorageFull && !self.is_held()? =>
            {
                self.forget()
            }
            Some(killed) => {
                killed?;
                self.forget()
            }
            // On a full disk the end cannot be written, and the room may be what this very terminal takes. The kill has
            // been sent; once the files are gone, the holder gives up what it could not write, and answers.
            None => {
                self.forget()?.deleted().await?;
                let _ = killing.await;
                Ok(Remains::default())
            }
        }
    }

    /// Takes it out of sight.
    fn forget(&self) -> Result<Remains, ControlError> {
        self.shared.store.hide(&self.shared.id).map_err(ControlError::Kept)
    }

    /// Returns when the holder cannot write, because the disk is full most likely: then the command waits. Never, if it
    /// can or cannot be asked.
    pub async fn stalled(&self) {
        self.until(State::Running, |state| state == State::Stalled).await;
    }

    /// Returns when the holder can write again, or is done. Never, if it cannot be asked.
    pub async fn flowing(&self) {
        self.until(State::Stalled, |state| state != State::Stalled).await;
    }

    async fn until(&self, mut seen: State, is_so: impl Fn(State) -> bool) {
        let Ok(mut client) = self.connect().await else { return pending().await };
        while let Ok(Reply::Progress(progress)) = client.ask(&Request::Watch { past: u64::MAX, seen }).await {
            if is_so(progress.state) {
                return;
            }
            seen = progress.state;
        }
        pending().await
    }

    /// Sends a signal to the foreground group of a PTY, or to the command's group.
    pub async fn signal(&self, signal: i32, author: &str) -> Result<(), ControlError> {
        self.ask(&Request::Signal { signal, author: author.to_owned() }).await
    }

    /// Gives a PTY another size.
    pub async fn resize(&self, size: Size) -> Result<(), ControlError> {
        self.ask(&Request::Resize(size)).await
    }

    /// Lets the terminal outlive this process, although it was created to end with it.
    pub async fn disown(&self) -> Result<(), ControlError> {
        let sent = {
            let mut leases = self.shared.store.leases();
            let Some(lease) = leases.get(&self.shared.id) else { return Ok(()) };
            // Its holder reads this before it sees the lease closed, so nobody has to wait for its answer.
            let message = frame(&Request::Lease(OnOwnerExit::Keep).encode(1));
            let sent = rustix::net::send(lease.as_ref(), &message, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
            if sent.is_ok() {
                leases.remove(&self.shared.id);
            }
            sent
        };
        match sent {
            Ok(_) => Ok(()),
            Err(Errno::AGAIN) => Err(ControlError::Unreachable(Errno::AGAIN.into())),
            Err(_) => self.holder_gone().await.map(drop),
        }
    }

    /// Asks the holder something that it either does or refuses.
    pub(super) async fn ask(&self, request: &Request) -> Result<(), ControlError> {
        self.question(request).await.map(drop)
    }

    /// Asks the holder something; its answer, unless it refuses.
    pub(crate) async fn question(&self, request: &Request) -> Result<Reply, ControlError> {
        match self.ask_once(request).await {
            Ok(Reply::Refused(refusal)) => Err(refusal.into()),
            Ok(reply) => Ok(reply),
            Err(_) => Err(self.silent().await),
        }
    }
}
