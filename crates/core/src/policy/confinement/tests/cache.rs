//! Caches: which are written as they are, which in layers, and what tools are told of them.

use super::*;
use crate::policy::machine::Machine;
use wharf_shim::confine::Step;
use wharf_shim::probe::Obstacle;

fn plain() -> Spec {
    Spec::argv("/bin/true", [""; 0])
}

/// The value of a variable that a command has.
fn told(house: &House, spec: Spec, name: &str) -> Option<String> {
    let grant = house.grant_for(spec, "workspace").unwrap();
    let pairs = grant.env.iter().filter_map(|pair| pair.to_str().unwrap().split_once('='));
    pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_owned())
}

/// As on a machine that has mounts and no layers.
fn without_layers(house: &mut House) {
    let layers = Err(Obstacle { step: Step::Mount, errno: 22 });
    let machine = Machine { layers, ..house.places.machine().clone() };
    house.places.on(machine);
}

#[test]
fn what_stays_as_it_is_in_a_cache_is_kept_where_it_exists_and_else_the_cache_is_layered() {
    let mut house = House::new();
    let search = house.path("home/.cache/pip/bin");
    house.places.environment.push(("PATH".into(), search.into()));
    fs::create_dir_all(house.path("home/.ccache/0")).unwrap();
    fs::create_dir_all(house.path("home/.cache/pip")).unwrap();
    for cache in ["home/.ccache", "home/.cache/pip"] {
        assert!(house.layers(cache) && !house.writes(cache), "{cache}");
    }
    let settings = house.write("home/.ccache/ccache.conf");
    assert!(house.writes("home/.ccache") && !house.layers("home/.ccache"));
    let kept = Mount::ReadOnly { path: c_path(&settings).unwrap(), is: of(&settings) };
    assert!(house.mounts().contains(&kept));
    fs::create_dir(house.path("home/.cache/pip/bin")).unwrap();
    assert!(house.writes("home/.cache/pip"));
}

#[test]
fn a_cache_that_should_be_layered_and_cannot_is_not_written_by_any_way() {
    let mut house = House::new();
    let caches = [
        "home/.cache/uv",
        "home/.npm/_cacache",
        "home/go/pkg/mod/cache/download/golang.org",
        "home/.ccache",
        "home/.m2/repository",
    ];
    caches.iter().for_each(|name| fs::create_dir_all(house.path(name)).unwrap());
    for layered in ["home/.cache/uv", "home/.npm", "home/go/pkg/mod", caches[2], "home/.m2/repository"] {
        assert!(house.layers(layered), "{layered}");
    }
    assert!(house.writes("home/.npm/_cacache") && house.writes("home/go/pkg/mod/cache/download"));
    without_layers(&mut house);
    assert!(!house.mounts().iter().any(|mount| matches!(mount, Mount::Layer { .. })));
    assert!(house.writes("home/.npm/_cacache"));
    for closed in ["home/.cache/uv", "home/.npm", "home/go/pkg/mod/cache/download", "home/.ccache"] {
        assert!(!house.writes(closed), "{closed}");
    }
    let told = |name: &str| told(&house, plain(), name);
    assert_eq!(told("UV_CACHE_DIR"), Some("/tmp/caches/UV_CACHE_DIR".into()));
    assert_eq!(told("GOMODCACHE"), Some("/tmp/caches/GOMODCACHE".into()));
    let packages = house.path("state/tmp/caches/NPM_CONFIG_CACHE/_cacache");
    assert_eq!(fs::read_link(packages).unwrap(), house.path("home/.npm/_cacache"));
    let tail = format!("-Dmaven.repo.local.tail={}", house.path("home/.m2/repository").display());
    assert!(told("MAVEN_ARGS").unwrap().ends_with(&tail));
    assert_eq!(told("UV_LINK_MODE"), Some("copy".into()));
}

#[test]
fn tools_are_told_what_they_need_and_a_request_is_stronger() {
    let mut house = House::new();
    for name in ["home/.cache/uv", "home/.gradle"] {
        fs::create_dir_all(house.path(name)).unwrap();
    }
    let own = "-Dorg.gradle.daemon.registry.base=/tmp/gradle-daemon";
    assert_eq!(told(&house, plain(), "GRADLE_OPTS"), Some(own.into()));
    assert_eq!(told(&house, plain(), "UV_LINK_MODE"), Some("copy".into()));
    assert_eq!(told(&house, plain(), "UV_CACHE_DIR"), None);
    assert_eq!(told(&house, plain(), "BLACK_CACHE_DIR"), Some("/tmp/black".into()));
    house.text = "[env]\npass = [\"GRADLE_OPTS\"]\n";
    let inherited = plain().inherit([("GRADLE_OPTS", "-Xmx1g"), ("UV_LINK_MODE", "symlink")]);
    assert_eq!(told(&house, inherited.clone(), "GRADLE_OPTS"), Some(format!("-Xmx1g {own}")));
    assert_eq!(told(&house, inherited, "UV_LINK_MODE"), Some("symlink".into()));
}

#[test]
fn servers_that_run_what_they_are_told_begin_empty_in_a_layer_and_are_hidden_without() {
    let mut house = House::new();
    house.write("home/.cache/bazel/_bazel_u/abc/server/request_cookie");
    let fresh = |house: &House| {
        let layer = |mount: Mount| match mount {
            Mount::Layer { fresh, .. } => Some(fresh),
            _ => None,
        };
        house.mounts().into_iter().find_map(layer)
    };
    assert_eq!(fresh(&house).unwrap(), [c"_bazel_u/abc/server".to_owned()]);
    without_layers(&mut house);
    assert_eq!(fresh(&house), None);
    assert!(house.leaves_out("home/.cache/bazel/_bazel_u/abc/server"));
}
