//! The output of a shell's commands, line by line.
//!
//! Everything is read by going over it: whoever wants all lines at once collects them. What memory holds comes from
//! there, at once and under the follower's lock, so what is called for a line must be quick and ask the shell nothing.

use super::follow::View;
use super::render::{End, Render};
use super::replay::Replay;
use super::{Line, Lines, Part, Passed, Place, Shell};
use crate::error::ReadError;
use std::ops::ControlFlow;

/// More lines than that are not gone over while the follower waits: it has to keep up with the output.
const AT_ONCE: u64 = 200_000;

impl Shell {
    /// The output of a command from that line on (0: what was printed outside of commands), all of it at once.
    pub async fn lines(&self, command: u64, from: u64) -> Result<Lines, ReadError> {
        let from = from.max(1);
        let lines = Lines { first: from, ..Lines::default() };
        let passed = self.fold(command, from, lines, |lines, line| {
            // Those before it may not be kept any more.
            if lines.lines.is_empty() {
                lines.first = line.number;
            }
            lines.lines.push(line.text.to_owned());
            lines.finished += usize::from(line.is_finished);
            ControlFlow::Continue(())
        });
        let Passed { state, dropped } = passed.await?;
        Ok(Lines { dropped, ..state })
    }

    /// Goes over the output of a command from that line on (0: what was printed outside of commands), until `each` breaks
    /// off. Rendered again from the journal where it is not held; that ends when this is dropped.
    pub async fn fold<S: Send + 'static>(
        &self,
        command: u64,
        from: u64,
        mut state: S,
        mut each: impl FnMut(&mut S, Line<'_>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<Passed<S>, ReadError> {
        let from = from.max(1);
        let replay = {
            let view = self.follower.core.view();
            if let Some((render, end)) = newest(&view, command)
                && from >= render.first()
                && render.lines().saturating_sub(from) < AT_ONCE
            {
                let _ = render.each(Place { line: from, bytes: 0 }, end, &mut |part| {
                    // All of it is held, so there is no gap.
                    let Part::Lines(line, times) = part else { return ControlFlow::Continue(()) };
                    (0..times).try_for_each(|n| each(&mut state, Line { number: line.number + n, ..line }))
                });
                return Ok(Passed { state, dropped: render.dropped() });
            }
            Replay::of(&self.follower.core, &view, command)?
        };
        replay.pass(from, state, each).await
    }

    /// Goes over what is new in a command's output since that place. Of the newest command this comes from memory, however
    /// much it is: what is not held is a gap of which lines and bytes are known.
    pub async fn news<S: Send + 'static>(
        &self,
        command: u64,
        since: Place,
        mut state: S,
        mut each: impl FnMut(&mut S, Part<'_>) + Send + 'static,
    ) -> Result<Passed<S>, ReadError> {
        let replay = {
            let view = self.follower.core.view();
            if let Some((render, end)) = newest(&view, command) {
                let _ = render.each(since, end, &mut |part| {
                    each(&mut state, part);
                    ControlFlow::Continue(())
                });
                return Ok(Passed { state, dropped: render.dropped() });
            }
            Replay::of(&self.follower.core, &view, command)?
        };
        let each = move |state: &mut S, line: Line<'_>| {
            each(state, Part::Lines(line, 1));
            ControlFlow::Continue(())
        };
        replay.pass(since.line, state, each).await
    }

    /// Everything before that line of that command was told. If it is the newest, the beginning of what is printed from
    /// there on is held for the next answer.
    pub fn keep_from(&self, command: u64, line: u64) {
        if let Some((_, render)) = self.follower.core.view().render.as_mut().filter(|(id, _)| *id == command)
        {
            render.keep_from(line);
        }
    }

    /// How many lines a command has printed, if that is known without reading them.
    #[must_use]
    pub fn count(&self, command: u64) -> Option<u64> {
        self.follower.core.view().count(command)
    }
}

/// What is held of that command, if it is the newest.
fn newest(view: &View, command: u64) -> Option<(&Render, End)> {
    let (id, render) = view.render.as_ref().filter(|(id, _)| *id == command)?;
    let over = view.track.last().is_some_and(|last| last.id == *id && last.output.1.is_some());
    Some((render, if over { End::Over } else { End::Open }))
}
