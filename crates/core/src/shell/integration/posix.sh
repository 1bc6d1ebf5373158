# What an interactive POSIX shell needs to tell wharf where each command begins and ends. It is read as its ENV file, and
# reads the user's own first. @NONCE@ is filled in; it stays in this shell, and nothing that the shell starts is given it.
#
# Such a shell has no keys to bind and no hooks but its prompt, so what runs a command is typed as a line. What people type
# between is not told. Nor has it read-only functions, so what tells the end is the text of a read-only variable.

exec 9<&-
# Set where the user's own file has been read before.
if [ -z "${__wharf_plain-}" ]; then
  __wharf_rc=${WHARF_USER_ENV-}
  unset WHARF_USER_ENV
  if [ -n "$__wharf_rc" ]; then ENV=$__wharf_rc; else unset ENV; fi
  # A file that ends the shell must not end this one: then it is started again without that file. Nothing that it starts
  # is left a descriptor by which to read this.
  [ -n "$__wharf_rc" ] && __wharf_cmd=$(cat <&8)
  exec 8<&-
  __wharf_again() {
    [ -n "${__wharf_rc-}" ] || return 0
    trap - 0
    __wharf_rc="__wharf_plain=1
$__wharf_cmd"
    echo 'wharf: the file that ENV names ends the shell; started again without it' >/dev/tty
    ENV=/dev/fd/9 exec "$0" -i 9<<END
$__wharf_rc
END
  }
  if [ -n "$__wharf_rc" ]; then
    eval "__wharf_rc=\"$__wharf_rc\""
    if [ -r "$__wharf_rc" ]; then
      trap __wharf_again 0
      . "$__wharf_rc"
      case $(trap) in *__wharf_again*) trap - 0 ;; esac
    fi
  fi
  __wharf_rc=
elif [ "$__wharf_plain" = 1 ]; then
  unset ENV
fi
unset __wharf_plain
set +e

__wharf_n=${__wharf_n:-0} __wharf_run= __wharf_cmd= __wharf_pwd= __wharf_here=
__wharf_esc=$(printf '\033') __wharf_bel=$(printf '\007')
__wharf_mark="${__wharf_esc}]6973;@NONCE@;"
__wharf_b="${__wharf_mark}B;$$$__wharf_bel"

__wharf_tell() {
  printf '%s%s\007' "$__wharf_mark" "$1" >/dev/tty
}

# On standard output, with everything but plain letters as %xx.
__wharf_escape() {
  LC_ALL=C
  __wharf_rest=$1
  while [ -n "$__wharf_rest" ]; do
    __wharf_c=${__wharf_rest%"${__wharf_rest#?}"}
    __wharf_rest=${__wharf_rest#?}
    case $__wharf_c in
      [a-zA-Z0-9/._~@:+=-]) printf %s "$__wharf_c" ;;
      *)
        __wharf_c=$(printf %04x "'$__wharf_c")
        printf %%%s "${__wharf_c#"${__wharf_c%??}"}"
        ;;
    esac
  done
}

# Into __wharf_here, where this shell is.
__wharf_place() {
  [ "${PWD-}" = "${__wharf_pwd-}" ] && [ -n "${__wharf_here-}" ] && return
  __wharf_pwd=${PWD-}
  case $__wharf_pwd in
    *[!a-zA-Z0-9/._~@:+=-]*) __wharf_here=$(__wharf_escape "$__wharf_pwd") ;;
    *) __wharf_here=$__wharf_pwd ;;
  esac
}

# Typed by wharf, before an `eval`. The lines after it on the terminal are: check;number of the last command;information,
# then the command as `printf %b` reads it, then a dot; each behind a number sign, so that nothing runs where nobody takes
# them.
__wharf_take() {
  __wharf_status=$?
  unset -f read printf command
  IFS= read -r __wharf_info
  __wharf_info=${__wharf_info#?}
  __wharf_cmd=
  while IFS= read -r __wharf_line && [ "$__wharf_line" != '#.' ]; do
    __wharf_cmd=$__wharf_cmd${__wharf_line#?}
  done
  __wharf_cmd=$(printf %b. "$__wharf_cmd")
  __wharf_cmd=${__wharf_cmd%.}
  __wharf_line=${__wharf_info%%;*} __wharf_info=${__wharf_info#*;}
  [ "${__wharf_info%%;*}" -gt "${__wharf_n:-0}" ] && __wharf_n=${__wharf_info%%;*}
  __wharf_info=${__wharf_info#*;}
  case $__wharf_line in 1) __wharf_check || __wharf_info= ;; esac
  if [ -z "$__wharf_info" ]; then
    __wharf_cmd="__wharf_as $__wharf_status"
    return
  fi
  case $- in
    *x*)
      set +x
      __wharf_cmd="{ set -x; __wharf_as $__wharf_status; } 2>/dev/null; $__wharf_cmd"
      ;;
  esac
  __wharf_run=1 __wharf_n=$((__wharf_n + 1))
  __wharf_tell "C;$$;$__wharf_n;${EPOCHREALTIME:-$(command date +%s)};$__wharf_info"
  return $__wharf_status
}

# Whether the command is whole, by a shell that only reads it. Inside a function an unfinished here-document is an error.
__wharf_check() {
  __wharf_line=$(printf '%s\n' "$__wharf_cmd" | ENV= "$0" -n 2>&1)
  if [ -z "$__wharf_line" ]; then
    case $__wharf_cmd in
      *'<<'*)
        __wharf_line=$(printf 'f() {\n:\n%s\n\n}\n' "$__wharf_cmd" | ENV= "$0" -n 2>&1)
        [ -z "$__wharf_line" ] || __wharf_line='a here-document is not ended'
        ;;
    esac
  fi
  [ -n "$__wharf_line" ] || return 0
  __wharf_tell "E;$$;$__wharf_info;$(__wharf_escape "$__wharf_line")"
  return 1
}

__wharf_as() {
  return "$1"
}

# What comes before a prompt and what ends a command, as text. No function has a say in the code; where there is something
# to escape, one is called in a process of its own.
if [ -z "${__wharf_over-}" ]; then
  __wharf_ready='case ${PWD-} in
    "${__wharf_pwd-}") ;;
    *[!a-zA-Z0-9/._~@:+=-]*) __wharf_here=$(__wharf_escape "$PWD") ;;
    *) __wharf_here=$PWD ;;
  esac
  __wharf_pwd=${PWD-}
  if [ -n "${__wharf_run-1}" ]; then
    __wharf_run=
    \printf "\033]6973;@NONCE@;D;%s\007" "$$;${__wharf_n:-0};$__wharf_status;${EPOCHREALTIME-};${__wharf_here-}" >/dev/tty
  fi
  [ -n "${__wharf_b-}" ] || __wharf_b=$(\printf "\033]6973;@NONCE@;B;%s\007" "$$")
  __wharf_mark=${__wharf_b%"B;$$"?}
  case ${PS1-} in
    *__wharf_b*) ;;
    *) PS1="\${__wharf_run:+\$(__wharf_late \$?)}${PS1-}\${__wharf_b-}" ;;
  esac
  \printf "\033]6973;@NONCE@;A;%s\007" "$$;sh;${__wharf_here-};${__wharf_new-}" >/dev/tty
  __wharf_new='
  __wharf_over='__wharf_status=$? __wharf_cmd=; \set +e; \unset -f printf; \eval "$__wharf_ready"; \__wharf_as "$__wharf_status"'
  readonly __wharf_ready __wharf_over
fi

# A command was interrupted, and with it the line that would have told its end. In a process of its own, so that it is told
# again with each prompt until the next command. If the line failed for a variable that is read-only, the code is that of
# this failure, and the command's is unknown.
__wharf_late() {
  __wharf_place
  if (__wharf_status= __wharf_cmd= __wharf_here= __wharf_pwd= __wharf_run=) 2>/dev/null; then
    __wharf_tell "D;$$;$__wharf_n;$1;${EPOCHREALTIME-};$__wharf_here"
  fi
  __wharf_tell "A;$$;sh;$__wharf_here;"
}

__wharf_answer() {
  eval "$__wharf_over"
  __wharf_tell "P;$$"
}

eval "$__wharf_ready"
