//! Asking a holder something, without blocking.

use std::io;
use std::path::Path;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use wharf_shim::wire::frame::{Deframer, MAX_FRAME, frame};
use wharf_shim::wire::message::{Reply, Request};

/// A connection to one holder. One question at a time.
#[derive(Debug)]
pub(crate) struct Client {
    stream: UnixStream,
    deframer: Deframer,
    tag: u32,
}

impl Client {
    pub(crate) async fn connect(socket: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(socket).await?;
        Ok(Self { stream, deframer: Deframer::new(MAX_FRAME), tag: 0 })
    }

    /// A connection that was made elsewhere; it must not block.
    pub(crate) fn from_std(stream: std::os::unix::net::UnixStream) -> io::Result<Self> {
        let stream = UnixStream::from_std(stream)?;
        Ok(Self { stream, deframer: Deframer::new(MAX_FRAME), tag: 0 })
    }

    /// Asks and waits for the answer. Dropping the future is safe if the client is dropped with it.
    pub(crate) async fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        self.tag = self.tag.wrapping_add(1);
        self.stream.write_all(&frame(&request.encode(self.tag))).await?;
        loop {
            while let Some(body) = self.deframer.next_frame().map_err(io::Error::other)? {
                let (tag, reply) = Reply::decode(body).map_err(io::Error::other)?;
                // Tag 0 answers what could not be understood at all.
                if tag == self.tag || tag == 0 {
                    return Ok(reply);
                }
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.deframer.push(&bytes[..n]),
            }
        }
    }
}
