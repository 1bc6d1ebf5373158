//! Sockets that programs listen on, by their paths.
//!
//! What surprises: the kernel tells of every socket in this network namespace, also of those whose path means something
//! else here, or nothing any more. So a path from here is only a place to look at.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Every absolute path that a socket is bound to, sorted.
pub(crate) fn bound() -> Vec<PathBuf> {
    let mut paths = parse(&fs::read("/proc/net/unix").unwrap_or_default());
    paths.sort();
    paths.dedup();
    paths
}

/// As in `proc_net(5)`: seven columns, then the path, which may hold spaces; abstract names begin with `@`.
fn parse(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n').skip(1);
    let path = |line: &[u8]| {
        let mut rest = line;
        for _ in 0..7 {
            let word = rest.iter().position(|byte| *byte != b' ')?;
            let end = word + rest[word..].iter().position(|byte| *byte == b' ')?;
            rest = &rest[end..];
        }
        let path = rest.strip_prefix(b" ")?;
        path.starts_with(b"/").then(|| PathBuf::from(OsStr::from_bytes(path)))
    };
    lines.filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    #[test]
    fn paths_are_told_from_abstract_names_and_from_none() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01 21541 /run/a b.sock\n\
            0000000000000000: 00000002 00000000 00010000 0001 01    12 @/tmp/.X11-unix/X0\n\
            0000000000000000: 00000003 00000000 00000000 0001 03  1342\n\
            0000000000000000: 00000002 00000000 00000000 0002 01  9999 relative\n\
            0000000000000000: 00000002 00000000 00000000 0002 01  9999 /run/dgram\n";
        assert_eq!(parse(table), [Path::new("/run/a b.sock"), Path::new("/run/dgram")]);
        assert_eq!(parse(b""), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn a_socket_that_is_listened_on_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("listening");
        let _listening = UnixListener::bind(&path).unwrap();
        assert!(bound().contains(&path));
    }
}
