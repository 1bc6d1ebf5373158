rc=$WHARF_SHELL_RC; unset WHARF_SHELL_RC; WHARF_USER_ENV=${ENV-}; ENV=/dev/fd/9; export ENV WHARF_USER_ENV
exec "$0" -i 9<<END 8<<END
$rc
END
$rc
END
