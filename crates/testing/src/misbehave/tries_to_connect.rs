//! `tries-to-connect SOCKET`: asks a holder how things stand and says what came of it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use wharf_shim::wire::frame::frame;
use wharf_shim::wire::message::Request;

pub(super) fn run(args: &[String]) -> ExitCode {
    let mut stream = match UnixStream::connect(args.first().unwrap()) {
        Ok(stream) => stream,
        Err(error) => {
            super::say(&format!("not connected: {:?}", error.kind()));
            return ExitCode::SUCCESS;
        }
    };
    let _ = stream.write_all(&frame(&Request::Status.encode(1)));
    let mut answer = [0; 64];
    let heard = stream.read(&mut answer).unwrap_or(0);
    super::say(if heard == 0 { "not answered" } else { "answered" });
    ExitCode::SUCCESS
}
