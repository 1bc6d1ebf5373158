//! `reads-terminal STATE ID FILE`: a front end that copies a terminal's output to the end of a file, from where the file
//! ends, and says how the command ended. Made to be killed and started again.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;
use wharf_core::{Dirs, Holder, Step, Store, TerminalId};

pub(super) fn run(args: &[String]) -> ExitCode {
    let [state, id, file] = args else { return super::unknown("reads-terminal without its arguments") };
    let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
    let from = file.metadata().unwrap().len();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(Dirs::under(state), Holder::Thread).unwrap();
        let terminal = store.get(&TerminalId::parse(id).unwrap()).unwrap();
        let mut reader = terminal.reader(from);
        while let Step::Output(chunk) = reader.next(1 << 16).await.unwrap() {
            assert_eq!(chunk.gap, 0);
            file.write_all(&chunk.bytes).unwrap();
        }
        super::say(&format!("{:?}", terminal.wait().await.unwrap().outcome));
    });
    ExitCode::SUCCESS
}
