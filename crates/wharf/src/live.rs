//! A terminal's output as it comes, to whatever ours is: a file or a pipe gets every byte, a person's terminal what does
//! nothing to it.

use crate::emulation::Responder;
use crate::harmless::Harmless;
use crate::output;
use crate::report::{self, Failure};
use crate::show;
use crate::surface::Surface;
use crate::unmarked::Unmarked;
use wharf_core::{Chunk, Reader, Step};

/// Read at once, if that much is there. Asking costs as much as copying some hundred KiB, and a reader that is slower
/// than the command loses what is no longer kept.
const PIECE: usize = 1 << 20;

/// How long to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// Only what is there.
    Here(u64),
    /// Until the command has ended and all that it printed was shown.
    Ended,
    /// Until nothing is left that could print.
    Closed,
}

/// What is done to the bytes on the way.
#[derive(Debug)]
pub(crate) enum Through<'a> {
    /// Nothing.
    Raw,
    /// Only what is harmless passes.
    Harmless(Harmless),
    /// All pass but a shell's own marks.
    Unmarked(Unmarked),
    /// What paints passes, and what was switched on is switched off at the end.
    Painting(Surface),
    /// What paints passes to somebody who sits there, and what asks is answered for them.
    Seated(&'a mut Surface, &'a mut Responder),
}

/// Shows output until the end that was asked for.
pub(crate) async fn follow(
    mut reader: Reader,
    until: Until,
    mut through: Through<'_>,
) -> Result<(), Failure> {
    let terminal = reader.terminal().clone();
    let mut dropped = 0;
    loop {
        let step = match until {
            Until::Here(end) if reader.offset() >= end => Step::Closed,
            Until::Here(_) | Until::Closed => terminal.keep_awake(reader.next_until_closed(PIECE)).await?,
            Until::Ended => terminal.keep_awake(reader.next(PIECE)).await?,
        };
        let Step::Output(chunk) = step else { break };
        dropped += chunk.gap;
        // Whoever asked for old output wants to know where it lacks something; whoever looks on, only that it does.
        if chunk.gap > 0 && until != Until::Ended {
            say_gap(chunk.gap, chunk.at);
        }
        let bytes = match &mut through {
            Through::Raw => chunk.bytes,
            Through::Harmless(filter) => {
                if chunk.gap > 0 {
                    filter.forget();
                }
                filter.pass(&chunk.bytes)
            }
            Through::Unmarked(filter) => {
                if chunk.gap > 0 {
                    filter.forget();
                }
                filter.pass(&chunk.bytes)
            }
            Through::Painting(surface) => pass(surface, &chunk),
            Through::Seated(surface, responder) => {
                responder.feed(chunk.at, &chunk.bytes);
                pass(surface, &chunk)
            }
        };
        output::write(bytes).await?;
        reader.taken();
    }
    match &mut through {
        Through::Harmless(filter) => output::write(filter.finish().to_vec()).await?,
        Through::Unmarked(filter) => output::write(filter.finish()).await?,
        Through::Painting(surface) => output::write(surface.finish()).await?,
        Through::Raw | Through::Seated(..) => {}
    }
    if dropped > 0 && until == Until::Ended {
        report::say(&format!(
            "{} bytes were dropped before they could be shown; --keep keeps more",
            show::count(dropped)
        ));
    }
    Ok(())
}

fn pass(surface: &mut Surface, chunk: &Chunk) -> Vec<u8> {
    if chunk.gap > 0 {
        surface.forget();
    }
    surface.pass(&chunk.bytes)
}

fn say_gap(gap: u64, at: u64) {
    let bytes = if gap == 1 { "byte was" } else { "bytes were" };
    report::say(&format!("{} {bytes} dropped before offset {at}", show::count(gap)));
}
