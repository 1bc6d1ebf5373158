//! `guards-program PROGRAM ARGS…`: a front end that starts a program under a guard, repeats its first line, and waits to
//! be killed.

use std::process::ExitCode;
use tokio::io::{AsyncBufReadExt, BufReader};
use wharf_core::{Guarded, Holder};
use wharf_testing::program;

pub(super) fn run(args: &[String]) -> ExitCode {
    let Some((program_path, rest)) = args.split_first() else {
        return super::unknown("guards-program without its arguments");
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _guarded = runtime.block_on(async {
        let holder = Holder::Process(program("wharf-shim"));
        let mut guarded = Guarded::start(&holder, program_path, rest).await.unwrap();
        let mut line = String::new();
        BufReader::new(guarded.stdout.as_mut().unwrap()).read_line(&mut line).await.unwrap();
        super::say(line.trim_end());
        guarded
    });
    super::stay();
    ExitCode::SUCCESS
}
