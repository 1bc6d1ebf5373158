//! Caches that are more than caches: what a person's tools run or link from there cannot be changed from inside, and work
//! that needs them is done all the same.

#![expect(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::Profile;
use super::cast::{Surroundings, User};
use super::ground::Ground;
use super::job::{Job, Stream, bash, say, workshop_in};
use super::left::users;

/// Something that a tool runs by itself, and an attempt to have it run something else.
struct Plant {
    tool: &'static str,
    needs: &'static [&'static str],
    /// What the person has done before, in a directory of their own.
    before: &'static str,
    /// What a command tries, with `PWNED` in what it leaves.
    attempt: &'static str,
    /// What the person's tool does afterwards. It prints nothing else.
    after: &'static str,
}

/// Real tools, from outside and from inside.
const TOOLS: &[Plant] = &[
    Plant {
        tool: "npx",
        needs: &["npm", "node"],
        before: r#"mkdir server && cd server && echo '{"name":"server","version":"1.0.0","bin":{"server":"server.js"}}' > package.json
            printf '#!/usr/bin/env node\nconsole.log("honest")\n' > server.js && npm pack --silent >/dev/null
            npx --offline -y --package=./server-1.0.0.tgz server >/dev/null"#,
        attempt: "for file in ~/.npm/_npx/*/node_modules/server/server.js; do
            printf '#!/usr/bin/env node\nconsole.log(\"PWNED\")\n' > $file; done",
        after: "cd server && npx --offline -y --package=./server-1.0.0.tgz server",
    },
    Plant {
        tool: "an environment of Poetry",
        needs: &["python3"],
        before: "/usr/bin/python3 -m venv --without-pip ~/.cache/pypoetry/virtualenvs/other-py3",
        attempt: "for dir in ~/.cache/pypoetry/virtualenvs/other-py3/lib/*/site-packages; do
            echo 'import sys; sys.stdout.write(\"PWNED\")' > $dir/x.pth; done",
        after: "~/.cache/pypoetry/virtualenvs/other-py3/bin/python -c 'print(\"honest\")'",
    },
    Plant {
        tool: "uv",
        needs: &["uv", "python3"],
        before: concat!(include_str!("attempts/wheel.sh"), "
            uv venv -q --offline --python /usr/bin/python3 env
            uv pip install -q --offline --python env ./demo-1.0-py3-none-any.whl"),
        attempt: "for file in ~/.cache/uv/archive-v0/*/demo_module.py; do echo 'word = \"PWNED\"' > $file; done",
        after: "env/bin/python -B -c 'import demo_module; print(demo_module.word)'",
    },
    Plant {
        tool: "uvx",
        needs: &["uv", "python3"],
        before: concat!(include_str!("attempts/wheel.sh"), "
            uv run -q --offline --no-project --python /usr/bin/python3 --with ./demo-1.0-py3-none-any.whl true"),
        attempt: "for file in ~/.cache/uv/archive-v0/*/demo_module.py; do echo 'word = \"PWNED\"' > $file; done",
        after: "uv run -q --offline --no-project --python /usr/bin/python3 --with ./demo-1.0-py3-none-any.whl \
            python -B -c 'import demo_module; print(demo_module.word)'",
    },
    Plant {
        tool: "pnpm",
        needs: &["pnpm", "npm", "node"],
        before: concat!(include_str!("attempts/tarball.sh"), "
            mkdir top && cd top && echo '{\"private\":true,\"dependencies\":{\"left\":\"file:../left/left-1.0.0.tgz\"}}' > package.json
            pnpm install --offline --silent"),
        attempt: "for file in $(grep -rl 'module.exports' ~/.local/share/pnpm/store); do echo 'module.exports = \"PWNED\"' > $file; done",
        after: "cd top && node -e 'console.log(require(\"left\"))'",
    },
    Plant {
        tool: "a build script, as language servers run it",
        needs: &["cargo", "rustc", "cc", "git"],
        before: include_str!("attempts/crate.sh"),
        attempt: "for file in ~/.cargo/git/checkouts/*/*/build.rs; do
            echo 'fn main() { println!(\"cargo::warning=PWNED\"); panic!() }' > $file; done",
        after: "cd top && rm -rf target && { cargo check --offline 2>&1 | grep -o PWNED || echo honest; }",
    },
    Plant {
        tool: "ccache",
        needs: &["ccache", "gcc"],
        before: "mkdir ~/.ccache && echo 'int x;' > x.c && CCACHE_DIR=~/.ccache ccache gcc -c x.c && rm -f ~/.ccache/ccache.conf",
        attempt: "echo 'prefix_command = sh -c \"echo PWNED\"' > ~/.ccache/ccache.conf",
        after: "echo 'int y;' > y.c && CCACHE_DIR=~/.ccache ccache gcc -c y.c; echo honest",
    },
    Plant {
        tool: "go",
        needs: &["go"],
        before: "mkdir -p ~/go/pkg/mod/cache/download/golang.org/toolchain/@v",
        attempt: "dir=~/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/bin; mkdir -p $dir
            printf '#!/bin/sh\necho PWNED\n' > $dir/go; chmod +x $dir/go",
        after: "GOTOOLCHAIN=go1.99.0 GOFLAGS=-mod=mod GOPROXY=off go version || echo honest",
    },
];

/// Places of tools that are not here, by the file that they run. It is there, with what it should say, or must not be made.
const PLACES: [(&str, &str); 14] = [
    ("gradlew", ".gradle/wrapper/dists/gradle-8/bin/gradle"),
    ("gradle", ".gradle/native/x/libnative-platform.so"),
    ("an editor with gradle", ".gradle/caches/modules-2/files-2.1/plugin.jar"),
    ("mvnw", ".m2/wrapper/dists/maven/bin/mvn"),
    ("an editor with maven", ".m2/repository/processor.jar"),
    ("sbt", ".sbt/boot/launcher.jar"),
    ("bazel", ".cache/bazel/_bazel_u/install/0/server.jar"),
    ("helm", ".cache/helm/plugins/diff/bin/diff"),
    ("tsserver", ".cache/typescript/5.9/.npmrc"),
    ("black", ".cache/black/25/cache.pickle"),
    ("pylint", ".cache/pylint/x.stats"),
    ("rust-analyzer", ".cargo/registry/src/index/x-1.0.0/build.rs"),
    ("an editor with dotnet", ".nuget/packages/x/1.0.0/analyzers/x.dll"),
    ("deno", ".cache/deno/npm/registry/x/index.js"),
];

/// Whether the person's tool says something else afterwards.
fn is_planted(plant: &Plant, user: User, surroundings: Surroundings, profile: Profile) -> bool {
    let ground = workshop_in(user, surroundings);
    let mine = ground.path("outside/mine");
    std::fs::create_dir(&mine).unwrap();
    user.own(&mine);
    let outside = |what: &str, script: &str| {
        let done = bash(&ground, Profile::Open, &format!("cd ../outside/mine; {script}"), Stream::Pipe);
        assert_eq!(done.code, Some(0), "{}, {what} as {user:?}: {done:?}", plant.tool);
        done.out
    };
    outside("before", plant.before);
    let done = bash(&ground, profile, &format!("set +e; {}; exit 0", plant.attempt), Stream::Pipe);
    assert_eq!(done.code, Some(0), "{} as {user:?} in {}: {done:?}", plant.tool, profile.name());
    let said = outside("after", plant.after);
    assert!(said.contains("PWNED") || said == "honest\n", "{}: {said}", plant.tool);
    said.contains("PWNED")
}

/// The ones that can be tried here.
fn plants(user: User) -> impl Iterator<Item = &'static Plant> {
    TOOLS.iter().filter(move |plant| {
        let job = Job { needs: plant.needs, before: "", script: "", prints: "", on: Stream::Pipe };
        let missing = job.missing(user);
        missing.iter().for_each(|why| say(&format!("skipped {} as {user:?}: {why}", plant.tool)));
        missing.is_none()
    })
}

#[test]
fn what_tools_run_by_themselves_can_be_changed_in_the_open() {
    for user in users() {
        for plant in plants(user) {
            assert!(
                is_planted(plant, user, Surroundings::Usual, Profile::Open),
                "{} as {user:?}",
                plant.tool
            );
        }
    }
}

/// None of them can.
fn none_is_planted((surroundings, profile): (Surroundings, Profile)) {
    for user in users() {
        for plant in plants(user) {
            let planted = is_planted(plant, user, surroundings, profile);
            assert!(!planted, "{} as {user:?} in {} on {surroundings:?}", plant.tool, profile.name());
        }
    }
}

#[test]
fn what_tools_run_by_themselves_cannot_be_changed_in_layers() {
    none_is_planted(EVERYWHERE[0]);
}

#[test]
fn what_tools_run_by_themselves_cannot_be_changed_without_layers() {
    none_is_planted(EVERYWHERE[1]);
}

#[test]
fn what_tools_run_by_themselves_cannot_be_changed_with_rules_alone() {
    none_is_planted(EVERYWHERE[2]);
}

/// With mounts and layers, with mounts alone, and with rules alone.
const EVERYWHERE: [(Surroundings, Profile); 3] = [
    (Surroundings::Usual, Profile::Workspace),
    (Surroundings::NoLayers, Profile::Workspace),
    (Surroundings::Usual, Profile::Bare),
];

/// Which of the places are changed.
fn changed(user: User, surroundings: Surroundings, profile: Profile) -> Vec<&'static str> {
    let ground = workshop_in(user, surroundings);
    let mut make = String::new();
    let mut attempt = "set +e; ".to_owned();
    for (_, place) in PLACES {
        make += &format!("mkdir -p $(dirname ~/{place}); echo honest > ~/{place}; ");
        attempt += &format!("chmod u+w ~/{place}; echo PWNED > ~/{place}; echo PWNED > ~/{place}.new; ");
    }
    assert_eq!(bash(&ground, Profile::Open, &make, Stream::Pipe).code, Some(0));
    let done = bash(&ground, profile, &(attempt + "exit 0"), Stream::Pipe);
    assert_eq!(done.code, Some(0), "as {user:?}: {done:?}");
    let is_changed = |place: &str| {
        let file = ground.path("home").join(place);
        std::fs::read_to_string(&file).unwrap() != "honest\n"
            || ground.path(&format!("home/{place}.new")).exists()
    };
    PLACES.iter().filter(|(_, place)| is_changed(place)).map(|(tool, _)| *tool).collect()
}

#[test]
fn places_of_tools_that_run_what_is_there_are_not_written_from_a_sandbox() {
    for user in users() {
        let all = changed(user, Surroundings::Usual, Profile::Open);
        assert_eq!(all.len(), PLACES.len(), "as {user:?}");
        for (surroundings, profile) in EVERYWHERE {
            let changed = changed(user, surroundings, profile);
            assert_eq!(changed, [""; 0], "as {user:?} in {} on {surroundings:?}", profile.name());
        }
    }
}

const PLAIN: Job = Job { needs: &[], before: "", script: "", prints: "", on: Stream::Pipe };

/// Work that needs those caches: with what the person has there already, and with what is new.
const WORK: [Job; 5] = [
    Job {
        needs: &["uv", "python3"],
        before: concat!(include_str!("attempts/wheel.sh"), "
            uv run -q --offline --no-project --python /usr/bin/python3 --with ./demo-1.0-py3-none-any.whl true"),
        script: "uv venv -q --offline --python /usr/bin/python3 env
            uv pip install --offline --python env ./demo-1.0-py3-none-any.whl 2>&1 | grep -ci warn || true
            env/bin/python -c 'import demo_module; print(demo_module.word)'
            uv run -q --offline --no-project --python /usr/bin/python3 --with ./demo-1.0-py3-none-any.whl \
                python -c 'import demo_module; print(demo_module.word)'",
        prints: "0\nhonest\nhonest\n",
        ..PLAIN
    },
    Job {
        needs: &["pnpm", "npm", "node"],
        before: concat!(include_str!("attempts/tarball.sh"), "
            echo '{\"private\":true,\"dependencies\":{\"left\":\"file:left/left-1.0.0.tgz\"}}' > package.json; mkdir -p ~/.local/share/pnpm/store ~/.cache/pnpm"),
        script: "pnpm install --offline --silent && node -e 'console.log(require(\"left\"))'
            rm -r node_modules && pnpm install --offline --silent --frozen-lockfile && node -e 'console.log(require(\"left\"))'",
        prints: "honest\nhonest\n",
        ..PLAIN
    },
    Job {
        needs: &["npm", "node"],
        before: r#"mkdir server && cd server && echo '{"name":"server","version":"1.0.0","bin":{"server":"server.js"}}' > package.json
            printf '#!/usr/bin/env node\nconsole.log("served")\n' > server.js && npm pack --silent >/dev/null"#,
        script: "export npm_config_update_notifier=false; npx --offline -y --package=./server/server-1.0.0.tgz server",
        prints: "served\n",
        ..PLAIN
    },
    Job {
        needs: &["cargo", "rustc", "cc", "git"],
        before: include_str!("attempts/crate.sh"),
        script: "cd top && cargo build -q && cargo run -q
            cd ../fresh && cargo build -q && cargo run -q",
        prints: "honest\nhonest\n",
        ..PLAIN
    },
    Job {
        needs: &["npm", "node"],
        before: concat!(include_str!("attempts/tarball.sh"), "
            echo '{\"private\":true,\"dependencies\":{\"left\":\"file:left/left-1.0.0.tgz\"}}' > package.json
            npm install --offline --package-lock-only --silent"),
        script: "npm ci --offline --silent && node -e 'console.log(require(\"left\"))'",
        prints: "honest\n",
        ..PLAIN
    },
];

/// Does all of it that can be done here.
fn is_done(surroundings: Surroundings, profile: Profile) {
    for (user, job) in users().into_iter().flat_map(|user| WORK.iter().map(move |job| (user, job))) {
        match job.missing(user) {
            Some(why) => say(&format!("skipped as {user:?}: {why}")),
            None => job.is_done_on(&workshop_in(user, surroundings), user, profile),
        }
    }
}

#[test]
fn work_with_such_caches_is_done_in_the_open() {
    is_done(Surroundings::Usual, Profile::Open);
}

#[test]
fn work_with_such_caches_is_done_in_layers() {
    is_done(Surroundings::Usual, Profile::Workspace);
}

#[test]
fn work_with_such_caches_is_done_without_layers() {
    is_done(Surroundings::NoLayers, Profile::Workspace);
}

#[test]
fn work_with_such_caches_is_done_with_rules_alone() {
    is_done(Surroundings::Usual, Profile::Bare);
}

/// What a session keeps in its layers goes with it.
#[test]
fn nothing_of_a_layer_is_left_when_its_terminal_is_gone() {
    for user in users() {
        let ground: Ground = workshop_in(user, Surroundings::Usual);
        let make = "mkdir -p ~/.cache/uv/kept";
        assert_eq!(bash(&ground, Profile::Open, make, Stream::Pipe).code, Some(0));
        let script = "echo x > ~/.cache/uv/new && rmdir ~/.cache/uv/kept && mkdir -m 0555 ~/.cache/uv/closed && ls ~/.cache/uv";
        let done = bash(&ground, Profile::Workspace, script, Stream::Pipe);
        assert_eq!((done.code, done.out.as_str()), (Some(0), "closed\nnew\n"), "as {user:?}: {done:?}");
        let names = std::fs::read_dir(ground.path("home/.cache/uv")).unwrap().flatten();
        assert_eq!(names.map(|entry| entry.file_name()).collect::<Vec<_>>(), ["kept"]);
    }
}
