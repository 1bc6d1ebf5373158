//! Asking a holder something, without blocking.

use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::net::UnixStream;
use wharf_shim::wire::frame::{Deframer, MAX_FRAME, frame};
use wharf_shim::wire::message::{Reply, Request};

/// A connection to one holder. One question at a time.
#[derive(Debug)]
pub(crate) struct Client {
    stream: Arc<UnixStream>,
    deframer: Deframer,
    tag: u32,
}

impl Client {
    pub(crate) async fn connect(socket: &Path) -> io::Result<Self> {
        Ok(Self::new(UnixStream::connect(socket).await?))
    }

    /// A connection that was made elsewhere; it must not block.
    pub(crate) fn from_std(stream: std::os::unix::net::UnixStream) -> io::Result<Self> {
        UnixStream::from_std(stream).map(Self::new)
    }

    fn new(stream: UnixStream) -> Self {
        Self { stream: Arc::new(stream), deframer: Deframer::new(MAX_FRAME), tag: 0 }
    }

    /// The connection, to be held open, or to write to.
    pub(crate) fn stream(&self) -> &Arc<UnixStream> {
        &self.stream
    }

    /// Asks and waits for the answer. Dropping the future is safe if the client is dropped with it.
    pub(crate) async fn ask(&mut self, request: &Request) -> io::Result<Reply> {
        self.tag = self.tag.wrapping_add(1);
        self.write(&frame(&request.encode(self.tag))).await?;
        self.hear(self.tag).await
    }

    /// Writes all of it.
    pub(crate) async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.writable().await?;
            match self.stream.try_write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits for what is said under a tag. Dropping the future loses nothing: the next one goes on.
    pub(crate) async fn hear(&mut self, wanted: u32) -> io::Result<Reply> {
        loop {
            while let Some(body) = self.deframer.next_frame().map_err(io::Error::other)? {
                let (tag, reply) = Reply::decode(body).map_err(io::Error::other)?;
                // Tag 0 answers what could not be understood at all.
                if tag == wanted || tag == 0 {
                    return Ok(reply);
                }
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> io::Result<()> {
        let mut bytes = [0; 4096];
        loop {
            self.stream.readable().await?;
            match self.stream.try_read(&mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    self.deframer.push(&bytes[..n]);
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}
