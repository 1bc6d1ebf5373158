//! git behind its own options, and the commands that it runs.

use super::Expect::{Allow, Ask, Deny, Nothing, Unknown};
use super::{RULES, judge_argv, judge_line, rules, said};

#[test]
fn a_rule_about_git_sees_through_its_global_options_and_an_allowing_one_stays_strict() {
    let rules = rules(RULES);
    for (args, expect) in [
        (&["-C", "sub", "push"][..], Ask),
        (&["-C", "a", "-C", "b", "push", "-f"], Deny),
        (&["--no-pager", "push"], Ask),
        (&["-P", "push"], Ask),
        (&["-p", "push"], Ask),
        (&["--paginate", "push"], Ask),
        (&["-c", "a.b=c", "push", "--force"], Deny),
        (&["--config-env=a.b=C", "push"], Ask),
        (&["--config-env", "a.b=C", "push"], Ask),
        (&["--git-dir=x", "push"], Ask),
        (&["--git-dir", "x", "--work-tree", "y", "push", "-f"], Deny),
        (&["--work-tree=y", "push"], Ask),
        (&["--namespace", "n", "push"], Ask),
        (&["--namespace=n", "push"], Ask),
        (&["--exec-path=/x", "push"], Ask),
        (&["--attr-source", "HEAD", "push"], Ask),
        (&["--shallow-file", "x", "push"], Ask),
        (
            &["--literal-pathspecs", "--glob-pathspecs", "--icase-pathspecs", "--noglob-pathspecs", "push"],
            Ask,
        ),
        (&["--bare", "--no-replace-objects", "--no-lazy-fetch", "--no-optional-locks", "push"], Ask),
        (&["--no-advice", "push"], Ask),
        // One that is not known may take a value.
        (&["--brand-new", "push"], Ask),
        (&["--brand-new", "value", "push"], Ask),
        // A value is no subcommand, and what follows the subcommand is its own.
        (&["-C", "push", "status"], Allow),
        (&["--git-dir", "push", "status"], Nothing),
        (&["log", "push"], Allow),
        (&["log", "-C", "push"], Allow),
        (&["-C", "sub", "log"], Allow),
        (&["-c", "core.pager=x", "log"], Nothing),
        (&["--exec-path=/tmp", "log"], Nothing),
        (&["-p", "log"], Nothing),
    ] {
        let matches = judge_argv(&rules, "/usr/bin/git", args);
        assert_eq!(said(&matches), expect, "git {args:?}: {matches:#?}");
    }
}

#[test]
fn the_same_in_a_line_where_not_every_word_is_known() {
    let rules = rules(RULES);
    for (line, expect) in [
        ("git -C \"$dir\" push", Ask),
        ("git -C $dir push -f", Deny),
        ("git \"$option\" push", Ask),
        ("git \"$option\" value push -f", Deny),
        ("git -c \"user.name=$name\" commit -m x", Nothing),
        ("git -C \"$dir\" status", Nothing),
        ("git \"$sub\" x push", Ask),
        ("git \"st$x\" push", Nothing),
    ] {
        let matches = judge_line(&rules, "/bin/sh", line.as_bytes());
        assert_eq!(said(&matches), expect, "{line}: {matches:#?}");
    }
}

#[test]
fn what_git_runs_is_looked_at() {
    let rules = rules(RULES);
    for (args, expect) in [
        (&["bisect", "run", "rm", "x"][..], Deny),
        (&["-C", "sub", "bisect", "run", "sh", "-c", "rm x"], Deny),
        (&["bisect", "run", "make"], Nothing),
        (&["bisect", "start", "rm"], Nothing),
        (&["submodule", "foreach", "rm x"], Deny),
        (&["submodule", "foreach", "ls; git push -f"], Deny),
        (&["submodule", "--quiet", "foreach", "--recursive", "rm", "x"], Deny),
        (&["--no-pager", "submodule", "foreach", "-q", "rm \"$1\"", "x"], Deny),
        (&["submodule", "foreach", "echo", "x; rm y"], Nothing),
        (&["submodule", "update", "rm"], Nothing),
    ] {
        let matches = judge_argv(&rules, "/usr/bin/git", args);
        assert_eq!(said(&matches), expect, "git {args:?}: {matches:#?}");
    }
    let matches = judge_line(&rules, "/bin/sh", b"git submodule foreach \"$x\"");
    assert_eq!(said(&matches), Unknown, "{matches:#?}");
}
