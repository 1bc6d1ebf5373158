//! Programs that run others, with the options that they really have.

use super::Expect::{Allow, Deny, Nothing, Unknown};
use super::{Expect, RULES, judge_argv, judge_line, rules, said};

fn check(cases: &[(&str, Expect)]) {
    let rules = rules(RULES);
    for (line, expect) in cases {
        let matches = judge_line(&rules, "/bin/sh", line.as_bytes());
        assert_eq!(said(&matches), *expect, "{line}: {matches:#?}");
        // As an argv of its own, where nothing has to be read as a line.
        let words: Vec<&str> = line.split(' ').collect();
        if !line.contains(['\'', '"', '$', '|', ';', '\\']) {
            let matches = judge_argv(&rules, &format!("/usr/bin/{}", words[0]), &words[1..]);
            // Some of these programs are allowed where they run nothing.
            let said = if said(&matches) == Allow { Nothing } else { said(&matches) };
            assert_eq!(said, *expect, "{words:?}: {matches:#?}");
        }
    }
}

#[test]
fn what_takes_the_place_of_a_program_cannot_be_known() {
    check(&[
        ("echo curl | xargs -I{} {} x", Unknown),
        ("xargs -I {} {} x", Unknown),
        ("xargs -0I% % x", Unknown),
        ("xargs -i {} x", Unknown),
        ("xargs -iR R x", Unknown),
        ("xargs --replace {} x", Unknown),
        ("xargs --replace=R env R x", Unknown),
        ("xargs -I{} sh -c '{}'", Unknown),
        ("xargs -I{} sh -c 'rm {}'", Deny),
        ("xargs -I{} rm-{}", Unknown),
        ("xargs -I{} git push {}", Deny),
        ("xargs -I{} cp {} x", Nothing),
        ("xargs -I{} ls R", Nothing),
        ("xargs ls {}", Nothing),
        ("xargs --max-lines rm", Deny),
        ("xargs -l rm", Deny),
        ("find . -exec {} \\;", Unknown),
        ("find . -exec sh -c 'rm {}' \\;", Deny),
    ]);
}

#[test]
fn a_line_of_which_a_part_is_known_is_judged_by_that_part() {
    check(&[
        ("sh -c \"rm $x\"", Deny),
        ("bash -c \"cd $x && rm y\"", Deny),
        ("bash -c \"cd $x && ls\"", Unknown),
        ("bash -c \"$x\"", Unknown),
        ("eval \"git push -f $x\"", Deny),
        ("eval \"$(ssh-agent -s)\"", Unknown),
        ("trap \"rm $x\" EXIT", Deny),
        ("alias l=\"rm $x\"", Deny),
        ("alias l=\"ls $x\"", Unknown),
        ("su -c \"rm $x\"", Deny),
        ("watch rm $x", Deny),
    ]);
}

#[test]
fn programs_that_change_who_or_where_a_command_is() {
    check(&[
        ("runuser -u nobody rm x", Deny),
        ("runuser -u nobody -- rm x", Deny),
        ("runuser -unobody -g users rm x", Deny),
        ("runuser --user nobody rm x", Deny),
        ("runuser --user=nobody -P rm x", Deny),
        ("runuser -u rm ls", Nothing),
        ("runuser nobody -c 'rm x'", Deny),
        ("runuser - nobody -c 'rm x'", Deny),
        ("runuser nobody -- -c 'rm x'", Deny),
        ("runuser -s /bin/rm nobody x", Deny),
        ("runuser -l nobody", Nothing),
        ("su root -- -c 'rm x'", Deny),
        ("su -s /bin/rm root x", Deny),
        ("su - root", Nothing),
        ("sg users 'rm x'", Deny),
        ("sg users -c 'rm x'", Deny),
        ("sg - users -c 'rm x'", Deny),
        ("sg rm ls", Nothing),
        ("capsh -- -c 'rm x'", Deny),
        ("capsh --drop=all --user=x -- -c 'rm x'", Deny),
        ("capsh -+ -c 'rm x'", Deny),
        ("capsh == -- -c 'rm x'", Deny),
        ("capsh =+ -- -c 'rm x'", Deny),
        ("capsh --shell=/bin/rm -- x", Deny),
        ("capsh --print", Nothing),
        ("capsh --print -- -c ls", Nothing),
        ("chpst -u root:wheel -e env -/ / -P rm x", Deny),
        ("chpst -v -0 -b name -m 1 -o 2 -p 3 -f 4 -c 5 -t 6 rm x", Deny),
        ("chpst -u rm ls", Nothing),
        ("proot -r / -b /dev -w / -0 rm x", Deny),
        ("proot --rootfs=/x --bind=/dev --cwd=/ rm x", Deny),
        ("proot -q 'rm x' ls", Deny),
        ("proot -b rm ls", Nothing),
        ("start-stop-daemon --start --exec /bin/rm -- x", Deny),
        ("start-stop-daemon -S -p pid -x /bin/rm x", Deny),
        ("start-stop-daemon -Sbx /bin/git -- push -f", Deny),
        ("start-stop-daemon --start --name x --startas /bin/rm", Deny),
        ("start-stop-daemon --start --startas=/bin/sh -- -c 'rm x'", Deny),
        ("start-stop-daemon --start --exe /bin/rm", Deny),
        ("start-stop-daemon --start --exec /bin/ls -- rm", Nothing),
        ("start-stop-daemon --stop --pidfile rm", Nothing),
        ("/lib64/ld-linux-x86-64.so.2 /bin/rm x", Deny),
        ("ld-linux-aarch64.so.1 --library-path /x --argv0 ls /bin/rm x", Deny),
        ("ld.so --preload x /bin/rm x", Deny),
        ("/lib/ld-musl-x86_64.so.1 -- /bin/rm x", Deny),
        ("ld.so --argv0 rm /bin/ls", Nothing),
        ("ld -r rm", Nothing),
    ]);
}

#[test]
fn programs_that_watch_a_command() {
    check(&[
        ("ssh-agent rm x", Deny),
        ("ssh-agent -t 5 -a sock -E sha256 -P x rm x", Deny),
        ("ssh-agent -s", Nothing),
        ("ssh-agent -a rm", Nothing),
        ("logsave -av log rm x", Deny),
        ("logsave log rm x", Deny),
        ("logsave rm ls", Nothing),
        ("chronic rm x", Deny),
        ("chronic -ve rm x", Deny),
        ("ls | ifne rm x", Deny),
        ("ls | ifne -n rm x", Deny),
        ("perf stat rm x", Deny),
        ("perf stat -e cycles -r 5 -d -- rm x", Deny),
        ("perf stat --repeat=5 --per-core -o out rm x", Deny),
        ("perf stat --pre 'rm x' ls", Deny),
        ("perf stat --post='rm x' ls", Deny),
        ("perf record -g -F 99 -o out rm x", Deny),
        ("perf record --call-graph dwarf -- rm x", Deny),
        ("perf --no-pager stat rm x", Deny),
        ("perf stat -e rm ls", Nothing),
        ("perf report rm", Nothing),
        ("hyperfine 'rm x'", Deny),
        ("hyperfine -w 3 -r 5 ls 'rm x'", Deny),
        ("hyperfine --prepare 'rm x' ls", Deny),
        ("hyperfine -p 'rm x' ls", Deny),
        ("hyperfine --setup='rm x' ls", Deny),
        ("hyperfine -c 'rm x' ls", Deny),
        ("hyperfine --conclude 'rm x' ls", Deny),
        ("hyperfine --reference 'rm x' ls", Deny),
        ("hyperfine -S 'rm' ls", Deny),
        ("hyperfine -P n 1 8 'make -j {n}' 'rm x'", Deny),
        ("hyperfine -L c gcc,clang '{c} x'", Unknown),
        ("hyperfine -N -n rm --export-json rm ls", Nothing),
        ("hyperfine -L rm a,b ls", Nothing),
    ]);
}

#[test]
fn programs_that_find_a_command_or_what_to_give_it() {
    check(&[
        ("fd -x rm", Deny),
        ("fd -e rs -X rm {}", Deny),
        ("fdfind pattern dir --exec rm", Deny),
        ("fd --exec-batch=rm", Deny),
        ("fd -Hxrm", Deny),
        ("fd -HX rm", Deny),
        ("fd -x sh -c 'rm {}'", Deny),
        ("fd -x git push", Deny),
        ("fd -x {}", Unknown),
        ("fd -x {//}/rm", Deny),
        ("fd -x ls \\; -x rm", Deny),
        ("fd -x ls", Nothing),
        ("fd -t x rm", Nothing),
        ("fd -tx rm", Nothing),
        ("fd -ex rm", Nothing),
        ("fd -- -x rm", Nothing),
        ("npx -c 'rm x'", Deny),
        ("npx --call 'rm x'", Deny),
        ("npx --call='rm x'", Deny),
        ("npx -y -p pkg -c 'rm x'", Deny),
        ("npx --package=pkg -- rm x", Deny),
        ("npx --yes rm x", Deny),
        ("npx -p rm tsc", Nothing),
        ("npx eslint rm", Nothing),
        ("npm exec -c 'rm x'", Deny),
        ("npm exec -- rm x", Deny),
        ("npm x -c 'rm x'", Deny),
        ("npm install rm", Nothing),
        ("uv run rm x", Deny),
        ("uv run -- rm x", Deny),
        ("uv -q --directory sub run --with pkg -p 3.12 --extra dev rm x", Deny),
        ("uv run --no-sync --frozen --env-file .env rm x", Deny),
        ("uv run --brand-new rm x", Deny),
        ("uv run --with rm pytest", Nothing),
        ("uv run -m pytest -k rm", Nothing),
        ("uv run pytest rm", Nothing),
        ("uv pip install rm", Nothing),
        ("uv --brand-new pip install rm", Nothing),
        ("uv --brand-new run rm x", Deny),
        ("poetry run rm x", Deny),
        ("poetry -C sub -n run rm x", Deny),
        ("poetry --directory=sub --no-ansi -vvv run rm x", Deny),
        ("poetry run pytest rm", Nothing),
        ("poetry add rm", Nothing),
        ("poetry -P rm install", Nothing),
    ]);
}
