//! Whatever the user's own files do, the shell is the agent's to use.

use super::super::step::{BASH, EVERY, Scenario, Step, ZSH, run, scenario};
use serde_json::json;

fn works() -> [Step; 5] {
    [
        run("echo first").says("first").in_dir("@DIR@"),
        run("sh -c 'exit 3'").exits(3),
        run("echo $?").says("3"),
        run("printf '%s\\n' \"a!b\" 'c\td' | od -An -c | tr -d ' '").says("a!b\\nc\\td\\n"),
        run("cd /").in_dir("/"),
    ]
}

fn bash(name: &'static str, text: &str) -> Scenario {
    let steps = works();
    scenario(name, BASH, steps)
        .file("home/.bashrc", text)
        .opened(json!({"env": {"HOME": "@DIR@/home", "LANG": "C.UTF-8"}}))
}

fn zsh(name: &'static str, text: &str) -> Scenario {
    let steps = works();
    scenario(name, ZSH, steps)
        .file("home/.zshrc", text)
        .opened(json!({"env": {"HOME": "@DIR@/home", "LANG": "C.UTF-8"}}))
}

pub(crate) fn table() -> Vec<Scenario> {
    let mut all = vec![
        scenario("no files at all", EVERY, works())
            .opened(json!({"env": {"HOME": "@DIR@", "LANG": "C.UTF-8"}})),
        scenario("a home that is not there", EVERY, works())
            .opened(json!({"env": {"HOME": "/nonexistent", "LANG": "C.UTF-8"}})),
        scenario("a terminal that can do nothing", EVERY, works())
            .opened(json!({"env": {"TERM": "dumb", "LANG": "C.UTF-8"}})),
    ];
    all.extend(bashes());
    all.extend(zshes());
    all
}

fn bashes() -> Vec<Scenario> {
    vec![
        scenario(
            "the user's own names are there",
            BASH,
            [run("mine").says("function"), run("own x").says("alias x"), run("echo $FROM_RC").says("yes")],
        )
        .file("home/.bashrc", "mine() { echo function; }\nalias own='echo alias'\nexport FROM_RC=yes\n")
        .opened(json!({"env": {"HOME": "@DIR@/home"}})),
        bash("a file that says something", "echo Welcome; echo oops >&2; printf 'no line end'\n"),
        bash(
            "a file with a prompt",
            "PS1='\\[\\e[32m\\]\\u@\\h \\w\\$ \\[\\e[0m\\]'; PROMPT_COMMAND='printf \"\\033]0;title\\007\"'\n",
        ),
        bash(
            "a file with several commands before the prompt",
            "PROMPT_COMMAND=('echo one' 'false' 'echo two')\n",
        ),
        bash("a file with a trap for every command", "trap 'last=$BASH_COMMAND' DEBUG; PS0='running\\n'\n"),
        bash("a file with an error in it", "if true; then\n"),
        bash("a file that fails", "no-such-command; false\n"),
        bash("a file that returns", "case $- in *i*) ;; *) return;; esac\nreturn 5\n"),
        bash("a file with strict options", "set -u; set -o pipefail; set -o noclobber\n"),
        bash("a file with `set -e`", "set -e\n"),
        bash("a file with another editing mode", "set -o vi\nbind 'set show-mode-in-prompt on'\n"),
        bash(
            "a file with keys of its own",
            "bind '\"\\e[A\": history-search-backward'; bind 'set enable-bracketed-paste off'; bind '\"\\C-m\": accept-line'\n",
        ),
        bash(
            "a file with odd history options",
            "HISTCONTROL=; HISTTIMEFORMAT='%F '; shopt -s histverify histappend cmdhist; PROMPT_COMMAND='history -a; history -n'\n",
        ),
        bash(
            "a file with aliases for what the shell needs",
            "alias echo='echo'; alias cd='cd'; alias printf='printf '; alias eval='eval '; alias read='read '\n",
        ),
        bash("a file with odd separators", "IFS=$'\\n'; shopt -s nullglob dotglob failglob; LC_ALL=C\n"),
        bash("a slow file", "sleep 1\n"),
        bash(
            "a file that changes the terminal",
            "stty -ixon; stty erase ^H; tput smkx 2>/dev/null; printf '\\033[?1h'\n",
        ),
        bash("a file that starts something in the background", "sleep 60 &\nsleep 0.01 & disown\n"),
        scenario(
            "a file that goes elsewhere",
            BASH,
            [run("pwd").says("/tmp").in_dir("/tmp"), run("echo ok").says("ok")],
        )
        .file("home/.bashrc", "cd /tmp\n")
        .opened(json!({"env": {"HOME": "@DIR@/home"}})),
    ]
}

fn zshes() -> Vec<Scenario> {
    vec![
        scenario(
            "the user's own names are there",
            ZSH,
            [run("mine").says("function"), run("own x").says("alias x"), run("echo $FROM_ENV").says("yes")],
        )
        .file("home/.zshrc", "mine() { echo function }\nalias own='echo alias'\n")
        .file("home/.zshenv", "export FROM_ENV=yes\n")
        .opened(json!({"env": {"HOME": "@DIR@/home"}})),
        zsh("a file that says something", "echo Welcome; print -u2 oops; print -n 'no line end'\n"),
        zsh(
            "a file with a prompt",
            "setopt prompt_subst; PROMPT='%F{green}%n@%m %~%f $(echo x)%# '; RPROMPT='%T'\n",
        ),
        zsh(
            "a file with functions before prompt and command",
            "precmd() { print -n '\\e]0;t\\a' }; preexec() { print -n '\\e]0;r\\a' }\n",
        ),
        zsh(
            "a file that hooks as frameworks do",
            "autoload -Uz add-zsh-hook; h() { echo noise }; add-zsh-hook precmd h\n",
        ),
        zsh("a file with an error in it", "if true; then\n"),
        zsh("a file with another editing mode", "bindkey -v\n"),
        zsh(
            "a file with many options",
            "setopt extendedglob autocd correct_all ignore_eof share_history hist_verify no_nomatch interactive_comments\n",
        ),
        zsh("a file as of sh", "emulate sh\n"),
        zsh("a file with strict options", "setopt no_unset err_return pipe_fail\n"),
        zsh(
            "a file with widgets of its own",
            "my() { zle .accept-line }; zle -N accept-line my; zle-line-init() { : }; zle -N zle-line-init\n",
        ),
        zsh("a slow file", "sleep 1\n"),
    ]
}
