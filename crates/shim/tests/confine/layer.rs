//! Layers: what is written to a directory stays with the session, and the directory is as it was.

use super::place::{Place, c_path, everybody, identity};
use std::fs;
use std::io::Write;
use wharf_shim::confine::{Confine, Mount};

/// Everything read-only, with a layer over the place's `cache` whose changes go to `layers`.
pub(crate) fn confine(place: &Place, fresh: &[&str]) -> Confine {
    let cache = place.path("cache");
    let fresh = fresh.iter().map(|name| std::ffi::CString::new(*name).unwrap()).collect();
    let layer = Mount::Layer {
        path: c_path(&cache),
        is: identity(&cache),
        upper: c_path(&place.path("layers/one")),
        fresh,
    };
    let root = place.path("root");
    let mut confine = place.confine();
    confine.rules.push(super::place::rule(&cache, wharf_shim::confine::Access::Write));
    let writable = Mount::Writable { path: c_path(&root), is: identity(&root) };
    Confine { mounts: vec![Mount::Everything, writable, layer], ..confine }
}

pub(crate) fn place(who: super::place::Who) -> Place {
    let place = Place::new(who);
    for dir in ["layers", "cache", "cache/deep", "cache/server"] {
        place.make_dir(dir);
    }
    place.make_file("cache/kept", "kept\n");
    place.make_file("cache/deep/file", "deep\n");
    place.make_file("cache/server/cookie", "SECRET\n");
    place
}

pub(crate) fn untouched(place: &Place) {
    let read = |name: &str| fs::read_to_string(place.path("cache").join(name)).unwrap();
    assert_eq!((read("kept"), read("deep/file")), ("kept\n".to_owned(), "deep\n".to_owned()));
    assert_eq!(fs::read_dir(place.path("cache")).unwrap().count(), 3);
}

#[test]
fn what_is_written_to_a_layer_is_found_by_the_next_command_and_not_outside() {
    for who in everybody() {
        let place = place(who);
        let line =
            "cat ../cache/kept && echo changed > ../cache/kept && rm -r ../cache/deep && mkdir ../cache/new";
        assert_eq!(place.run(line, confine(&place, &[])).succeeded(), "kept\n", "{who:?}");
        untouched(&place);
        let line = "cat ../cache/kept && ls ../cache";
        assert_eq!(
            place.run(line, confine(&place, &[])).succeeded(),
            "changed\nkept\nnew\nserver\n",
            "{who:?}"
        );
    }
}

#[test]
fn no_second_name_of_a_file_leads_around_a_layer() {
    for who in everybody() {
        let place = place(who);
        fs::hard_link(place.path("cache/kept"), place.path("root/installed")).unwrap();
        let line =
            "echo changed > ../cache/kept; ln ../cache/kept second || echo other device; cat installed";
        let said = place.run(line, confine(&place, &[])).succeeded();
        assert!(said.contains("other device") && said.ends_with("kept\n"), "{who:?}: {said}");
    }
}

#[test]
fn two_commands_at_the_same_time_find_nothing_of_each_other() {
    for who in everybody() {
        let place = place(who);
        let gate = place.path("root/gate");
        rustix::fs::mknodat(rustix::fs::CWD, &gate, rustix::fs::FileType::Fifo, 0o666.into(), 0).unwrap();
        fs::set_permissions(&gate, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
        let line = "echo first > ../cache/kept; read x < gate; cat ../cache/kept";
        let held = place.launch(&place.line(line, Some(confine(&place, &[])))).unwrap();
        let mut go = fs::OpenOptions::new().write(true).open(&gate).unwrap();
        let other = place.run("cat ../cache/kept; echo second > ../cache/kept", confine(&place, &[]));
        assert_eq!(other.succeeded(), "kept\n", "{who:?}");
        go.write_all(b"\n").unwrap();
        assert_eq!(held.end().succeeded(), "first\n", "{who:?}");
        // The first is free again, and what was left there is found.
        assert_eq!(place.run("cat ../cache/kept", confine(&place, &[])).succeeded(), "first\n", "{who:?}");
        untouched(&place);
    }
}

#[test]
fn a_directory_in_a_layer_can_begin_empty() {
    for who in everybody() {
        let place = place(who);
        let line = "cat ../cache/server/cookie || echo none; echo own > ../cache/server/cookie";
        let said = place.run(line, confine(&place, &["server"])).succeeded();
        assert!(said.ends_with("none\n") && !said.contains("SECRET"), "{who:?}: {said}");
        assert_eq!(
            place.run("cat ../cache/server/cookie", confine(&place, &["server"])).succeeded(),
            "own\n"
        );
        untouched(&place);
    }
}

#[test]
fn a_layer_comes_back_where_something_else_covers_its_place() {
    for who in everybody() {
        let place = place(who);
        let (covered, instead) = (place.make_dir("covered"), place.make_dir("instead"));
        let inner = place.make_dir("covered/deep/cache");
        place.make_file("covered/deep/cache/kept", "kept\n");
        let mut confine = confine(&place, &[]);
        confine.mounts.pop();
        confine.mounts.push(Mount::Over {
            from: c_path(&instead),
            is: identity(&instead),
            onto: c_path(&covered),
        });
        confine.mounts.push(Mount::Layer {
            path: c_path(&inner),
            is: identity(&inner),
            upper: c_path(&place.path("layers/one")),
            fresh: Vec::new(),
        });
        confine.rules.push(super::place::rule(&covered, wharf_shim::confine::Access::Write));
        let line = "cd ../covered/deep/cache && cat kept && echo changed > kept && cat kept";
        assert_eq!(place.run(line, confine).succeeded(), "kept\nchanged\n", "{who:?}");
        assert_eq!(fs::read_to_string(inner.join("kept")).unwrap(), "kept\n");
    }
}

#[test]
fn names_that_mean_something_to_the_kernel_are_names_like_others() {
    for who in everybody() {
        let place = Place::new(who);
        let odd = place.make_dir("a:b,c\\d=e");
        let layer = Mount::Layer {
            path: c_path(&odd),
            is: identity(&odd),
            upper: c_path(&place.make_dir("up:per,x\\y").join("one")),
            fresh: Vec::new(),
        };
        let mut confine = place.confine();
        confine.rules.push(super::place::rule(&odd, wharf_shim::confine::Access::Write));
        let confine = Confine { mounts: vec![Mount::Everything, layer], ..confine };
        assert_eq!(place.run("cd ../a* && echo x > file && cat file", confine).succeeded(), "x\n", "{who:?}");
        assert_eq!(fs::read_dir(&odd).unwrap().count(), 0, "{who:?}");
    }
}

#[test]
fn where_no_layer_can_be_made_the_directory_stays_read_only() {
    for who in everybody() {
        let place = place(who);
        // The kernel makes none of a file.
        let mut confine = confine(&place, &[]);
        let file = place.path("cache/kept");
        if let Some(Mount::Layer { path, is, .. }) = confine.mounts.last_mut() {
            (*path, *is) = (c_path(&file), identity(&file));
        }
        let said =
            place.run("cat ../cache/kept; echo x > ../cache/kept || echo refused", confine).succeeded();
        assert!(said.starts_with("kept\n") && said.ends_with("refused\n"), "{who:?}: {said}");
    }
}
