//! Who answers the five methods: the client over the wire, a host in this process, or nobody.

use super::address::{Address, DEFAULT_LIMIT};
use super::local::Local;
use super::{TerminalError, TerminalHandle, Terminals};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use agent_client_protocol::{Client, Error, RequestCancellationHandle};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

#[derive(Debug, Clone)]
pub(super) enum Backend {
    Client(ConnectionTo<Client>),
    Local(Local),
    Nowhere,
}

impl Backend {
    pub(super) async fn output(
        &self,
        request: TerminalOutputRequest,
    ) -> Result<TerminalOutputResponse, TerminalError> {
        Ok(match self {
            Self::Client(connection) => connection.send_request(request).block_task().await?,
            Self::Local(local) => local.host().output(&request)?,
            Self::Nowhere => return Err(TerminalError::Unsupported),
        })
    }

    pub(super) async fn wait_for_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        match self {
            Self::Client(connection) => connection.send_request(request).block_task().await,
            Self::Local(local) => local.host().wait_for_exit(&request).await,
            Self::Nowhere => Err(TerminalError::Unsupported.into()),
        }
    }

    pub(super) async fn kill(
        &self,
        request: KillTerminalRequest,
    ) -> Result<KillTerminalResponse, TerminalError> {
        Ok(match self {
            Self::Client(connection) => connection.send_request(request).block_task().await?,
            Self::Local(local) => local.host().kill(&request).await?,
            Self::Nowhere => return Err(TerminalError::Unsupported),
        })
    }

    pub(super) async fn release(
        &self,
        request: ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, TerminalError> {
        Ok(match self {
            Self::Client(connection) => connection.send_request(request).block_task().await?,
            Self::Local(local) => local.host().release(&request).await?,
            Self::Nowhere => return Err(TerminalError::Unsupported),
        })
    }

    /// Releases it without waiting, from wherever this is called: also outside a runtime, also when the connection or the
    /// runtime is gone, and with it the terminal.
    pub(super) fn release_soon(&self, request: ReleaseTerminalRequest, runtime: Option<&Handle>) {
        match (self, runtime) {
            // Only puts a message into the connection's queue; nobody is asked to read the answer.
            (Self::Client(connection), _) => drop(connection.prepare_request(request).detach()),
            (Self::Local(local), Some(runtime)) => {
                let _inside = runtime.enter();
                runtime.spawn(local.host().release(&request));
            }
            (Self::Local(_), None) | (Self::Nowhere, _) => {}
        }
    }
}

impl Terminals {
    pub(super) async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<TerminalHandle, TerminalError> {
        match &self.backend {
            Backend::Client(connection) => self.create_at_client(connection, request).await,
            Backend::Local(local) => {
                let at = self.addresses(&request);
                if !local.host().has_session(&request.session_id) {
                    return Err(TerminalError::NoSession(request.session_id));
                }
                local.begin();
                Ok(TerminalHandle::new(at(local.host().create(request).await?)))
            }
            Backend::Nowhere => Err(TerminalError::Unsupported),
        }
    }

    /// What answers to a request are about.
    fn addresses(
        &self,
        request: &CreateTerminalRequest,
    ) -> impl FnOnce(CreateTerminalResponse) -> Address + Send + use<> {
        let (terminals, session) = (self.clone(), request.session_id.clone());
        let limit = request.output_byte_limit.unwrap_or(DEFAULT_LIMIT);
        move |answer| Address { terminals, session, id: answer.terminal_id, limit }
    }

    /// The answer is turned into a handle by the connection itself. If nobody waits for it any more the handle is dropped
    /// there, which releases it: an answer that crosses its cancellation leaves no orphan at the client.
    async fn create_at_client(
        &self,
        connection: &ConnectionTo<Client>,
        request: CreateTerminalRequest,
    ) -> Result<TerminalHandle, TerminalError> {
        let at = self.addresses(&request);
        let (give, take) = oneshot::channel();
        let prepared = connection.prepare_request(request);
        let cancelled = CancelOnDrop(prepared.cancellation_handle());
        let asked = prepared.on_receiving_result(move |answer| {
            drop(give.send(answer.map(|answer| TerminalHandle::new(at(answer)))));
            std::future::ready(Ok(()))
        });
        asked.map_err(|_| TerminalError::Disconnected)?;
        let made = take.await.map_err(|_| TerminalError::Disconnected)?;
        // Answered: nothing is left to cancel, and the SDK knows.
        drop(cancelled);
        Ok(made?)
    }
}

struct CancelOnDrop(RequestCancellationHandle);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // After the answer this does nothing, after the connection's end it fails, and both are fine.
        let _ = self.0.cancel();
    }
}
