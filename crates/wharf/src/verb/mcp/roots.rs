//! The directories that a client says it works in (`roots/list`). They come from the person's own program, so they are
//! believed like a directory that was named on the command line.
//!
//! Only clients of the classic era have them; the protocol has given them up since.

use rmcp::service::{Peer, RoleServer};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::timeout;

/// How long a client may take to name its roots. A command waits for it, once.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks a client that offers them; nothing if it does not answer.
#[expect(deprecated, reason = "clients of the classic era have them")]
pub(super) async fn ask(peer: &Peer<RoleServer>) -> Option<Vec<PathBuf>> {
    let offers = peer.peer_info().is_some_and(|info| info.capabilities.roots.is_some());
    if !offers {
        return None;
    }
    let listed = timeout(PATIENCE, peer.list_roots()).await.ok()?.ok()?;
    let real = |path: PathBuf| path.canonicalize().ok().filter(|path| path.is_dir());
    Some(listed.roots.iter().filter_map(|root| path(&root.uri)).filter_map(real).collect())
}

/// The path in a `file:` address of this machine.
fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest).as_bytes();
    let mut bytes = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(byte) = path.get(at) {
        if *byte == b'%' {
            let hex = std::str::from_utf8(path.get(at + 1..at + 3)?).ok()?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            at += 3;
        } else {
            bytes.push(*byte);
            at += 1;
        }
    }
    Some(PathBuf::from(OsString::from_vec(bytes))).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_read_and_others_are_not() {
        let read = |uri| path(uri).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(read("file:///users/u/a%20b/%C3%A9"), Some("/users/u/a b/é".to_owned()));
        assert_eq!(read("file://localhost/src"), Some("/src".to_owned()));
        for uri in
            ["file://host/src", "file:///a%2", "file:///a%zz", "https://example.org/", "/src", "file://"]
        {
            assert_eq!(read(uri), None, "{uri}");
        }
    }
}
