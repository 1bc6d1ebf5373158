//! Waits that outlast a call, as tasks that the client looks in on: for the modern era, and clients that say they take
//! them.
//!
//! A task is of this process and of no other: when it is gone, so is the task, while the terminal that it was about goes
//! on. Ending a task ends the waiting alone.

use super::call::{Call, beyond_a_call};
use super::progress::Progress;
use super::tool::Known;
use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, CancelTaskParams, CreateTaskResult, GetTaskParams, GetTaskResult,
    JsonObject, UpdateTaskParams,
};
use rmcp::task_manager::{TaskExit, TaskManager, TaskOptions};
use serde_json::Value;
use std::time::Duration;

/// Waits at once. Who wants more of them waits in its calls.
const MOST: usize = 64;
/// How long an answer is kept for a client that does not come for it.
const KEPT: Duration = Duration::from_secs(600);

/// All tasks of this process.
#[derive(Clone, Default)]
pub(super) struct Tasks {
    manager: TaskManager,
}

impl Tasks {
    /// How long, if it is a wait that no call could last for, and a client that takes tasks.
    pub(super) fn long_wait(&self, known: Known, arguments: &JsonObject, call: &Call) -> Option<Duration> {
        let seconds = arguments.get("timeout").and_then(Value::as_f64).filter(|_| known == Known::Wait)?;
        let wait = beyond_a_call(seconds).filter(|_| call.client.takes_tasks())?;
        (self.manager.running_task_count() < MOST).then_some(wait)
    }

    /// Has it done beside all calls.
    pub(super) fn begin<F>(
        &self,
        wait: Duration,
        mut call: Call,
        run: impl FnOnce(Call) -> F,
    ) -> CallToolResponse
    where
        F: Future<Output = CallToolResult> + Send + 'static,
    {
        let life = u64::try_from(wait.saturating_add(KEPT).as_millis()).unwrap_or(u64::MAX);
        let task = self.manager.spawn(TaskOptions::new().with_ttl_ms(life), |context| {
            call.progress = Some(Progress::Task(context.clone()));
            let running = run(call);
            Box::pin(async move {
                tokio::select! {
                    biased;
                    result = running => Ok(result),
                    () = context.cancelled() => Err(TaskExit::Cancelled),
                }
            })
        });
        CallToolResponse::Task(CreateTaskResult::new(task))
    }

    pub(super) fn look(&self, asked: &GetTaskParams) -> Result<GetTaskResult, ErrorData> {
        self.manager.get_task(&asked.task_id).map(GetTaskResult::new)
    }

    /// No task asks anything, so there is nothing to be answered.
    pub(super) fn update(&self, asked: UpdateTaskParams) -> Result<(), ErrorData> {
        self.manager.update_task(&asked.task_id, asked.input_responses)
    }

    pub(super) fn cancel(&self, asked: &CancelTaskParams) -> Result<(), ErrorData> {
        self.manager.cancel_task(&asked.task_id)
    }
}
