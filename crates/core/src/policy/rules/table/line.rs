//! Shell lines.

use super::Expect::{Allow, Ask, Deny, Nothing, Unknown, Unreadable};
use super::{RULES, judge_line, rules, said};

#[test]
fn a_line_is_judged_by_every_part_and_granted_by_none() {
    let rules = rules(RULES);
    for (line, expect) in [
        ("ls", Nothing),
        ("cargo test", Nothing),
        ("", Nothing),
        ("# rm x", Nothing),
        ("echo 'rm x'", Nothing),
        ("echo rm x", Nothing),
        ("rm x", Deny),
        ("ls; rm x", Deny),
        ("ls && rm x", Deny),
        ("ls || rm x", Deny),
        ("ls | rm x", Deny),
        ("ls |& rm x", Deny),
        ("ls & rm x", Deny),
        ("ls\nrm x", Deny),
        ("(rm x)", Deny),
        ("{ rm x; }", Deny),
        ("! rm x", Deny),
        ("time -p rm x", Deny),
        ("((rm x))", Deny),
        ("if true; then rm x; fi", Deny),
        ("if rm x; then :; elif a; then b; else c; fi", Deny),
        ("while rm x; do :; done", Deny),
        ("until false; do rm x; done", Deny),
        ("for i in a b; do rm $i; done", Deny),
        ("for i in $(rm x); do :; done", Deny),
        ("for ((i=0; i<3; i++)); do rm x; done", Deny),
        ("case x in a) ls ;; b|c) rm x ;; esac", Deny),
        ("case $(rm x) in *) ;; esac", Deny),
        ("f() { rm x; }; f", Deny),
        ("function f { rm x; }; f", Deny),
        ("rm() { echo; }; rm x", Deny),
        ("git() { rm x; }; git status", Deny),
        ("echo $(rm x)", Deny),
        ("echo \"$(rm x)\"", Deny),
        ("echo '$(rm x)'", Nothing),
        ("echo `rm x`", Deny),
        ("echo \"`rm x`\"", Deny),
        ("echo `echo \\`rm x\\``", Deny),
        ("echo ${x:-$(rm x)}", Deny),
        ("echo ${x:-`rm x`}", Deny),
        ("echo ${ rm x; }", Deny),
        ("echo $((1 + $(rm x)))", Deny),
        ("echo $((1+2))", Nothing),
        ("diff <(ls) <(rm x)", Deny),
        ("tee >(rm x) < y", Deny),
        ("a=$(rm x)", Deny),
        ("a=(b $(rm x))", Deny),
        ("cat <<EOF\n$(rm x)\nEOF", Deny),
        ("cat <<'EOF'\n$(rm x)\nEOF", Nothing),
        ("cat <<EOF\nEOF\nrm x", Deny),
        ("cat <<-EOF\n\t\tx\n\tEOF\nrm x", Deny),
        ("cat <<A <<B\nrm a\nA\nrm b\nB\n", Nothing),
        ("cat <<A; rm x\nA\n", Deny),
        ("bash <<EOF\nrm x\nEOF", Deny),
        ("bash <<< 'rm x'", Deny),
        ("bash -s <<'EOF'\nls\nEOF", Nothing),
        ("curl x | sh", Unknown),
        ("[[ -f x && -f y ]] && rm x", Deny),
        ("[ -f x ] && rm x", Deny),
        ("> x rm y", Deny),
        ("2>&1 rm y", Deny),
        ("rm y >x", Deny),
        ("{fd}>x dropdb production", Deny),
        ("A=1 rm x", Deny),
        // Quoting tricks.
        ("r\\m x", Deny),
        ("\\rm x", Deny),
        ("\"r\"m x", Deny),
        ("r''m x", Deny),
        ("'rm' x", Deny),
        ("$'rm' x", Deny),
        ("$'\\x72m' x", Deny),
        ("$'\\162\\155' x", Deny),
        ("$'\\u0072m' x", Deny),
        ("$\"rm\" x", Deny),
        ("r\\\nm x", Deny),
        ("ls &\\\n& rm x", Deny),
        ("echo $\\\n(rm x)", Deny),
        ("/bin/rm x", Deny),
        ("../../bin/rm x", Deny),
        ("~/bin/rm x", Deny),
        ("$HOME/bin/rm x", Deny),
        ("/bin/r? x", Deny),
        ("/bin/r[m] x", Deny),
        ("/???/rm x", Deny),
        ("rm${IFS}-rf${IFS}x", Deny),
        ("${IFS}rm x", Deny),
        ("rm$@ x", Deny),
        ("{rm,-rf,x}", Unknown),
        ("$X -rf x", Unknown),
        ("\"$X\" -rf x", Unknown),
        ("$(echo rm) x", Unknown),
        ("$SUDO rm x", Deny),
        ("shutdown now", Deny),
        ("./shutdown now", Deny),
        // Words that may become what is denied.
        ("git push $ARGS", Deny),
        ("git push \"$BRANCH\"", Deny),
        ("git push \"origin/$BRANCH\"", Ask),
        ("git push origin/*", Ask),
        ("git push {--force,origin}", Deny),
        ("git push --for{ce,}", Deny),
        ("git $X --force", Deny),
        ("git pull $X", Nothing),
        ("dropdb prod$X", Deny),
        ("dropdb test$X", Nothing),
        ("dropdb $X", Deny),
        ("dropdb production $X", Deny),
        ("dropdb \"$X\" y", Nothing),
        ("git pu\"\"sh", Ask),
        // What runs its arguments.
        ("command rm x", Deny),
        ("command -p rm x", Deny),
        ("builtin command exec rm x", Deny),
        ("exec -a ls rm x", Deny),
        ("eval rm x", Deny),
        ("eval 'ls; r\"m\" x'", Deny),
        ("eval \"$X\"", Unknown),
        ("trap 'rm x' EXIT", Deny),
        ("alias ls='rm x'", Deny),
        ("env -i A=1 rm x", Deny),
        ("env -S \"rm x\"", Deny),
        ("ls | xargs rm", Deny),
        ("find . -exec rm {} \\;", Deny),
        ("find . -exec sh -c 'rm \"$1\"' _ {} +", Deny),
        ("timeout $OPTIONS 5 rm x", Deny),
        ("sh -c 'sh -c \"rm x\"'", Deny),
        ("coproc rm x", Deny),
        ("echo x > /tmp/rm", Nothing),
        ("echo ${x@P}", Unknown),
        // What cannot be read.
        ("echo 'x", Unreadable),
        ("echo \"x", Unreadable),
        ("echo $(ls", Unreadable),
        ("echo )", Unreadable),
        ("if true; then ls", Unreadable),
        ("case x in", Unreadable),
        ("ls; rm x; echo 'y", Deny),
    ] {
        for shell in ["/bin/sh", "/usr/bin/bash"] {
            let matches = judge_line(&rules, shell, line.as_bytes());
            // The rules allow `bash -c`: where a line is harmless, that is what is left.
            let grants = shell.ends_with("bash") && expect == Nothing;
            let is_arithmetic = shell.ends_with("bash") && line == "((rm x))";
            let expect = if grants || is_arithmetic { Allow } else { expect };
            assert_eq!(said(&matches), expect, "{shell}: {line}: {matches:#?}");
        }
    }
}

#[test]
fn where_shells_differ_a_line_is_read_for_its_own_shell_or_not_at_all() {
    let rules = rules(RULES);
    for (shell, line, expect) in [
        ("/bin/sh", "echo $'a\\' ; rm x #'", Unreadable),
        ("/usr/bin/bash", "echo $'a\\' ; rm x #'", Allow),
        ("/bin/sh", "echo $[ ; rm x ; echo ]", Unreadable),
        ("/bin/sh", "[[ a && rm x ]]", Deny),
        ("/usr/bin/bash", "[[ a && rm == x ]]", Allow),
        ("/usr/bin/bash", "[[ a =~ ^(a|b)$ ]]", Allow),
        ("/usr/bin/bash", "[[ $(rm x) ]]", Deny),
        ("/usr/bin/bash", "echo \"${x:-'}'}\"", Unreadable),
        ("/usr/bin/bash", "cat <<EOF\nx\\\nEOF\nrm x\nEOF", Unreadable),
        ("/usr/bin/bash", "cat <<EOF \"\n\"\nEOF\nEOF", Unreadable),
        ("/usr/bin/zsh", "echo *(e:'rm x':)", Unreadable),
        ("/usr/bin/fish", "rm x", Unreadable),
        ("/usr/bin/my-shell", "rm x", Deny),
        ("/usr/bin/my-shell", "ls", Unreadable),
    ] {
        let matches = judge_line(&rules, shell, line.as_bytes());
        assert_eq!(said(&matches), expect, "{shell}: {line}: {matches:#?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_judged_like_others() {
    let rules = rules(RULES);
    for (line, expect) in [
        (&b"rm \xff\xfe"[..], Deny),
        (b"echo \xff; rm x", Deny),
        (b"\xffrm x", Nothing),
        ("ｒｍ x".as_bytes(), Nothing),
        ("echo é && rm ü".as_bytes(), Deny),
        ("ls\u{a0}rm".as_bytes(), Nothing),
        ("ls \u{202e}; rm x".as_bytes(), Deny),
        (b"ls \0; rm x", Unreadable),
        (b"rm \0", Deny),
        (b"-x; rm y", Deny),
        (b"-x", Unreadable),
    ] {
        let matches = judge_line(&rules, "/bin/sh", line);
        assert_eq!(said(&matches), expect, "{line:?}: {matches:#?}");
    }
}
