# What an interactive zsh needs to tell wharf where each command begins and ends. It is its .zshenv, from a directory that
# is removed here; the user's own files are read as always, and the rest of this takes effect with the first prompt, after
# them. @NONCE@ is filled in; it stays in this shell, and nothing that the shell starts is given it.
#
# Nothing here may fork on the way of an ordinary command, and nothing may rely on options or descriptors that a command can
# change. So functions begin with the default options, and marks go to /dev/tty. zsh has no read-only functions, so what
# tells the end of a command is the text of a read-only variable.

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
typeset -g __wharf_text= __wharf_here= __wharf_pwd= __wharf_sp= __wharf_comments= __wharf_traced= __wharf_whole=
# Read-only where this is read a second time.
if [[ ${__wharf_bel-} != $'\a' || $__wharf_mark != *'@NONCE@'* ]]; then
  typeset -gr __wharf_mark=$'\e]6973;@NONCE@;' __wharf_bel=$'\a'
  typeset -gr __wharf_b=$__wharf_mark"B;$$"$'\a'
fi
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
  [[ ${PWD-} == ${__wharf_pwd-} && -n ${__wharf_here-} ]] && return
  __wharf_pwd=$PWD
  __wharf_escape "$PWD"
  __wharf_here=$__wharf_text
}

# Bound to a key that only wharf presses. What follows the key on the terminal is: check;length;number of the last
# command;information;line to show, 0x1d, the command as `printf %b` reads it, 0x1d.
#
# The line that is accepted is an alias for the command. So the command is read as if it had been typed, at top level, its
# jobs are numbered from one, and `$?` and traps are as they were; but it is not shown, it is not remembered, and `!` means
# nothing in it. Options that count for reading are the user's, so this function does not begin with the default ones.
__wharf_take() {
  { __wharf_read; } >/dev/null 2>&1
  { __wharf_check; } >/dev/null 2>&1
  if [[ -n $__wharf_text ]]; then
    { __wharf_refuse; } >/dev/null 2>&1
  else
    __wharf_mine=1 __wharf_whole=1
    [[ $__wharf_cmd == *return* || $__wharf_cmd == *exit* ]] && __wharf_whole=
    # The end is told before anything else that runs before a prompt. What is traced is kept from the terminal by braces
    # alone, in which `$_` is lost.
    if [[ -n $__wharf_traced || $__wharf_cmd == *set* || $__wharf_cmd == *emulate* || $__wharf_cmd == *source* ||
      $__wharf_cmd == *.\ * ]]; then
      __wharf_cmd+=$'\n{ () {\n'$__wharf_over$'\n}; } >/dev/null 2>&1'
    else
      __wharf_cmd+=$'\n() {\n'$__wharf_over$'\n} "$_" >/dev/null 2>&1'
    fi
    if [[ -o aliases && ! -o localoptions ]]; then
      builtin alias "__wharf_given=$__wharf_cmd"
      BUFFER=' __wharf_given'
      # Without it there are no comments in what is typed.
      if [[ ! -o interactivecomments ]]; then
        __wharf_comments=1
        setopt interactivecomments
      fi
    else
      BUFFER=' \builtin eval -- "$__wharf_cmd"'
    fi
  fi
  builtin zle .accept-line
}

__wharf_read() {
  builtin emulate -L zsh
  local check length last text
  builtin print -rn -- "${__wharf_mark}T;$$"$'\a\n\n\e[2A\r\e7' >/dev/tty
  IFS=';' builtin read -r -d $'\x1d' check length last __wharf_info __wharf_show </dev/tty
  ((last > ${__wharf_n:-0})) && __wharf_n=$last
  if ((length > 65536)); then
    # One byte at a time, as `read` has to, a megabyte takes seconds.
    text=$(builtin command -p head -c $((length + 1)) </dev/tty)
    text=${text%$'\x1d'}
  else
    IFS= builtin read -r -d $'\x1d' text </dev/tty
  fi
  builtin printf -v __wharf_cmd %b "$text"
  BUFFER= CURSOR=0
}

# Into __wharf_text, what speaks against the command: nothing if it is whole, as this shell reads it with its aliases and
# options. Inside a function nothing may be left open, be it a here-document or a list; but what closes it is refused first.
__wharf_check() {
  __wharf_text=
  __wharf_parses "$__wharf_cmd" && __wharf_parses $'__wharf_probe() {\n:\n'"$__wharf_cmd"$'\n\n}' && return
  __wharf_words
}

__wharf_parses() {
  {
    functions[__wharf_probe]=$1
  } always {
    TRY_BLOCK_ERROR=0
  }
  [[ -n ${functions[__wharf_probe]+set} ]] || return 1
  builtin unfunction __wharf_probe
}

# What a zsh that only reads it has to say.
__wharf_words() {
  builtin emulate -L zsh
  local zsh=/proc/$$/exe
  __wharf_text=$(ARGV0=zsh command "$zsh" -fn 2>&1 <<<"$__wharf_cmd")
  [[ -z $__wharf_text && $__wharf_cmd == *'<<'* ]] && __wharf_text='a here-document is not ended'
  __wharf_text=${${__wharf_text[1,4000]}:-'something is missing at its end'}
}

__wharf_refuse() {
  __wharf_escape "$__wharf_text"
  __wharf_tell "E;$$;$__wharf_info;$__wharf_text"
}

# The mark for an unfinished line would be printed before the end of a command is told.
__wharf_still() {
  [[ -o promptsp ]] || return 0
  __wharf_sp=1
  unsetopt promptsp
}

# What was there for the reading of a command goes.
__wharf_restore() {
  __wharf_mine=
  [[ -z ${aliases[__wharf_given]+set} ]] || builtin unalias __wharf_given
  [[ -z $__wharf_comments ]] || unsetopt interactivecomments
  __wharf_comments=
}

# Before a command, last of all that runs then.
__wharf_preexec() {
  { __wharf_begin "$1"; } >/dev/null 2>&1
}

__wharf_begin() {
  __wharf_still
  __wharf_run=1
  __wharf_n=$((__wharf_n + 1))
  local shown=
  if [[ -n $__wharf_mine ]]; then
    [[ -z $__wharf_whole ]] || __wharf_run=whole
    __wharf_restore
    # In place of the line that was accepted, what it stands for.
    shown=$'\e8\e[J'"\$ $__wharf_show"$'\n'
  else
    __wharf_escape "${1[1,1000]}"
    __wharf_info=-,human,$__wharf_text
  fi
  builtin print -rn -- "$shown${__wharf_mark}C;$$;$__wharf_n;$EPOCHREALTIME;$__wharf_info"$'\a' >/dev/tty
}

__wharf_as() {
  return $1
}

# What ends a command, on a line of its own. The argument is there for `$_`, which it becomes. No other function has a say
# in the code, and a function of the name `builtin` would be called instead.
if [[ -z ${__wharf_over-} ]]; then
  typeset -gr __wharf_over='\local -r __wharf_status=$?; [[ -z ${functions[builtin]+x} ]] || \unset -f builtin
    \builtin unsetopt errexit errreturn
    # If that is still set, nobody has told that the command began.
    __wharf_mine=
    [[ -n ${__wharf_run-1} ]] || \return $__wharf_status
    __wharf_run=
    [[ -n ${__wharf_sp-} ]] && \builtin setopt promptsp
    __wharf_sp=
    \local -r __wharf_now=$EPOCHREALTIME
    \__wharf_place
    \builtin print -rn -- "${__wharf_mark}D;$$;${__wharf_n:-0};$__wharf_status;$__wharf_now;${__wharf_here-}$__wharf_bel" >/dev/tty
    \__wharf_hook
    \return $__wharf_status'
fi
functions[__wharf_end]=$__wharf_over

# Before a prompt, first of all: for commands that were typed, and for those that were interrupted.
__wharf_precmd() {
  { __wharf_late; } >/dev/null 2>&1
}

__wharf_late() {
  local __wharf_status=$?
  if [[ -n $__wharf_mine ]]; then
    # It was not even begun.
    __wharf_restore
    __wharf_text='zsh cannot read it'
    __wharf_refuse
  fi
  local sp=$__wharf_sp
  # An editor's functions cannot see it.
  [[ -o xtrace ]] && __wharf_traced=1 || __wharf_traced=
  # After a loop that was interrupted zsh may say that all is well. But then its last line would have told the end.
  [[ $__wharf_run != whole || $__wharf_status != 0 ]] || __wharf_status=130
  __wharf_as $__wharf_status
  __wharf_end
  [[ -z $sp ]] || __wharf_unfinished
}

# What zsh would have printed at the end of a line that may be unfinished, and now does not: it has come by that.
__wharf_unfinished() {
  builtin emulate -L zsh
  builtin print -rn -- "${(%)${PROMPT_EOL_MARK-%B%S%#%s%b}}${(l:COLUMNS - 1:)}"$'\r \r' >/dev/tty
}

__wharf_ready() {
  local __wharf_status=$?
  builtin emulate -L zsh
  [[ ${PS1-} == *__wharf_b* ]] || PS1=${PS1-}'%{${__wharf_b-}%}'
  __wharf_place
  __wharf_tell "A;$$;zsh;$__wharf_here;${__wharf_new-}"
  __wharf_new=
  return $__wharf_status
}

# Lines of ours do not enter the history.
__wharf_addhistory() {
  [[ -z $__wharf_mine ]] || return 1
}

# Puts back what a command may have taken away.
__wharf_hook() {
  setopt prompt_subst
  # Without a line editor there are no keys.
  [[ -o zle ]] || setopt zle
  __wharf_functions
}

__wharf_functions() {
  builtin emulate -L zsh
  typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  precmd_functions=(__wharf_precmd ${precmd_functions:#__wharf_*} __wharf_ready)
  preexec_functions=(${preexec_functions:#__wharf_*} __wharf_preexec)
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
