//! A plain, blocking talk with a holder in its own protocol, for tests that need to repeat, cut or delay messages.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use wharf_shim::wire::frame::{Deframer, MAX_FRAME, frame};
use wharf_shim::wire::message::{Reply, Request};

/// One connection.
pub struct Talk {
    /// The socket, for tests that write what no front end would.
    pub stream: UnixStream,
    deframer: Deframer,
}

impl Talk {
    /// Connects.
    #[must_use]
    pub fn to(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(crate::GUARD)).unwrap();
        Self { stream, deframer: Deframer::new(MAX_FRAME) }
    }

    /// Sends without waiting for the answer.
    pub fn say(&mut self, tag: u32, request: &Request) {
        self.stream.write_all(&frame(&request.encode(tag))).unwrap();
    }

    /// The next answer; `None` if the holder closed the connection.
    #[must_use]
    pub fn hear(&mut self) -> Option<(u32, Reply)> {
        loop {
            if let Some(body) = self.deframer.next_frame().unwrap() {
                return Some(Reply::decode(body).unwrap());
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Ok(n) => self.deframer.push(&bytes[..n]),
                Err(error) => panic!("the holder did not answer: {error}"),
            }
        }
    }

    /// Asks and waits.
    #[must_use]
    pub fn ask(&mut self, request: &Request) -> Reply {
        self.say(1, request);
        self.hear().expect("the holder closed the connection").1
    }
}
