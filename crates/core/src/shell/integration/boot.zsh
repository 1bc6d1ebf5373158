dir=$(command mktemp -d) || exit
print -r -- "$WHARF_SHELL_RC" >|$dir/.zshenv; unset WHARF_SHELL_RC
[[ -v ZDOTDIR ]] && export WHARF_USER_ZDOTDIR=$ZDOTDIR
ZDOTDIR=$dir exec "$0" -i
