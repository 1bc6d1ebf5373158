//! Lines on the standard streams, read and written without anything that costs time.

use crate::Outcome;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;

/// Large, so that the agent is never what a host waits for.
const BUFFER: usize = 1 << 20;

pub(crate) struct Wire {
    from: BufReader<File>,
    to: File,
    line: Vec<u8>,
}

impl Wire {
    /// The standard streams, past the buffers and locks of the standard library.
    pub(crate) fn new() -> Outcome<Self> {
        let from = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        let to = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Self { from: BufReader::with_capacity(BUFFER, from), to, line: Vec::with_capacity(2 * BUFFER) })
    }

    /// The next line; nothing at the end.
    pub(crate) fn read(&mut self) -> Outcome<Option<&[u8]>> {
        self.line.clear();
        let read = self.from.read_until(b'\n', &mut self.line)?;
        Ok((read > 0).then_some(&self.line))
    }

    pub(crate) fn write(&mut self, message: &Value) -> Outcome {
        Ok(self.to.write_all(format!("{message}\n").as_bytes())?)
    }
}
