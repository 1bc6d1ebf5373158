//! The server as the protocol sees it, in both its eras: what there is, and who does it.

use super::answer::{self, Answer};
use super::ask::Client;
use super::call::Call;
use super::desk::Desk;
use super::permit::Permit;
use super::program::Programs;
use super::progress::Progress;
use super::refusal::{Refusal, Stop};
use super::teach;
use super::tool::{self, Known};
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What every call has in common. Cheap to clone.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) desk: Arc<Desk>,
    pub(super) permit: Arc<Permit>,
    pub(super) programs: Arc<Programs>,
    pub(super) leaving: CancellationToken,
    pub(super) tools: Arc<Vec<Tool>>,
}

impl Server {
    /// Does what is asked and answers in both forms, whatever comes of it.
    async fn serve(
        &self,
        known: Known,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let mut arguments = request.arguments.clone().unwrap_or_default();
        // Some models say null for what they leave out.
        arguments.retain(|_, value| !value.is_null());
        let terminal = arguments.get("terminal_id").and_then(Value::as_str).unwrap_or("default").to_owned();
        let refused =
            |refusal: Refusal| CallToolResponse::Complete(answer::refused(&refusal.answer(&terminal)));
        let call = match self.call(&request, context) {
            Ok(call) => call,
            Err(refusal) => return refused(refusal),
        };
        let done = match known {
            Known::Execute => of(arguments, |args| tool::execute::run(&call, args)).await,
            Known::Read => of(arguments, |args| tool::read::run(&call, args)).await,
            Known::Wait => of(arguments, |args| tool::wait::run(&call, args)).await,
            Known::List => of(arguments, |args| tool::list::run(&call, args)).await,
            Known::Open => of(arguments, |args| tool::open::run(&call, args)).await,
            Known::Close => of(arguments, |args| tool::close::run(&call, args)).await,
        };
        match done {
            Ok(result) => CallToolResponse::Complete(result),
            Err(Stop::Refused(refusal)) => refused(refusal),
            Err(Stop::Ask(ask)) => CallToolResponse::InputRequired(*ask),
        }
    }

    fn call(
        &self,
        request: &CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Call, Refusal> {
        let progress =
            context.meta.get_progress_token().map(|token| Progress::new(context.peer.clone(), token));
        let client = Client::new(request, context);
        Ok(Call {
            seat: self.desk.sit(client.name())?,
            desk: self.desk.clone(),
            permit: self.permit.clone(),
            programs: self.programs.clone(),
            client,
            progress,
            leaving: self.leaving.clone(),
        })
    }
}

/// Reads the arguments, does it, and makes both halves of the answer. What does not fit is said in words.
async fn of<A: DeserializeOwned, T: Answer>(
    arguments: JsonObject,
    run: impl AsyncFnOnce(A) -> Result<T, Stop>,
) -> Result<CallToolResult, Stop> {
    let arguments = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Refusal::new("invalid", format!("The arguments were not understood: {error}.")))?;
    run(arguments).await.map(|answered| answer::result(&answered))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.capabilities = ServerCapabilities::builder().enable_tools().build();
        config
            .with_server_info(Implementation::new("wharf", env!("CARGO_PKG_VERSION")))
            .with_instructions(teach::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(known) = Known::named(&request.name) else {
            let names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_ref()).collect();
            let text = format!("there is no tool {:?}; there are {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(text, None));
        };
        let cancelled = context.ct.clone();
        tokio::select! {
            biased;
            response = self.serve(known, request, context) => Ok(response),
            // Waiting ends here and now; what runs goes on. Nobody reads this answer.
            () = cancelled.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }
}
