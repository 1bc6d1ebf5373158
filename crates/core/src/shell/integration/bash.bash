# What an interactive bash needs to tell wharf where each command begins and ends. Read instead of ~/.bashrc, which it
# reads first. @NONCE@ is filled in; it stays in this shell, and nothing that the shell starts is given it.
#
# Nothing here may fork on the way of an ordinary command, and nothing may rely on options, IFS, aliases or descriptors
# that a command can change. So marks go to /dev/tty, every word is quoted, and every variable has a default. The functions
# and the secret are read-only, since whoever rewrote them could make up exit codes.

exec 9<&-
# Set where the user's own file has been read before.
if [[ -z ${__wharf_plain-} ]]; then
  # A file that ends the shell must not end this one: then it is started again without that file. Nothing that it starts
  # is left a descriptor by which to read this.
  [[ -r ~/.bashrc ]] && __wharf_rc=$(</dev/fd/8)
  exec 8<&-
  __wharf_again() {
    set +e
    trap - EXIT
    printf '%s\n' 'wharf: ~/.bashrc ends the shell; started again without it' >/dev/tty
    exec "$BASH" --rcfile /dev/fd/9 -i 9<<<"__wharf_plain=1"$'\n'"$__wharf_rc"
  }
  if [[ -r ~/.bashrc ]]; then
    trap __wharf_again EXIT
    . ~/.bashrc
    [[ $(trap -p EXIT) == *__wharf_again* ]] && trap - EXIT
  fi
  unset -f __wharf_again
  unset -v __wharf_rc
fi
# What was typed to read this is no command of anybody's.
[[ ${__wharf_plain-} == typed ]] && history -d -1 2>/dev/null
unset -v __wharf_plain
set +e

__wharf_n=${__wharf_n-0} __wharf_run= __wharf_human=0 __wharf_none= __wharf_show= __wharf_last=
# Read-only where this is read a second time.
[[ ${__wharf_mark-} == *'@NONCE@'* ]] || __wharf_mark=$'\e]6973;@NONCE@;'
[[ ${__wharf_b-} == *'@NONCE@'* ]] || __wharf_b=$__wharf_mark"B;$$"$'\a'

# Not traced, since there are files for traces (BASH_XTRACEFD), and the secret is for none of them.
__wharf_tell() {
  local -
  set +x
  builtin printf '%s%s\a' "$__wharf_mark" "$1" >/dev/tty
}

# Into __wharf_text, with everything but plain letters as %xx.
__wharf_escape() {
  local LC_ALL=C i c
  __wharf_text=$1
  [[ $1 == *[!a-zA-Z0-9/._~@:+=-]* ]] || return 0
  __wharf_text=
  for ((i = 0; i < ${#1}; i++)); do
    c=${1:i:1}
    [[ $c == [a-zA-Z0-9/._~@:+=-] ]] || builtin printf -v c %%%02x "'$c"
    # Bytes above 127 come out with a sign in this locale.
    [[ ${#c} -gt 3 ]] && c=%${c: -2}
    __wharf_text+=$c
  done
}

# Into __wharf_here, where this shell is.
__wharf_place() {
  [[ ${PWD-} == "${__wharf_pwd-}" && -v __wharf_here ]] && return
  __wharf_pwd=${PWD-}
  __wharf_escape "$__wharf_pwd"
  __wharf_here=$__wharf_text
}

# Bound to a key that only wharf presses. What follows the key on the terminal is: check;length;number of the last
# command;information;line to show, 0x1d, the command as `printf %b` reads it, 0x1d.
__wharf_take() {
  __wharf_status=$?
  unset -f builtin local
  local status=$__wharf_status IFS=';' LC_ALL=C check length last text and='&&' -
  set +x
  # With room for a prompt and a line that wraps, so that the place stays where it is until the line has been accepted.
  builtin printf '%sT;%s\a\n\n\e[2A\r\e7' "$__wharf_mark" "$$" >/dev/tty
  builtin read -r -d $'\x1d' check length last __wharf_info __wharf_show
  ((last > ${__wharf_n:-0})) && __wharf_n=$last
  if ((length > 65536)); then
    # One byte at a time, as `read` has to, a megabyte takes seconds.
    text=$(builtin command -p head -c "$((length + 1))")
    text=${text%$'\x1d'}
  else
    IFS= builtin read -r -d $'\x1d' text
  fi
  builtin printf -v __wharf_cmd %b "$text"
  READLINE_LINE= READLINE_POINT=0
  if [[ $check == 1 ]] && ! __wharf_check; then
    __wharf_escape "${__wharf_text:0:4000}"
    __wharf_tell "E;$$;$__wharf_info;$__wharf_text"
    return
  fi
  # The line begins with a blank: then it does not enter the history.
  [[ -v HISTCONTROL ]] && __wharf_control=$HISTCONTROL
  HISTCONTROL=ignorespace
  __wharf_mine=
  # A function that fails in a list runs no trap on errors; it has to fail for `$?` to be what it was.
  ((status == 0)) || and='||'
  READLINE_LINE=' \__wharf_begin "${__wharf_last-}" '$and' \builtin eval -- "$__wharf_cmd"; { \__wharf_end "${__wharf_last-}"; } 2>/dev/null'
  READLINE_POINT=${#READLINE_LINE}
}

# Whether the command is whole, by a bash that only reads it. Inside a function an unfinished here-document is an error.
__wharf_check() {
  local IFS=' ' extglob=+O
  if shopt -q extglob || [[ $__wharf_cmd == *extglob* ]]; then extglob=-O; fi
  __wharf_text=$(BASH_ENV= exec -a bash "$BASH" --norc $extglob extglob -n 2>&1 <<<"$__wharf_cmd") || return 1
  [[ -z $__wharf_text ]] || return 1
  [[ $__wharf_cmd == *'<<'* ]] || return 0
  BASH_ENV= "$BASH" --norc $extglob extglob -n 2>/dev/null <<<$'f() {\n:\n'"$__wharf_cmd"$'\n\n}' && return 0
  __wharf_text='a here-document is not ended'
  return 1
}

__wharf_history() {
  if [[ -v __wharf_control ]]; then HISTCONTROL=$__wharf_control; else unset -v HISTCONTROL; fi
  unset -v __wharf_control __wharf_mine
}

# The argument is there for `$_`, which it becomes.
__wharf_begin() {
  local status=$?
  # The end is told within the `eval`, so that a trap on errors is not run for the `eval` as well; but not where the shell
  # shows or remembers the lines that it reads.
  [[ $- == *v* || $__wharf_cmd == *set*v* || $__wharf_cmd == *history* ]] || __wharf_cmd+=$'\n{ \\__wharf_end "$_"; } 2>/dev/null'
  if [[ $- == *x* ]]; then
    set +x
    __wharf_cmd='{ set -x; __wharf_as '$status'; } 2>/dev/null; '$__wharf_cmd
  fi
  __wharf_history
  __wharf_run=1
  __wharf_n=$((__wharf_n + 1))
  # In place of the line that was accepted, what it stands for.
  builtin printf '\e8\e[J$ %s\n%sC;%s\a' "$__wharf_show" "$__wharf_mark" "$$;$__wharf_n;${EPOCHREALTIME-};$__wharf_info" >/dev/tty
  return "$status"
}

__wharf_as() {
  return "$1"
}

__wharf_end() {
  __wharf_status=$?
  # Functions of these names would be called instead.
  unset -f builtin local set
  local status=$__wharf_status
  set +e
  # Without a line editor there are no keys.
  [[ -o emacs || -o vi ]] || set -o emacs
  # Not set at all if a command has unset every variable.
  [[ -n ${__wharf_run-1} ]] || return "$status"
  __wharf_run= __wharf_last=${1-}
  local now=${EPOCHREALTIME-}
  __wharf_place
  __wharf_tell "D;$$;${__wharf_n:-0};$status;$now;$__wharf_here"
  __wharf_hook
  return "$status"
}

# First of all that runs before a prompt: for commands that were typed, and for those that were interrupted.
__wharf_prompt() {
  local status=$?
  [[ -v __wharf_mine ]] && __wharf_history
  if [[ ${__wharf_human-} == 1 ]]; then
    __wharf_human=0 __wharf_run=1
    __wharf_n=$((__wharf_n + 1))
  fi
  __wharf_as "$status"
  __wharf_end "${__wharf_last-}"
}

# Last of all that runs before a prompt.
__wharf_ready() {
  local status=$?
  [[ ${PS1-} == *__wharf_b* ]] || PS1=${PS1-}'\[${__wharf_b-}\]'
  __wharf_place
  __wharf_tell "A;$$;bash;$__wharf_here;${__wharf_new-}"
  __wharf_new=
  return "$status"
}

# A command that somebody types: told by PS0, whose substitution runs before it.
__wharf_typed() {
  local HISTTIMEFORMAT= text
  text=$(builtin history 1)
  [[ $text =~ ^\ *[0-9]+\*?\ *(.*) ]] && text=${BASH_REMATCH[1]}
  __wharf_escape "${text:0:1000}"
  __wharf_tell "C;$$;$((__wharf_n + 1));${EPOCHREALTIME-};-,human,$__wharf_text"
}

# Puts back what a command may have taken away.
__wharf_hook() {
  local -
  set +ux
  declare -p PROMPT_COMMAND &>/dev/null || PROMPT_COMMAND=
  local first='{ __wharf_prompt; } 2>/dev/null' last='{ __wharf_ready; } 2>/dev/null' other
  if [[ ${PROMPT_COMMAND@a} == *r* ]]; then
    # Somebody does not want it changed. Then the prompt itself tells, in a process of its own, and what people type is not
    # counted.
    [[ $PS1 == *__wharf_prompt* ]] || PS1='$(__wharf_prompt; __wharf_ready)'$PS1'\[${__wharf_b-}\]'
    return
  elif [[ ${PROMPT_COMMAND@a} == *a* ]]; then
    [[ ${PROMPT_COMMAND[0]} == "$first" ]] || PROMPT_COMMAND=("$first" "${PROMPT_COMMAND[@]}")
    [[ ${PROMPT_COMMAND[-1]} == "$last" ]] || PROMPT_COMMAND+=("$last")
  elif [[ $PROMPT_COMMAND != "$first"*"$last" ]]; then
    other=${PROMPT_COMMAND//"$first"$'\n'/}
    other=${other//$'\n'"$last"/}
    PROMPT_COMMAND=$first$'\n'${other:+$other$'\n'}$last
  fi
  local typed='${__wharf_mine-$(__wharf_typed)}${__wharf_none:$((__wharf_human=${__wharf_mine-1}+0,0)):0}'
  [[ $PS0 == *__wharf_typed* ]] || PS0=$typed$PS0
}

# Asked by a key of its own whether this is still the shell that wharf knows, and at its prompt.
__wharf_answer() {
  local status=$?
  # With the hook and its functions in their places, a command that is over would have told so: then this is part of one
  # that reads keys, like `read -e`.
  if [[ -n ${__wharf_run-} && ${PROMPT_COMMAND[*]-} == *__wharf_prompt* ]] &&
    declare -F __wharf_prompt __wharf_end __wharf_ready __wharf_tell >/dev/null; then
    __wharf_tell "N;$$"
    return 0
  fi
  __wharf_hook
  __wharf_as "$status"
  __wharf_prompt
  __wharf_ready
  __wharf_tell "P;$$"
  return 0
}

for __wharf_text in emacs-standard vi-insert vi-command; do
  bind -m $__wharf_text -x '"\e[77071~": { __wharf_take; } 2>/dev/null'
  bind -m $__wharf_text '"\e[77072~": accept-line'
  bind -m $__wharf_text '"\e[7707~": "\e[77071~\e[77072~"'
  bind -m $__wharf_text -x '"\e[7708~": { __wharf_answer || builtin printf %s __wharf_answer >/dev/tty; } 2>/dev/null'
done
readonly __wharf_mark __wharf_b
for __wharf_text in tell escape place take check history begin as end prompt ready typed hook answer; do
  readonly -f "__wharf_$__wharf_text"
done
__wharf_hook
