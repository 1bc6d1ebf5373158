//! Ordinary work: what people do all day comes to the same in `workspace` as in the open, as root and as an ordinary user.

use super::Profile;
use super::job::{Job, PLAIN, Stream};

/// Each job as two tests: first that it can be done at all, then that it can be done in `workspace`.
macro_rules! jobs {
    ($($name:ident: $job:expr;)*) => {
        mod in_the_open {
            use super::*;
            $(#[test] fn $name() { $job.is_done_in(Profile::Open); })*
        }
        mod in_workspace {
            use super::*;
            $(#[test] fn $name() { $job.is_done_in(Profile::Workspace); })*
        }
    };
}

/// A repository of the root, with a hook that says so when it runs.
const REPOSITORY: &str = "git init -q . && echo one > file && git add file && git commit -qm first
printf '#!/bin/sh\\necho hook\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit";

jobs! {
    git_makes_a_repository_of_the_root: Job {
        needs: &["git"],
        script: "git init -q . && echo one > file && git add file && git commit -qm first && git log --format='%s by %an'",
        prints: "first by A Person\n",
        ..PLAIN
    };
    git_makes_a_repository_in_the_root: Job {
        needs: &["git"],
        before: REPOSITORY,
        script: "mkdir sub && cd sub && git init -q . && git commit -q --allow-empty -m inner && git log --format=%s
            printf '#!/bin/sh\\necho inner hook\\n' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit
            git commit --allow-empty -qm again",
        prints: "inner\ninner hook\n",
        ..PLAIN
    };
    git_commits_branches_merges_and_tidies: Job {
        needs: &["git"],
        before: REPOSITORY,
        script: "git checkout -qb topic && echo two >> file && git commit -qam second && git tag v1
            git checkout -q main && echo other > other && git add other && git commit -qm third
            git merge -q --no-edit topic && git stash list && git rebase -q main && git gc -q && git fsck 2>/dev/null
            git log --format=%s | sort && git status --short && cat file",
        prints: "hook\nhook\nMerge branch 'topic'\nfirst\nsecond\nthird\none\ntwo\n",
        ..PLAIN
    };
    git_sets_remotes_and_settings: Job {
        needs: &["git"],
        before: REPOSITORY,
        script: "git clone -q --bare . far.git && git remote add far ./far.git && git push -q far main && git fetch -q far
            git config pull.rebase true && git branch -q --set-upstream-to=far/main && git pull -q
            git remote -v | head -1 && git config pull.rebase",
        prints: "far\t./far.git (fetch)\ntrue\n",
        ..PLAIN
    };
    git_clones_and_works_in_the_clone: Job {
        needs: &["git"],
        before: REPOSITORY,
        script: "git clone -q . copy && cd copy && echo two > file && git commit -qam 'in the copy' && git push -q origin HEAD:copy
            cd .. && git log --format=%s refs/heads/copy",
        prints: "in the copy\nfirst\n",
        ..PLAIN
    };
    git_adds_a_worktree: Job {
        needs: &["git"],
        before: REPOSITORY,
        script: "git worktree add -q -b side tree && cd tree && echo two > file && git commit -qam 'beside'
            cd .. && git log --format=%s side && git worktree remove tree && git worktree list | wc -l",
        prints: "hook\nbeside\nfirst\n1\n",
        ..PLAIN
    };
    git_works_with_a_repository_behind_a_symlink: Job {
        needs: &["git"],
        before: "git init -q . && mv .git store && ln -s store .git && echo store > .gitignore",
        script: "echo one > file && git add file .gitignore && git commit -qm linked && git remote add far ../far
            git log --format=%s && test -L .git && git status --short",
        prints: "linked\n",
        ..PLAIN
    };
    git_works_with_a_repository_behind_a_file: Job {
        needs: &["git"],
        before: "git init -q --separate-git-dir=store . && echo store > .gitignore",
        script: "echo one > file && git add file .gitignore && git commit -qm apart && git log --format=%s && test -f .git",
        prints: "apart\n",
        ..PLAIN
    };
    cargo_builds_tests_and_runs: Job {
        needs: &["cargo", "rustc", "cc"],
        before: "mkdir src && printf '[package]\\nname = \"tiny\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n[workspace]\\n' > Cargo.toml
            printf 'fn main() { println!(\"built\"); }\\n#[test]\\nfn one() {}\\n#[test]\\nfn two() {}\\n' > src/main.rs",
        script: "cargo build -q --offline && cargo test -q --offline | grep -c '^test result: ok. 2 passed' && cargo run -q --offline
            cargo clean -q && test ! -e target",
        prints: "1\nbuilt\n",
        ..PLAIN
    };
    npm_installs_and_runs: Job {
        needs: &["npm", "node"],
        before: r#"mkdir left && echo '{"name":"left","version":"1.0.0"}' > left/package.json && echo 'module.exports = "left"' > left/index.js
            echo '{"name":"top","private":true,"dependencies":{"left":"file:./left"},"scripts":{"build":"node build.js"}}' > package.json
            echo 'console.log(require("left"))' > build.js
            printf 'offline=true\naudit=false\nfund=false\nupdate-notifier=false\n' > .npmrc
            npm install --package-lock-only --silent"#,
        script: "npm ci --silent && npm run --silent build && test -d node_modules/left/
            npm ls --silent >/dev/null && rm -rf node_modules",
        prints: "left\n",
        ..PLAIN
    };
    create_vite_makes_a_project_of_the_root: Job {
        needs: &["create-vite", "node"],
        script: "create-vite . --template vanilla --no-interactive >/dev/null </dev/null && test -e package.json && ls -A",
        prints: ".gitignore\nindex.html\npackage.json\npublic\nsrc\n",
        ..PLAIN
    };
    uv_makes_a_project_of_the_root: Job {
        needs: &["uv", "python3", "git"],
        before: "git init -q .",
        script: "uv init -q --offline --python /usr/bin/python3 --name project . && git status --short | sort
            uv lock -q --offline --python /usr/bin/python3 && test -e uv.lock && echo locked",
        prints: "?? .python-version\n?? README.md\n?? pyproject.toml\n?? src/\nlocked\n",
        ..PLAIN
    };
    claude_adds_a_server_for_the_project: Job {
        needs: &["claude"],
        script: "claude mcp add --scope project demo -- /bin/true >/dev/null && grep -c demo .mcp.json",
        prints: "1\n",
        ..PLAIN
    };
    node_starts_children_and_threads: Job {
        needs: &["node"],
        script: r#"node -e '
            const { execFileSync, fork, spawn } = require("child_process")
            const { Worker } = require("worker_threads")
            console.log(execFileSync("echo", ["child"]).toString().trim())
            require("fs").writeFileSync("ipc.js", "process.on(\"message\", m => { process.send(m + 1); process.disconnect() })")
            const peer = fork("./ipc.js")
            peer.on("message", m => {
                console.log("ipc", m)
                new Worker("console.log(\"worker\")", { eval: true }).on("exit", () => {
                    spawn("sh", ["-c", "echo piped"], { stdio: "inherit" })
                })
            })
            peer.send(1)'"#,
        prints: "child\nipc 2\nworker\npiped\n",
        ..PLAIN
    };
    pip_installs_into_an_environment: Job {
        needs: &["python3"],
        before: "mkdir package && echo 'word = \"installed\"' > package/demo_module.py
            printf 'from setuptools import setup\\nsetup(name=\"demo\", version=\"1.0\", py_modules=[\"demo_module\"])\\n' > package/setup.py",
        script: "/usr/bin/python3 -m venv env
            env/bin/pip install -q --no-index --no-build-isolation --disable-pip-version-check ./package 2>/dev/null
            env/bin/python -c 'import demo_module; print(demo_module.word)'",
        prints: "installed\n",
        ..PLAIN
    };
    python_runs_tests_with_processes_and_temporary_files: Job {
        needs: &["python3"],
        before: r#"cat > test_it.py <<'END'
import multiprocessing, os, socket, subprocess, tempfile, unittest

def square(x):
    return x * x

class It(unittest.TestCase):
    def test_pool(self):
        with multiprocessing.Pool(4) as pool:
            self.assertEqual(sum(pool.map(square, range(100))), 328350)
    def test_queue(self):
        queue = multiprocessing.Queue()
        queue.put("x")
        self.assertEqual(queue.get(timeout=20), "x")
    def test_temporary(self):
        with tempfile.TemporaryDirectory() as place, open(f"{place}/x", "w") as file:
            file.write("x")
    def test_child(self):
        self.assertEqual(subprocess.run(["echo", "x"], capture_output=True).stdout, b"x\n")
    def test_loopback(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname()).close()
    def test_unix_socket(self):
        with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as server:
            server.bind(f"{place}/s")
            server.listen()
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(f"{place}/s")
END"#,
        script: "python3 -m unittest -q test_it 2>&1 | tail -1 && test -d __pycache__",
        prints: "OK\n",
        ..PLAIN
    };
    make_compiles_in_parallel: Job {
        needs: &["make", "gcc"],
        before: "for i in 1 2 3 4 5 6; do echo \"int f$i(void) { return $i; }\" > f$i.c; done
            echo 'int f1(void), f6(void); int main(void) { return f1() + f6() - 7; }' > main.c
            printf 'all: program\\n\\t./program && echo made\\nprogram: main.o f1.o f2.o f3.o f4.o f5.o f6.o\\n\\t@$(CC) -o $@ $^\\nclean:\\n\\t@rm -f *.o program\\n' > Makefile",
        script: "make -s -j4 CC=gcc && make -s clean && ls *.c | wc -l",
        prints: "made\n7\n",
        ..PLAIN
    };
    sqlite_keeps_a_database: Job {
        needs: &["python3"],
        script: r#"python3 -c '
import sqlite3
db = sqlite3.connect("x.db")
print(db.execute("pragma journal_mode = wal").fetchone()[0])
db.execute("create table t (a)")
db.executemany("insert into t values (?)", [(n,) for n in range(1000)])
db.commit()
print(sqlite3.connect("x.db").execute("select sum(a) from t").fetchone()[0])'"#,
        prints: "wal\n499500\n",
        ..PLAIN
    };
    the_shell_writes_temporary_files_and_here_documents: Job {
        script: "f=$(mktemp) && d=$(mktemp -d) && echo x > $d/y && mv $d/y $f && cat $f && rm -r $f $d
            cat <<END\nhere $((1+1))\nEND\ncat <<< string && cat <(echo process) && echo x > /dev/null && echo tty > /dev/stderr
            test -w /tmp && echo shm > /dev/shm/$$ && rm /dev/shm/$$ && head -c 4 /dev/urandom | wc -c",
        prints: "x\nhere 2\nstring\nprocess\ntty\n4\n",
        ..PLAIN
    };
    // A job has its name once it has executed its program, which may be later than the shell looks for it.
    the_shell_looks_at_processes_and_signals_its_own: Job {
        needs: &["ps"],
        script: "ps -o comm= -p $$; sleep 100 & p=$!; kill -0 $p && kill $p
            wait $p || echo ended by $?; nice -n 5 true && timeout 10 true
            trap 'echo trapped' USR1 && kill -USR1 $$ && ulimit -c 0; sleep 100 & until pkill -P $$ sleep; do :; done; wait; echo all gone",
        prints: "bash\nended by 143\ntrapped\nall gone\n",
        ..PLAIN
    };
    a_shell_on_a_terminal_controls_jobs: Job {
        script: "exec 2>/dev/null; set -m; sleep 100 & jobs | grep -c Running; kill %1; wait %1 || echo ended by $?
            cat < /dev/tty & until jobs | grep -q Stopped; do :; done; echo stopped at the keyboard; kill -9 %%
            stty size && test -t 1 && test -c $(tty) && echo named",
        prints: "1\nended by 143\nstopped at the keyboard\n24 80\nnamed\n",
        on: Stream::Pty,
        ..PLAIN
    };
    files_are_copied_linked_and_changed_as_usual: Job {
        script: "mkdir a && echo x > a/f && cp -a a b && chmod 755 b/f && touch -d '2020-01-01' b/f && ln a/f a/g && ln -s f a/h
            mv b c && tar cf t.tar a c && mkdir o && tar xf t.tar -C o && diff -r a o/a && stat -c '%a %h' o/c/f a/f
            truncate -s 10 a/f && mkfifo p && rm -r a c o t.tar p && ls",
        prints: "755 1\n644 2\n",
        ..PLAIN
    };
    other_programs_are_found_and_names_resolved: Job {
        script: "command -v sed >/dev/null && id -un >/dev/null; date +%Z && uname -s && hostname >/dev/null && locale -a >/dev/null
            getent hosts localhost >/dev/null && ls / /etc /usr/bin >/dev/null && test -r /etc/passwd && pwd -P >/dev/null && echo $LANG $HOME | grep -c home",
        prints: "UTC\nLinux\n1\n",
        ..PLAIN
    };
}
