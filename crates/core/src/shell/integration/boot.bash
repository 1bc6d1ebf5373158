rc=$WHARF_SHELL_RC; unset WHARF_SHELL_RC; exec "$0" --rcfile /dev/fd/9 -i 9<<<"$rc" 8<<<"$rc"
