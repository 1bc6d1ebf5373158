//! Waiting for a shell: for events of its follower, and, since the kernel has none for it, by looking now and then whether
//! somebody waits for input.

use super::follow::Core;
use super::hold::Hold;
use super::mend::{self, Doubt, Mended};
use super::render::End;
use super::{Because, Part, Place, Shell, State, Until};
use crate::foreground::{Awaiting, Kind, Pace};
use crate::view::Picture;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// How long nothing can be written before it is worth a word: a disk that is nearly full comes and goes.
const STALLED: Duration = Duration::from_millis(500);

impl Shell {
    /// Waits. Lines, silence and stillness count from the call on.
    pub async fn wait(&self, until: Until, deadline: Instant) -> Because {
        let core = &self.follower.core;
        let mut goal = Goal::new(core, until);
        let mut changes = core.changes();
        let mut pace = Pace::default();
        let mut look_at = Instant::now() + pace.pause();
        let mut stalled: Option<Instant> = None;
        let mut secret = None;
        loop {
            changes.borrow_and_update();
            if let Some(because) = goal.reached(core) {
                return because;
            }
            if Hold::is_taken(&core.terminal).unwrap_or(false) {
                return Because::Held;
            }
            let now = Instant::now();
            if now >= deadline {
                return secret.map_or(Because::Deadline, Because::Awaiting);
            }
            if now >= look_at {
                let looked = self.look(&mut pace).await;
                stalled = stalled.filter(|_| matches!(looked, Looked::Stalled));
                match looked {
                    Looked::Awaiting(awaiting)
                        if goal.waits_for_secrets() && awaiting.kind == Kind::Secret =>
                    {
                        secret = Some(awaiting);
                    }
                    Looked::Awaiting(awaiting) => return Because::Awaiting(awaiting),
                    Looked::AtPrompt(awaiting) => match mend::mend(self, Doubt::Running).await {
                        // It is over, whether or not it is known how.
                        Mended::Tells => pace.moved(),
                        Mended::Never(_) if core.state() == State::Idle => pace.moved(),
                        _ => return Because::Awaiting(awaiting),
                    },
                    Looked::Stalled if stalled.get_or_insert(now).elapsed() >= STALLED => {
                        return Because::Stalled;
                    }
                    Looked::Stalled | Looked::Nothing => {}
                }
                look_at = Instant::now() + pace.pause();
                if changes.has_changed().unwrap_or(false) {
                    pace.moved();
                    continue;
                }
            }
            let next = goal.due().map_or(look_at, |due| due.min(look_at)).min(deadline);
            if timeout_at(next.into(), changes.changed()).await.is_ok() {
                pace.moved();
                secret = None;
                look_at = Instant::now() + pace.pause();
            }
        }
    }

    /// Whether somebody waits for input, if this look and the one before agree on it and nothing was printed meanwhile.
    async fn look(&self, pace: &mut Pace) -> Looked {
        let core = &self.follower.core;
        let before = core.view().seen;
        let foreground = core.terminal.foreground().await;
        let Ok(journal) = core.terminal.look() else { return Looked::Nothing };
        if journal.stalled.is_some() {
            return Looked::Stalled;
        }
        let Ok(foreground) = foreground else { return Looked::Nothing };
        let picture = {
            let view = core.view();
            // Behind a flood, the kernel's answer is of another time than the screen.
            if view.seen != before || view.seen != journal.end {
                pace.moved();
                return Looked::Nothing;
            }
            let mut picture = view.display.picture();
            if let Some((_, render)) = view.render.as_ref().filter(|_| !picture.alternate) {
                forget_above(&mut picture, render.lines());
            }
            picture
        };
        let at_prompt = mend::is_at_prompt(core, &foreground);
        match pace.look(foreground, &picture) {
            Some(awaiting) if at_prompt => Looked::AtPrompt(awaiting),
            Some(awaiting) => Looked::Awaiting(awaiting),
            None => Looked::Nothing,
        }
    }
}

/// Leaves the rows down to the cursor that so many lines take at least. What stands above them may be the shell's, and the
/// line with the command is.
fn forget_above(picture: &mut Picture, lines: u64) {
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    let above = (usize::from(picture.cursor.0) + 1).saturating_sub(lines);
    picture.rows.iter_mut().take(above).for_each(String::clear);
}

/// What a look has found.
enum Looked {
    Nothing,
    /// Output cannot be written.
    Stalled,
    /// The shell itself reads keys, although a command of it is thought to run.
    AtPrompt(Awaiting),
    Awaiting(Awaiting),
}

/// What is waited for, and how far that is.
struct Goal {
    until: Until,
    began: Instant,
    /// The command whose lines are looked at, the first of them that may be new, and what was there at the call.
    lines: (u64, u64, Vec<String>),
    picture: Option<(Picture, Instant)>,
}

impl Goal {
    fn new(core: &Core, until: Until) -> Self {
        let view = core.view();
        let lines = match (&until, &view.render) {
            (Until::LineFrom(id, from, _), _) => (*id, *from, Vec::new()),
            (Until::Line(_), Some((id, render))) => (*id, render.first_open(), render.open_lines()),
            _ => (0, 1, Vec::new()),
        };
        Self { until, began: Instant::now(), lines, picture: None }
    }

    fn waits_for_secrets(&self) -> bool {
        matches!(self.until, Until::Answered)
    }

    fn reached(&mut self, core: &Core) -> Option<Because> {
        let view = core.view();
        if let Until::Line(wanted) | Until::LineFrom(_, _, wanted) = &self.until
            && let Some((id, render)) = &view.render
        {
            if *id != self.lines.0 {
                self.lines = (*id, 1, Vec::new());
            }
            let (_, from, known) = &mut self.lines;
            let (first, mut next) = (*from, *from);
            let mut found = None;
            let since = Place { line: first, bytes: 0 };
            let _ = render.each(since, End::Open, &mut |part| {
                let Part::Lines(line, times) = part else { return ControlFlow::Continue(()) };
                // Finished lines are looked at once.
                if line.is_finished {
                    next = line.number + times;
                }
                let at = usize::try_from(line.number - first).unwrap_or(usize::MAX);
                let same = known.iter().skip(at).take_while(|known| *known == line.text).count() as u64;
                if same >= times || !wanted(line.text) {
                    return ControlFlow::Continue(());
                }
                found = Some(Because::Line(line.number + same, line.text.to_owned()));
                ControlFlow::Break(())
            });
            if found.is_some() {
                return found;
            }
            let done = usize::try_from(next - first).unwrap_or(usize::MAX);
            known.drain(..done.min(known.len()));
            *from = next;
        }
        match view.track.state() {
            State::Exited(ended) => return Some(Because::Exited(ended)),
            State::Idle => return Some(Because::Ended),
            State::Starting | State::Running => {}
        }
        match &self.until {
            Until::Silence(silence) => {
                (view.printed.max(self.began).elapsed() >= *silence).then_some(Because::Silence)
            }
            Until::Stable(span) => {
                let picture = view.display.picture();
                match &self.picture {
                    Some((known, since)) if *known == picture => {
                        (since.elapsed() >= *span).then_some(Because::Stable)
                    }
                    _ => {
                        self.picture = Some((picture, Instant::now()));
                        (*span == Duration::ZERO).then_some(Because::Stable)
                    }
                }
            }
            Until::End | Until::Answered | Until::Line(_) | Until::LineFrom(..) => None,
        }
    }

    /// When it is worth asking again although nothing has happened.
    fn due(&self) -> Option<Instant> {
        match (&self.until, &self.picture) {
            (Until::Silence(silence), _) => Some(self.began + *silence),
            (Until::Stable(span), Some((_, since))) => Some(*since + *span),
            _ => None,
        }
    }
}
