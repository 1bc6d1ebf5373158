//! Views of directories: what is in one stays as it was when the command started, whatever happens to the directory.

use super::place::{Place, c_path, everybody, identity};
use std::ffi::CString;
use std::fs;
use std::io::Write;
use wharf_shim::confine::{Confine, Entry, Look, Mount, OwnNet, OwnUser};

fn name(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// A view of the place's `home` with these in it.
fn view(place: &Place, entries: Vec<Entry>) -> Mount {
    let home = place.path("home");
    let look = Look { mode: 0o750, owner: None };
    Mount::View { path: c_path(&home), is: identity(&home), look, entries: entries.into() }
}

#[test]
fn what_appears_or_is_replaced_behind_a_view_is_not_seen() {
    for who in everybody() {
        let place = Place::new(who);
        place.make_dir("home");
        place.make_dir("home/tool");
        place.make_file("home/tool/settings", "first\n");
        place.make_file("home/config", "shown\n");
        place.make_file("home/token", "secret");
        std::os::unix::fs::symlink("config", place.path("home/link")).unwrap();
        let entries = vec![
            Entry::Directory(name("tool")),
            Entry::File(name("config")),
            Entry::File(name("gone")),
            Entry::Link { name: name("link"), target: name("config") },
        ];
        let confine = Confine { mounts: vec![view(&place, entries)], ..place.confine() };
        let gate = place.path("root/gate");
        rustix::fs::mknodat(rustix::fs::CWD, &gate, rustix::fs::FileType::Fifo, 0o666.into(), 0).unwrap();
        fs::set_permissions(&gate, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        let line = "cat ../home/config ../home/link; read x < gate; ls ../home; cat ../home/config ../home/tool/*; \
            cat ../home/token ../home/later; touch ../home/x ../home/tool/x; stat -c %a ../home";
        let held = place.launch(&place.line(line, Some(confine))).unwrap();
        let mut go = fs::OpenOptions::new().write(true).open(&gate).unwrap();
        for changed in ["token", "config", "later"] {
            place.make_file("home/new", "SECOND\n");
            fs::rename(place.path("home/new"), place.path("home").join(changed)).unwrap();
        }
        // A directory is the same one, and what is in it is seen as it is now.
        place.make_file("home/tool/settings", "changed\n");
        go.write_all(b"\n").unwrap();
        let said = held.end();
        assert!(
            !said.output.contains("SECOND") && !said.output.contains("secret"),
            "{who:?}: {}",
            said.output
        );
        let expected = "shown\nshown\nconfig\ngone\nlink\ntool\nshown\nchanged\n";
        assert!(said.output.starts_with(expected), "{who:?}: {}", said.output);
        assert_eq!(said.output.matches("No such file").count(), 2, "{who:?}: {}", said.output);
        assert_eq!(said.output.matches("Read-only").count(), 1, "{who:?}: {}", said.output);
        assert!(said.output.ends_with("750\n"), "{who:?}: {}", said.output);
    }
}

/// A user namespace keeps everybody from looking into other processes, root too.
#[test]
fn in_a_user_namespace_of_its_own_even_root_looks_into_nobody() {
    for who in everybody() {
        let place = Place::new(who);
        let line =
            "cat /proc/$PPID/environ >/dev/null && echo looked; ls /proc/$PPID/root/ && echo entered; id -u";
        let namespaces = wharf_shim::confine::Namespaces::Mount { net: OwnNet::No, user: OwnUser::Always };
        let confine = Confine { namespaces, landlock: 0, ..place.confine() };
        let said = place.run(line, confine).succeeded();
        assert!(!said.contains("looked") && !said.contains("entered"), "{who:?}: {said}");
    }
}
