//! Where one command is, and the questions that can be asked about it.
//!
//! A value that is cheap to clone and holds nothing: whoever has it may ask, and letting go of it releases nothing. The one
//! thing that surprises: what a client answers is cut to the limit that it was given, since not every client keeps to it.

use super::{Exit, Output, TerminalError, Terminals};
use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    KillTerminalRequest, ReleaseTerminalRequest, SessionId, TerminalId, TerminalOutputRequest,
    WaitForTerminalExitRequest,
};
use tokio::runtime::Handle;

/// How much output is kept for a command that names no limit. A client that is told nothing may keep all of it, and every
/// answer holds what is kept.
pub(super) const DEFAULT_LIMIT: u64 = crate::host::DEFAULT_OUTPUT_LIMIT;

#[derive(Debug, Clone)]
pub(super) struct Address {
    pub(super) terminals: Terminals,
    pub(super) session: SessionId,
    pub(super) id: TerminalId,
    /// In bytes of text.
    pub(super) limit: u64,
}

impl Address {
    pub(super) async fn output(&self) -> Result<Output, TerminalError> {
        let request = TerminalOutputRequest::new(self.session.clone(), self.id.clone());
        let output: Output = self.terminals.backend.output(request).await?.into();
        Ok(within(output, self.limit))
    }

    pub(super) async fn wait_for_exit(&self) -> Result<Exit, TerminalError> {
        let request = WaitForTerminalExitRequest::new(self.session.clone(), self.id.clone());
        match self.terminals.backend.wait_for_exit(request).await {
            Ok(answer) => Ok(answer.exit_status.into()),
            Err(error) if is_lost(&error) => Ok(Exit::Unknown),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) async fn kill(&self) -> Result<(), TerminalError> {
        let request = KillTerminalRequest::new(self.session.clone(), self.id.clone());
        self.terminals.backend.kill(request).await.map(drop)
    }

    pub(super) async fn release(&self) -> Result<(), TerminalError> {
        self.terminals.backend.release(self.release_request()).await.map(drop)
    }

    /// Without waiting.
    pub(super) fn release_soon(&self, runtime: Option<&Handle>) {
        self.terminals.backend.release_soon(self.release_request(), runtime);
    }

    fn release_request(&self) -> ReleaseTerminalRequest {
        ReleaseTerminalRequest::new(self.session.clone(), self.id.clone())
    }
}

/// The newest of it, cut between characters.
fn within(mut output: Output, limit: u64) -> Output {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let surplus = output.text.len().saturating_sub(limit);
    if surplus > 0 {
        // A new text: what is only cut would go on taking the room that the client's answer took.
        output.text = output.text[output.text.ceil_char_boundary(surplus)..].to_owned();
        output.truncated = true;
    }
    output
}

/// How wharf's host says that nobody saw the end, since agents take an empty status for a success.
fn is_lost(error: &Error) -> bool {
    error.data.as_ref().and_then(|data| data.get("code")).is_some_and(|code| code == "lost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_was_asked_for_is_cut_at_its_beginning_and_between_characters() {
        for (text, limit, expected, truncated) in [
            ("abc", 3, "abc", false),
            ("abc", 2, "bc", true),
            ("aé€", 5, "é€", true),
            ("aé€", 4, "€", true),
            ("aé€", 2, "", true),
            ("abc", 0, "", true),
            ("", 0, "", false),
        ] {
            let output = Output { text: text.to_owned(), truncated: false, exit: None };
            let cut = within(output, limit);
            assert_eq!((cut.text.as_str(), cut.truncated), (expected, truncated), "{text} within {limit}");
        }
        let dropped = Output { text: "abc".to_owned(), truncated: true, exit: None };
        assert!(within(dropped, 9).truncated, "what the client says is kept");
    }
}
