//! The server as the protocol sees it, in both its eras: what there is, and who does it.

use super::answer::{self, Form, Noted};
use super::ask::Client;
use super::call::Call;
use super::desk::Desk;
use super::fit::Fit;
use super::given::{self, Given};
use super::handover::Handover;
use super::permit::Permit;
use super::program::Programs;
use super::refusal::{Refusal, Stop};
use super::roots;
use super::task::Tasks;
use super::tool::{self, Known, Tools};
use super::turn::Turns;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// What every call has in common. Cheap to clone.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) desk: Arc<Desk>,
    pub(super) permit: Arc<Permit>,
    pub(super) programs: Arc<Programs>,
    pub(super) handover: Handover,
    pub(super) turns: Turns,
    pub(super) leaving: CancellationToken,
    pub(super) tools: Arc<Tools>,
    pub(super) form: Form,
    pub(super) tasks: Tasks,
    pub(super) instructions: Arc<str>,
    /// Whether the client was asked for its roots; taken while it is being asked.
    pub(super) asked: Arc<Mutex<bool>>,
}

impl Server {
    /// Does what is asked and answers, whatever comes of it.
    async fn serve(
        &self,
        known: Known,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> CallToolResponse {
        // Before anything is opened: it decides where.
        let mut asked = self.asked.lock().await;
        if !*asked {
            self.learn_roots(&context.peer).await;
            *asked = true;
        }
        drop(asked);
        let client = Client::new(&request, context);
        let form = self.form;
        let fit = Fit::of(client.name(), form);
        let arguments = request.arguments.clone().unwrap_or_default();
        let terminal = arguments.get("terminal_id").and_then(Value::as_str).unwrap_or("default").to_owned();
        let read = given::read(known, self.tools.input(known), arguments);
        let refused = move |refusal: Refusal| answer::refused(&refusal.answer(&terminal), form, fit.errors);
        let (call, given) = match read.and_then(|given| Ok((self.call(client, fit)?, given))) {
            Ok(both) => both,
            Err(refusal) => return CallToolResponse::Complete(refused(refusal)),
        };
        if let Some(wait) = self.tasks.long_wait(known, &given.arguments, &call) {
            return self.tasks.begin(wait, call, move |call| async move {
                match of(given, form, |args| tool::wait::run(&call, args)).await {
                    Ok(result) => result,
                    Err(Stop::Refused(refusal)) => refused(refusal),
                    Err(Stop::Ask(_)) => {
                        refused(Refusal::new("failed", "Waiting needs no permission, and one was asked for."))
                    }
                }
            });
        }
        let done = match known {
            Known::Execute => of(given, form, |args| tool::execute::run(&call, args)).await,
            Known::Read => of(given, form, |args| tool::read::run(&call, args)).await,
            Known::Wait => of(given, form, |args| tool::wait::run(&call, args)).await,
            Known::List => of(given, form, |args| tool::list::run(&call, args)).await,
            Known::Open => of(given, form, |args| tool::open::run(&call, args)).await,
            Known::Close => of(given, form, |args| tool::close::run(&call, args)).await,
        };
        match done {
            Ok(result) => CallToolResponse::Complete(result),
            Err(Stop::Refused(refusal)) => CallToolResponse::Complete(refused(refusal)),
            Err(Stop::Ask(ask)) => CallToolResponse::InputRequired(*ask),
        }
    }

    async fn learn_roots(&self, peer: &Peer<RoleServer>) {
        if let Some(roots) = roots::ask(peer).await {
            self.desk.work_in(Some(roots), |project| self.permit.too_wide(project));
        }
    }

    fn call(&self, client: Client, fit: Fit) -> Result<Call, Refusal> {
        let progress = client.progress();
        Ok(Call {
            seat: self.desk.sit(client.name())?,
            desk: self.desk.clone(),
            permit: self.permit.clone(),
            programs: self.programs.clone(),
            client,
            fit,
            progress,
            handover: self.handover.clone(),
            turns: self.turns.clone(),
            leaving: self.leaving.clone(),
        })
    }
}

/// Does it, and makes the answer. What was not taken as it was given is said with it.
async fn of<A: DeserializeOwned, T: Noted>(
    given: Given,
    form: Form,
    run: impl AsyncFnOnce(A) -> Result<T, Stop>,
) -> Result<CallToolResult, Stop> {
    let arguments = serde_json::from_value(Value::Object(given.arguments))
        .map_err(|error| Refusal::new("invalid", format!("The arguments were not understood: {error}.")))?;
    match run(arguments).await {
        Ok(mut answered) => {
            answered.add(given.notice);
            Ok(answer::result(&answered, form))
        }
        Err(Stop::Refused(refusal)) => Err(refusal.and(&given.notice).into()),
        Err(ask) => Err(ask),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::default();
        config.capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        config
            .with_server_info(Implementation::new("wharf", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions.as_ref())
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

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        let asked = self.asked.lock().await;
        if *asked {
            self.learn_roots(&context.peer).await;
        }
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
        Ok(ListToolsResult::with_all_items(self.tools.listed.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.listed.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(known) = Known::named(&request.name) else {
            let names: Vec<&str> = self.tools.listed.iter().map(|tool| tool.name.as_ref()).collect();
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
