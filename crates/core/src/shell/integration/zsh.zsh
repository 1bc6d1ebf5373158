# What an interactive zsh needs to tell wharf where each command begins and ends. It is its .zshenv, from a directory that
# is removed here; the user's own files are read as always, and the rest of this takes effect with the first prompt, after
# them. @NONCE@ is filled in; it stays in this shell, and nothing that the shell starts is given it.
#
# Nothing here may fork on the way of an ordinary command, and nothing may rely on options or descriptors that a command can
# change. So functions begin with the default options, and marks go to /dev/tty.

if [[ -z ${__wharf_plain-} ]]; then
  # A file that ends the shell must not end this one: then it is started again without such files.
  typeset -g __wharf_rc=$(<$ZDOTDIR/.zshenv)
  __wharf_again() {
    ((ZSH_SUBSHELL == 0)) || return
    local dir=$(command mktemp -d)
    print -r -- "__wharf_plain=again"$'\n'"$__wharf_rc" >|$dir/.zshenv
    print -r -- 'wharf: a file of yours ends the shell; started again without it' >/dev/tty
    [[ -v ZDOTDIR ]] && export WHARF_USER_ZDOTDIR=$ZDOTDIR
    ZDOTDIR=$dir exec $__wharf_zsh -i
  }
  typeset -g __wharf_zsh=/proc/$$/exe
  __wharf_zsh=${__wharf_zsh:A}
fi
if [[ ${__wharf_plain-} != typed ]]; then
  command rm -rf -- "$ZDOTDIR"
  if [[ -v WHARF_USER_ZDOTDIR ]]; then
    export ZDOTDIR=$WHARF_USER_ZDOTDIR
    unset WHARF_USER_ZDOTDIR
  else
    unset ZDOTDIR
  fi
fi

typeset -g __wharf_n=${__wharf_n:-0} __wharf_run= __wharf_mine= __wharf_line= __wharf_show= __wharf_info= __wharf_cmd=
typeset -g __wharf_text= __wharf_here= __wharf_pwd= __wharf_was= __wharf_sp=
typeset -g __wharf_mark=$'\e]6973;@NONCE@;'
typeset -g __wharf_b=$__wharf_mark"B;$$"$'\a'
zmodload zsh/datetime

__wharf_tell() {
  builtin print -rn -- "$__wharf_mark$1"$'\a' >/dev/tty
}

# Into __wharf_text, with everything but plain letters as %xx.
__wharf_escape() {
  builtin emulate -L zsh
  setopt no_multibyte
  __wharf_text=$1
  [[ $1 == *[^a-zA-Z0-9/._~@:+=-]* ]] || return 0
  local i c hex text=$1
  __wharf_text=
  for ((i = 1; i <= $#text; i++)); do
    c=$text[i]
    if [[ $c != [a-zA-Z0-9/._~@:+=-] ]]; then
      builtin printf -v hex %02x "'$c"
      c=%${hex[-2,-1]}
    fi
    __wharf_text+=$c
  done
}

__wharf_place() {
  [[ $PWD == $__wharf_pwd ]] && return
  __wharf_pwd=$PWD
  __wharf_escape "$PWD"
  __wharf_here=$__wharf_text
}

# Bound to a key that only wharf presses. What follows the key on the terminal is: check;length;information;line to show,
# 0x1d, the command as `printf %b` reads it, 0x1d.
__wharf_take() {
  local __wharf_status=$?
  builtin emulate -L zsh
  local check length text and='&&'
  builtin print -rn -- "${__wharf_mark}T;$$"$'\a\n\n\e[2A\r\e7' >/dev/tty
  IFS=';' builtin read -r -d $'\x1d' check length __wharf_info __wharf_show </dev/tty
  if ((length > 65536)); then
    # One byte at a time, as `read` has to, a megabyte takes seconds.
    text=$(builtin command -p head -c $((length + 1)) </dev/tty)
    text=${text%$'\x1d'}
  else
    IFS= builtin read -r -d $'\x1d' text </dev/tty
  fi
  builtin printf -v __wharf_cmd %b "$text"
  BUFFER= CURSOR=0
  if [[ $check == 1 ]] && ! __wharf_check; then
    __wharf_escape "${__wharf_text[1,4000]}"
    __wharf_tell "E;$$;$__wharf_info;$__wharf_text"
    zle .accept-line
    return
  fi
  __wharf_mine=1
  # A function that fails in a list runs no trap on errors; it has to fail for `$?` to be what it was.
  ((__wharf_status == 0)) || and='||'
  BUFFER=' { __wharf_was=$?/$-; unsetopt xtrace; __wharf_begin; } 2>/dev/null '$and' \builtin eval -- "$__wharf_cmd"; { __wharf_end; } 2>/dev/null'
  zle .accept-line
}

# Whether the command is whole, by a zsh that only reads it. Inside a function an unfinished here-document is an error.
__wharf_check() {
  local zsh=/proc/$$/exe
  __wharf_text=$(ARGV0=zsh command "$zsh" -fn 2>&1 <<<"$__wharf_cmd") || return 1
  [[ -z $__wharf_text ]] || return 1
  [[ $__wharf_cmd == *'<<'* ]] || return 0
  ARGV0=zsh command "$zsh" -fn 2>/dev/null <<<$'f() {\n:\n'"$__wharf_cmd"$'\n\n}' && return 0
  __wharf_text='a here-document is not ended'
  return 1
}

# The mark for an unfinished line would be printed before the end of a command is told.
__wharf_still() {
  [[ -o promptsp ]] || return 0
  __wharf_sp=1
  unsetopt promptsp
}

__wharf_begin() {
  # Tracing is switched off outside of this function, at whose end it would be on again.
  local __wharf_status=${__wharf_was%%/*}
  # The end is told within the `eval`, where a trap on errors is not run for the `eval` as well.
  __wharf_cmd+=$'\n{ __wharf_end; } 2>/dev/null'
  [[ $__wharf_was == *x* ]] && __wharf_cmd="setopt xtrace; $__wharf_cmd"
  __wharf_still
  __wharf_run=1 __wharf_mine=
  __wharf_n=$((__wharf_n + 1))
  # In place of the line that was accepted, what it stands for.
  builtin print -rn -- $'\e8\e[J'"\$ $__wharf_show"$'\n'"${__wharf_mark}C;$$;$__wharf_n;$EPOCHREALTIME;$__wharf_info"$'\a' >/dev/tty
  return $__wharf_status
}

__wharf_as() {
  return $1
}

__wharf_end() {
  local __wharf_status=$?
  unsetopt errexit errreturn
  [[ -n ${__wharf_run-} ]] || return $__wharf_status
  __wharf_run=
  [[ -n $__wharf_sp ]] && setopt promptsp
  __wharf_sp=
  local __wharf_now=$EPOCHREALTIME
  __wharf_place
  __wharf_tell "D;$$;$__wharf_n;$__wharf_status;$__wharf_now;$__wharf_here"
  __wharf_hook
  return $__wharf_status
}

# Before a command that somebody types.
__wharf_preexec() {
  [[ -n $__wharf_mine ]] && return
  __wharf_still
  __wharf_run=1
  __wharf_n=$((__wharf_n + 1))
  __wharf_escape "${1[1,1000]}"
  __wharf_tell "C;$$;$__wharf_n;$EPOCHREALTIME;-,human,$__wharf_text"
}

# Before a prompt, first and last.
__wharf_precmd() {
  { __wharf_end; } 2>/dev/null
}

__wharf_ready() {
  local __wharf_status=$?
  builtin emulate -L zsh
  __wharf_mine=
  [[ ${PS1-} == *__wharf_b* ]] || PS1=${PS1-}'%{${__wharf_b-}%}'
  __wharf_place
  __wharf_tell "A;$$;zsh;$__wharf_here"
  return $__wharf_status
}

# Lines of ours do not enter the history.
__wharf_addhistory() {
  [[ $1 != *' __wharf_begin; '* ]]
}

# Puts back what a command may have taken away.
__wharf_hook() {
  setopt prompt_subst
  __wharf_functions
}

__wharf_functions() {
  builtin emulate -L zsh
  typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  precmd_functions=(__wharf_precmd ${precmd_functions:#__wharf_*} __wharf_ready)
  preexec_functions=(__wharf_preexec ${preexec_functions:#__wharf_*})
  zshaddhistory_functions=(__wharf_addhistory ${zshaddhistory_functions:#__wharf_*})
}

__wharf_answer() {
  local __wharf_status=$?
  # Not a prompt of the shell's: `select` and `vared` read with the same editor.
  if [[ ${CONTEXT-start} != (start|cont) ]]; then
    __wharf_tell "N;$$"
    return
  fi
  __wharf_hook
  __wharf_as $__wharf_status
  __wharf_precmd
  __wharf_ready
  __wharf_tell "P;$$"
}

__wharf_keys() {
  builtin emulate -L zsh
  zle -N __wharf_take
  zle -N __wharf_answer
  local map
  for map in emacs viins vicmd; do
    bindkey -M $map '\e[7707~' __wharf_take
    bindkey -M $map '\e[7708~' __wharf_answer
  done
}

# With the first prompt the user's own files have been read, and may have made new keymaps.
__wharf_first() {
  setopt rcs
  unsetopt errexit errreturn
  __wharf_forget
  __wharf_keys
  __wharf_hook
  __wharf_ready
}

__wharf_forget() {
  builtin emulate -L zsh
  precmd_functions=(${precmd_functions:#__wharf_first})
  zshexit_functions=(${zshexit_functions:#__wharf_again})
  unset __wharf_rc __wharf_plain
  unfunction __wharf_again 2>/dev/null
}

if [[ ${__wharf_plain-} == again ]]; then
  # None of the user's files is read.
  unsetopt rcs
  precmd_functions=(__wharf_first)
elif [[ -z ${__wharf_plain-} ]]; then
  typeset -ga precmd_functions zshexit_functions
  precmd_functions+=(__wharf_first)
  zshexit_functions+=(__wharf_again)
  [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]] && . "${ZDOTDIR:-$HOME}/.zshenv"
else
  setopt rcs
  __wharf_forget
  __wharf_keys
  __wharf_hook
fi
