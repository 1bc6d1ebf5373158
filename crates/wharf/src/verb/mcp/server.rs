//! The server as the protocol sees it, in both its eras: what there is, and who does it.

use super::answer::{self, Answer};
use super::ask::Client;
use super::call::Call;
use super::desk::Desk;
use super::given;
use super::handover::Handover;
use super::permit::Permit;
use super::program::Programs;
use super::progress::Progress;
use super::refusal::{Refusal, Stop};
use super::task::Tasks;
use super::teach;
use super::tool::{self, Known};
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
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
    pub(super) handover: Handover,
    pub(super) leaving: CancellationToken,
    pub(super) tools: Arc<Vec<Tool>>,
    pub(super) tasks: Tasks,
}

impl Server {
    /// Does what is asked and answers in both forms, whatever comes of it.
    async fn serve(
        &self,
        known: Known,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let arguments = given::settle(request.arguments.clone().unwrap_or_default());
        let terminal = arguments.get("terminal_id").and_then(Value::as_str).unwrap_or("default").to_owned();
        let call = match self.call(&request, context) {
            Ok(call) => call,
            Err(refusal) => return refused(refusal, &terminal),
        };
        if let Some(wait) = self.tasks.long_wait(known, &arguments, &call) {
            return self.tasks.begin(wait, call, |call| async move {
                match of(arguments, |args| tool::wait::run(&call, args)).await {
                    Ok(result) => result,
                    Err(Stop::Refused(refusal)) => answer::refused(&refusal.answer(&terminal)),
                    Err(Stop::Ask(_)) => {
                        let refusal =
                            Refusal::new("failed", "Waiting needs no permission, and one was asked for.");
                        answer::refused(&refusal.answer(&terminal))
                    }
                }
            });
        }
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
            Err(Stop::Refused(refusal)) => refused(refusal, &terminal),
            Err(Stop::Ask(ask)) => CallToolResponse::InputRequired(*ask),
        }
    }

    fn call(
        &self,
        request: &CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<Call, Refusal> {
        let progress =
            context.meta.get_progress_token().map(|token| Progress::Call(context.peer.clone(), token));
        let client = Client::new(request, context);
        Ok(Call {
            seat: self.desk.sit(client.name())?,
            desk: self.desk.clone(),
            permit: self.permit.clone(),
            programs: self.programs.clone(),
            client,
            progress,
            handover: self.handover.clone(),
            leaving: self.leaving.clone(),
        })
    }
}

fn refused(refusal: Refusal, terminal: &str) -> CallToolResponse {
    CallToolResponse::Complete(answer::refused(&refusal.answer(terminal)))
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
        config.capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        config
            .with_server_info(Implementation::new("wharf", env!("CARGO_PKG_VERSION")))
            .with_instructions(teach::INSTRUCTIONS)
    }

    /// Who begins this way is of the classic era, which has no tasks.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        answer.capabilities.extensions = None;
        Ok(answer)
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks.look(&request)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update(request)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel(&request)
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
