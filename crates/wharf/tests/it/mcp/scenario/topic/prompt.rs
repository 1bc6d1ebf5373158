//! Prompts are the user's: whatever becomes of them, a command's end is known and its output is its own.

use super::super::step::{BASH, BASH_SH, BASH_ZSH, EVERY, SH, Scenario, Shell, Step, ZSH, run, scenario};

/// Everything that comes from a prompt still comes.
fn works() -> [Step; 3] {
    [run("cd /; echo hi").says("hi").in_dir("/"), run("sh -c 'exit 3'").exits(3), run("echo $?").says("3")]
}

fn after(name: &'static str, shells: &'static [Shell], command: &'static str) -> Scenario {
    scenario(name, shells, [run(command)].into_iter().chain(works()))
}

pub(crate) fn table() -> Vec<Scenario> {
    vec![
        after("another prompt", EVERY, "PS1='> '"),
        after("no prompt", EVERY, "PS1="),
        after("a prompt that is not set", EVERY, "unset PS1"),
        after("a prompt of several lines", EVERY, "PS1='first\nsecond\n$ '"),
        after("a prompt that runs something", BASH_SH, "PS1='$(echo in the prompt; false)$ '"),
        after("a prompt in colours", BASH, r"PS1='\[\e[31m\]\u@\h:\w\$ \[\e[0m\]'"),
        after("a prompt with a title", BASH, r"PS1='\[\e]0;title\a\]\$ '"),
        after("a prompt before the command's output", BASH, "PS0='starting\n'; unset PS0"),
        after("no command before the prompt", BASH_ZSH, "PROMPT_COMMAND="),
        after("the command before the prompt is not set", BASH_ZSH, "unset PROMPT_COMMAND"),
        after("a command before the prompt that says something", BASH, "PROMPT_COMMAND='echo noise'"),
        after("a command before the prompt that fails", BASH, "PROMPT_COMMAND=false"),
        after("several commands before the prompt", BASH, "PROMPT_COMMAND=('echo one' 'echo two')"),
        after("neither prompt nor command before it", BASH, "unset PROMPT_COMMAND PS1 PS2 PS4"),
        after("a prompt that cannot be changed", BASH, "PS1='fixed> '; readonly PS1"),
        after(
            "a command before the prompt that cannot be changed",
            BASH,
            "PROMPT_COMMAND=:; readonly PROMPT_COMMAND",
        ),
        after(
            "a prompt on the right",
            ZSH,
            "RPROMPT='%~'; setopt prompt_subst; PROMPT='%F{red}%n%f $(echo x) '",
        ),
        after("a function before the prompt", ZSH, "precmd() { echo noise }"),
        after("a function before each command", ZSH, "preexec() { echo about to run; }; unfunction preexec"),
        after(
            "no functions before the prompt",
            ZSH,
            "precmd_functions=(); preexec_functions=(); chpwd_functions=()",
        ),
        after("a prompt without a line of its own", ZSH, "unsetopt prompt_cr prompt_sp"),
        after("a prompt with a status of its own", SH, "PS1='$? $ '; PS2='more '"),
        scenario(
            "an environment for python as its own script switches to",
            BASH_ZSH,
            [
                run(concat!(
                    "_OLD_PATH=$PATH; _OLD_PS1=\"${PS1:-}\"; VIRTUAL_ENV=/venv; export VIRTUAL_ENV\n",
                    "PATH=\"$VIRTUAL_ENV/bin:$PATH\"; export PATH; PS1=\"(venv) ${PS1:-}\"; export PS1; hash -r\n",
                    "deactivate() { PATH=$_OLD_PATH; PS1=$_OLD_PS1; unset VIRTUAL_ENV; unset -f deactivate; }"
                )),
                run("echo $VIRTUAL_ENV; case $PATH in /venv/bin:*) echo first;; esac").says("/venv\nfirst"),
                run("deactivate"),
                run("echo \"[${VIRTUAL_ENV:-}]\"").says("[]"),
            ],
        ),
        scenario(
            "output without a line end does not mix with the prompt",
            EVERY,
            [
                run("printf abc").says("abc"),
                run("printf 'a\\nb'").says("a\nb"),
                run("PS1='prompt> '"),
                run("printf abc").says("abc"),
                run("echo next").says("next"),
            ],
        ),
        scenario(
            "a prompt is not output, however the command looks like one",
            EVERY,
            [
                run("PS1='$ '"),
                run("printf '$ \\n$ $ '").like("\\$ ?\n\\$ \\$ ?"),
                run("echo next").says("next"),
            ],
        ),
        scenario(
            "fifty commands, each with its own answer",
            EVERY,
            (0..50).map(|n| {
                run(format!("echo token-{n}; sh -c 'exit {}'", n % 7)).says(format!("token-{n}")).exits(n % 7)
            }),
        ),
    ]
}
