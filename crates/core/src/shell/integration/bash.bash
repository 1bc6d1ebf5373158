# What an interactive bash needs to tell wharf where each command begins and ends. Read instead of ~/.bashrc, which it
# reads first. @NONCE@ is filled in; it stays in this shell, and nothing that the shell starts is given it.
#
# Nothing here may fork on the way of an ordinary command, and nothing may rely on options, IFS, aliases or descriptors
# that a command can change. So marks go to /dev/tty, every word is quoted, and every variable has a default. The functions
# and the secret are read-only, since whoever rewrote them could make up exit codes. Exit codes are arguments and never
# variables, and every local variable has our prefix: `local` fails for a name that is read-only outside, and what is read
# then is that one. Nor does `local` assign what matters, since it may be somebody's function.

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
  local LC_ALL=C __wharf_i __wharf_c
  __wharf_text=$1
  [[ $1 == *[!a-zA-Z0-9/._~@:+=-]* ]] || return 0
  __wharf_text=
  for ((__wharf_i = 0; __wharf_i < ${#1}; __wharf_i++)); do
    __wharf_c=${1:__wharf_i:1}
    [[ $__wharf_c == [a-zA-Z0-9/._~@:+=-] ]] || builtin printf -v __wharf_c %%%02x "'$__wharf_c"
    # Bytes above 127 come out with a sign in this locale.
    [[ ${#__wharf_c} -gt 3 ]] && __wharf_c=%${__wharf_c: -2}
    __wharf_text+=$__wharf_c
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
  unset -f builtin local
  local LC_ALL=C REPLY __wharf_check __wharf_length __wharf_and -
  set +ux
  # With room for a prompt and a line that wraps, so that the place stays where it is until the line has been accepted.
  builtin printf '%sT;%s\a\n\n\e[2A\r\e7' "$__wharf_mark" "$$" >/dev/tty
  # Into REPLY, where IFS has no say.
  builtin read -r -d $'\x1d'
  __wharf_check=${REPLY%%;*} REPLY=${REPLY#*;}
  __wharf_length=${REPLY%%;*} REPLY=${REPLY#*;}
  ((${REPLY%%;*} > ${__wharf_n:-0})) && __wharf_n=${REPLY%%;*}
  REPLY=${REPLY#*;}
  __wharf_info=${REPLY%%;*} __wharf_show=${REPLY#*;}
  if ((__wharf_length > 65536)); then
    # One byte at a time, as `read` has to, a megabyte takes seconds.
    REPLY=$(builtin command -p head -c "$((__wharf_length + 1))")
    REPLY=${REPLY%$'\x1d'}
  else
    builtin read -r -d $'\x1d'
  fi
  builtin printf -v __wharf_cmd %b "$REPLY"
  READLINE_LINE= READLINE_POINT=0
  if [[ $__wharf_check == 1 ]] && ! __wharf_check; then
    __wharf_escape "${__wharf_text:0:4000}"
    __wharf_tell "E;$$;$__wharf_info;$__wharf_text"
    return
  fi
  # The line begins with a blank: then it does not enter the history.
  if [[ ${HISTCONTROL@a} != *r* ]]; then
    [[ -v HISTCONTROL ]] && __wharf_control=$HISTCONTROL
    HISTCONTROL=ignorespace
  fi
  __wharf_mine=
  # A function that fails in a list runs no trap on errors; it has to fail for `$?` to be what it was.
  if (($1 == 0)); then __wharf_and='&&'; else __wharf_and='||'; fi
  READLINE_LINE=' \__wharf_begin "$?" "${__wharf_last-}" '$__wharf_and' \builtin eval -- "$__wharf_cmd"; { \__wharf_end "$?" "${__wharf_last-}"; } 2>/dev/null'
  READLINE_POINT=${#READLINE_LINE}
}

# Whether the command is whole, by a bash that only reads it. Inside a function an unfinished here-document is an error.
__wharf_check() {
  local __wharf_extglob
  __wharf_extglob=+O
  if shopt -q extglob || [[ $__wharf_cmd == *extglob* ]]; then __wharf_extglob=-O; fi
  __wharf_text=$(BASH_ENV= exec -a bash "$BASH" --norc "$__wharf_extglob" extglob -n 2>&1 <<<"$__wharf_cmd") || return 1
  [[ -z $__wharf_text ]] || return 1
  [[ $__wharf_cmd == *'<<'* ]] || return 0
  BASH_ENV= "$BASH" --norc "$__wharf_extglob" extglob -n 2>/dev/null <<<$'f() {\n:\n'"$__wharf_cmd"$'\n\n}' && return 0
  __wharf_text='a here-document is not ended'
  return 1
}

__wharf_history() {
  local -
  set +u
  if [[ ${HISTCONTROL@a} == *r* ]]; then
    # Somebody does not want it changed: then the line may have entered, and goes.
    [[ $HISTCONTROL == *ignorespace* || $HISTCONTROL == *ignoreboth* ]] || builtin history -d -1
  elif [[ -v __wharf_control ]]; then
    HISTCONTROL=$__wharf_control
  else
    unset -v HISTCONTROL
  fi
  unset -v __wharf_control __wharf_mine
}

# The second argument is there for `$_`, which it becomes.
__wharf_begin() {
  # The end is told within the `eval`, so that a trap on errors is not run for the `eval` as well; but not where the shell
  # shows or remembers the lines that it reads.
  [[ $- == *v* || $__wharf_cmd == *set*v* || $__wharf_cmd == *history* ]] || __wharf_cmd+=$'\n{ \\__wharf_end "$?" "$_"; } 2>/dev/null'
  if [[ $- == *x* ]]; then
    set +x
    __wharf_cmd='{ set -x; __wharf_as '$1'; } 2>/dev/null; '$__wharf_cmd
  fi
  __wharf_history
  __wharf_run=1
  __wharf_n=$((__wharf_n + 1))
  # In place of the line that was accepted, what it stands for.
  builtin printf '\e8\e[J$ %s\n%sC;%s\a' "$__wharf_show" "$__wharf_mark" "$$;$__wharf_n;${EPOCHREALTIME-};$__wharf_info" >/dev/tty
  return "$1"
}

__wharf_as() {
  return "$1"
}

# What a process substitution still prints belongs to the command, as `tee` in `command > >(tee log)` does: bash waits for
# none of them, and has its number in `$!` like a job's. Jobs are left alone. One that sleeps is waited for for some 60 ms,
# and one that wants to run, on a busy machine, for some 270.
__wharf_settle() {
  local REPLY __wharf_pause __wharf_asleep
  [[ $'\n'$(builtin jobs -p)$'\n' == *$'\n'"$1"$'\n'* ]] && return
  __wharf_asleep=0
  for __wharf_pause in .001 .002 .005 .01 .02 .03 .05 .05 .05 .05; do
    builtin read -r </proc/"$1"/stat || return
    [[ $REPLY != *') S '* ]] || ((++__wharf_asleep <= 4)) || return
    builtin command -p sleep "$__wharf_pause"
  done
}

# The code and, for `$_`, the last word of a command that is over.
__wharf_end() {
  # A trap that functions inherit can change their arguments. What is not told is unknown.
  [[ $1 == "$?" ]] || return
  # Functions of these names would be called instead.
  unset -f builtin local set
  set +e
  # Without a line editor there are no keys.
  [[ -o emacs || -o vi ]] || set -o emacs
  # Not set at all if a command has unset every variable.
  [[ -n ${__wharf_run-1} ]] || return "$1"
  __wharf_run= __wharf_last=${2-} __wharf_at=${EPOCHREALTIME-}
  if [[ ${!-} != "${__wharf_back-}" ]]; then
    __wharf_settle "$!" 2>/dev/null
    __wharf_back=$!
  fi
  __wharf_place
  __wharf_tell "D;$$;${__wharf_n:-0};$1;$__wharf_at;$__wharf_here"
  __wharf_hook
  return "$1"
}

# First of all that runs before a prompt: for commands that were typed, and for those that were interrupted.
__wharf_prompt() {
  [[ -v __wharf_mine ]] && __wharf_history
  if [[ ${__wharf_human-} == 1 ]]; then
    __wharf_human=0 __wharf_run=1
    __wharf_n=$((__wharf_n + 1))
  fi
  __wharf_as "$1"
  __wharf_end "$1" "${__wharf_last-}"
}

# Last of all that runs before a prompt.
__wharf_ready() {
  [[ ${PS1-} == *__wharf_b* ]] || PS1=${PS1-}'\[${__wharf_b-}\]'
  __wharf_place
  __wharf_tell "A;$$;bash;$__wharf_here;${__wharf_new-}"
  __wharf_new=
  return "$1"
}

# A command that somebody types: told by PS0, whose substitution runs before it.
__wharf_typed() {
  local HISTTIMEFORMAT= 2>/dev/null
  __wharf_text=$(builtin history 1)
  [[ $__wharf_text =~ ^\ *[0-9]+\*?\ *(.*) ]] && __wharf_text=${BASH_REMATCH[1]}
  __wharf_escape "${__wharf_text:0:1000}"
  __wharf_tell "C;$$;$((__wharf_n + 1));${EPOCHREALTIME-};-,human,$__wharf_text"
}

# Puts back what a command may have taken away.
__wharf_hook() {
  local -
  set +ux
  declare -p PROMPT_COMMAND &>/dev/null || PROMPT_COMMAND=
  local __wharf_first __wharf_final __wharf_other __wharf_ps0
  __wharf_first='{ __wharf_prompt "$?"; } 2>/dev/null' __wharf_final='{ __wharf_ready "$?"; } 2>/dev/null'
  if [[ ${PROMPT_COMMAND@a} == *r* ]]; then
    # Somebody does not want it changed. Then the prompt itself tells, in a process of its own, and what people type is not
    # counted.
    [[ $PS1 == *__wharf_prompt* ]] || PS1='$(__wharf_prompt "$?"; __wharf_ready "$?")'$PS1'\[${__wharf_b-}\]'
    return
  elif [[ ${PROMPT_COMMAND@a} == *a* ]]; then
    [[ ${PROMPT_COMMAND[0]} == "$__wharf_first" ]] || PROMPT_COMMAND=("$__wharf_first" "${PROMPT_COMMAND[@]}")
    [[ ${PROMPT_COMMAND[-1]} == "$__wharf_final" ]] || PROMPT_COMMAND+=("$__wharf_final")
  elif [[ $PROMPT_COMMAND != "$__wharf_first"*"$__wharf_final" ]]; then
    __wharf_other=${PROMPT_COMMAND//"$__wharf_first"$'\n'/}
    __wharf_other=${__wharf_other//$'\n'"$__wharf_final"/}
    PROMPT_COMMAND=$__wharf_first$'\n'${__wharf_other:+$__wharf_other$'\n'}$__wharf_final
  fi
  __wharf_ps0='${__wharf_mine-$(__wharf_typed)}${__wharf_none:$((__wharf_human=${__wharf_mine-1}+0,0)):0}'
  [[ $PS0 == *__wharf_typed* || ${PS0@a} == *r* ]] || PS0=$__wharf_ps0$PS0
}

# Asked by a key of its own whether this is still the shell that wharf knows, and at its prompt.
__wharf_answer() {
  # With the hook and its functions in their places, a command that is over would have told so: then this is part of one
  # that reads keys, like `read -e`.
  if [[ -n ${__wharf_run-} && ${PROMPT_COMMAND[*]-} == *__wharf_prompt* ]] &&
    declare -F __wharf_prompt __wharf_end __wharf_ready __wharf_tell >/dev/null; then
    __wharf_tell "N;$$"
    return 0
  fi
  __wharf_hook
  __wharf_as "$1"
  __wharf_prompt "$1"
  __wharf_ready "$1"
  __wharf_tell "P;$$"
  return 0
}

for __wharf_text in emacs-standard vi-insert vi-command; do
  bind -m $__wharf_text -x '"\e[77071~": { __wharf_take "$?"; } 2>/dev/null'
  bind -m $__wharf_text '"\e[77072~": accept-line'
  bind -m $__wharf_text '"\e[7707~": "\e[77071~\e[77072~"'
  bind -m $__wharf_text -x '"\e[7708~": { __wharf_answer "$?" || builtin printf %s __wharf_answer >/dev/tty; } 2>/dev/null'
done
readonly __wharf_mark __wharf_b
for __wharf_text in tell escape place take check history begin as settle end prompt ready typed hook answer; do
  readonly -f "__wharf_$__wharf_text"
done
__wharf_hook
