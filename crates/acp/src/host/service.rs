//! The host as a handler of an SDK connection: a client's, a conductor proxy's or a private one.
//!
//! Nothing here waits in the connection's dispatch loop: what takes time runs as a task of its own, which answers by itself.

use super::{Host, refusal};
use agent_client_protocol::role::HasPeer;
use agent_client_protocol::util::MatchDispatchFrom;
use agent_client_protocol::v1;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, KillTerminalRequest, NewSessionRequest, NewSessionResponse,
    ReleaseTerminalRequest, TerminalOutputRequest, WaitForTerminalExitRequest,
};
use agent_client_protocol::{
    Agent, ConnectionTo, Dispatch, Error, HandleDispatchFrom, Handled, JsonRpcResponse, Responder, Role,
};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Answers `terminal/*` on one connection and leaves everything else to others. Made by [`Host::service`].
///
/// ```no_run
/// # use agent_client_protocol::{Client, ConnectTo, schema::ProtocolVersion};
/// # use agent_client_protocol::v1::schema::{InitializeRequest, NewSessionRequest};
/// # use wharf_acp::Host;
/// # use wharf_core::{Dirs, Holder, Store};
/// # async fn client(agent: impl ConnectTo<Client>) -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::open(Dirs::under("/var/lib/my-editor"), Holder::found())?;
/// let host = Host::new(store).env(std::env::vars_os());
/// Client.v1().with_handler(host.service()).connect_with(agent, async |cx| {
///     let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(Host::capabilities());
///     cx.send_request(hello).block_task().await?;
///     let session = host.new_session(&cx, NewSessionRequest::new("/src/project")).await?;
///     // Prompts as usual; and in the end, or with the connection:
///     host.close_session(&session.session_id).await;
///     Ok(())
/// }).await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct TerminalService {
    host: Host,
    /// Where the last work is done when the connection is gone.
    runtime: Option<Handle>,
}

impl Host {
    /// Sends `session/new` and opens the session that comes of it, before anything is dealt with that the agent asks in it.
    /// (Whoever waits for the answer first and then opens the session may be too late: the agent need not wait.) Like every
    /// request, not to be awaited in a handler of the same connection.
    pub async fn new_session(
        &self,
        connection: &v1::ConnectionTo<Agent>,
        request: NewSessionRequest,
    ) -> Result<NewSessionResponse, Error> {
        let (tell, told) = oneshot::channel();
        let (host, cwd) = (self.clone(), request.cwd.clone());
        connection.prepare_request(request).on_receiving_result(async move |result| {
            if let Ok(response) = &result {
                host.open_session(response.session_id.clone(), cwd);
            }
            let _ = tell.send(result);
            Ok(())
        })?;
        told.await.map_err(|_| refusal::internal("the connection ended before the answer"))?
    }
}

impl TerminalService {
    pub(super) fn new(host: Host) -> Self {
        Self { host, runtime: Handle::try_current().ok() }
    }
}

impl Drop for TerminalService {
    fn drop(&mut self) {
        // Without a runtime nothing was ever started through this.
        if let Some(runtime) = &self.runtime {
            let _inside = runtime.enter();
            runtime.spawn(self.host.end());
        }
    }
}

impl<C: Role + HasPeer<Agent>> HandleDispatchFrom<C> for TerminalService {
    async fn handle_dispatch_from(
        &mut self,
        message: Dispatch,
        connection: ConnectionTo<C>,
    ) -> Result<Handled<Dispatch>, Error> {
        self.runtime = self.runtime.take().or_else(|| Handle::try_current().ok());
        let host = &self.host;
        MatchDispatchFrom::new(message, &connection)
            .if_request_from(Agent, async |request: CreateTerminalRequest, responder| {
                answer(host.create(request), responder)
            })
            .await
            .if_request_from(Agent, async |request: TerminalOutputRequest, responder: Responder<_>| {
                responder.respond_with_result(host.output(&request))
            })
            .await
            .if_request_from(Agent, async |request: WaitForTerminalExitRequest, responder| {
                answer(host.wait_for_exit(&request), responder)
            })
            .await
            .if_request_from(Agent, async |request: KillTerminalRequest, responder| {
                answer(host.kill(&request), responder)
            })
            .await
            .if_request_from(Agent, async |request: ReleaseTerminalRequest, responder| {
                answer(host.release(&request), responder)
            })
            .await
            .done()
    }

    fn describe_chain(&self) -> impl std::fmt::Debug {
        "TerminalService"
    }
}

/// Answers when the work is done, or when it is no longer wanted; then only the waiting is given up.
pub(crate) fn answer<T: JsonRpcResponse>(
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
    responder: Responder<T>,
) -> Result<(), Error> {
    tokio::spawn(async move {
        let cancellation = responder.cancellation();
        let result = cancellation.run_until_cancelled(work).await;
        // If the connection is gone there is nobody to tell.
        let _ = responder.respond_with_result(result);
    });
    Ok(())
}
