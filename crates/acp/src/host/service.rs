//! The host as a handler of an SDK connection: a client's, a conductor proxy's or a private one.
//!
//! Nothing here waits in the connection's dispatch loop: what takes time runs as a task of its own, which answers by itself.

use super::Host;
use agent_client_protocol::role::HasPeer;
use agent_client_protocol::util::MatchDispatchFrom;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, KillTerminalRequest, ReleaseTerminalRequest, TerminalOutputRequest,
    WaitForTerminalExitRequest,
};
use agent_client_protocol::{
    Agent, ConnectionTo, Dispatch, Error, HandleDispatchFrom, Handled, JsonRpcResponse, Responder, Role,
};
use tokio::runtime::Handle;

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
///     let session = cx.send_request(NewSessionRequest::new("/src/project")).block_task().await?;
///     host.open_session(session.session_id, "/src/project");
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
