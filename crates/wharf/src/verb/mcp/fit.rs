//! What each client passes on to its model: answers are made to fit it.
//!
//! Measured with the programs themselves (`docs/clients.md`): beyond its limit a client saves an answer to a file, cuts out
//! the middle, or cuts off the end. Each limit is for the whole text, so room is left for what stands before the output.

use super::answer::Form;
use wharf_core::shape::Budget;

/// How an answer reaches a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    /// The most of an output that is passed on whole.
    bytes: usize,
    /// The same in lines.
    lines: usize,
    pub(super) errors: Errors,
}

/// How a refusal is best answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Errors {
    /// As an error of the tool.
    Flagged,
    /// As any other answer, because the client shows an error as JSON within JSON, with the call, once or twice.
    Plain,
}

/// Lines of an output. opencode cuts off what comes after the 2000th, and the others count none.
const LINES: usize = 1500;
/// The most that can be asked for.
pub(super) const MOST: u64 = 100_000;

/// By the beginnings of names that clients give themselves: Qwen's ends with the server's name.
const KNOWN: [(&str, Fit); 5] = [
    // 50,000 characters; then a file, and two kilobytes of it.
    ("claude-code", Fit { bytes: 45_000, lines: LINES, errors: Errors::Flagged }),
    // 12,000 bytes with a model that it does not know, 48,000 with others, and it does not say which it has.
    ("codex-mcp-client", Fit { bytes: 10_000, lines: LINES, errors: Errors::Flagged }),
    // 40,000 characters; then the first 8,000 and the last 32,000.
    ("gemini-cli-mcp-client", Fit { bytes: 37_000, lines: LINES, errors: Errors::Plain }),
    // 28,000 characters; then a file, and two kilobytes of it.
    ("qwen-cli-mcp-client", Fit { bytes: 25_000, lines: LINES, errors: Errors::Plain }),
    // 51,200 bytes; then the end is cut off.
    ("opencode", Fit { bytes: 45_000, lines: LINES, errors: Errors::Flagged }),
];

/// What nearly all of these pass on whole.
const UNKNOWN: Fit = Fit { bytes: 25_000, lines: LINES, errors: Errors::Flagged };

/// Programs cut nothing.
const PROGRAM: Fit = Fit { bytes: usize::MAX, lines: usize::MAX, errors: Errors::Flagged };

impl Fit {
    pub(super) fn of(client: &str, form: Form) -> Self {
        if form == Form::Structured {
            return PROGRAM;
        }
        KNOWN.iter().find(|(name, _)| client.starts_with(name)).map_or(UNKNOWN, |(_, fit)| *fit)
    }

    /// How much of an output is shown to who asks for so much, and what to say if that is less and something is left out.
    pub(super) fn budget(self, asked: u64) -> (Budget, Option<String>) {
        let wanted = usize::try_from(asked).unwrap_or(usize::MAX);
        let bytes = wanted.min(self.bytes);
        let said =
            (bytes < wanted).then(|| format!("no more than {bytes} bytes are shown to this client at once"));
        (Budget { bytes, lines: self.lines }, said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_what_it_passes_on_whole_and_is_told_if_that_is_less_than_it_asked_for() {
        for (client, asked, bytes, is_told) in [
            ("claude-code", 45_000, 45_000, false),
            ("codex-mcp-client", 16_384, 10_000, true),
            ("codex-mcp-client", 9_000, 9_000, false),
            ("qwen-cli-mcp-client-wharf", 45_000, 25_000, true),
            ("somebody else", 20_000, 20_000, false),
            ("somebody else", 45_000, 25_000, true),
        ] {
            let (budget, said) = Fit::of(client, Form::Text).budget(asked);
            assert_eq!((budget.bytes, said.is_some()), (bytes, is_told), "{client} {asked}");
        }
        let (budget, said) = Fit::of("codex-mcp-client", Form::Structured).budget(MOST);
        assert_eq!((budget.bytes as u64, said), (MOST, None));
    }
}
