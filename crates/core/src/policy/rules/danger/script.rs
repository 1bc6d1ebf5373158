//! sed scripts and awk programs: which are surely harmless.
//!
//! Both languages can run programs and write files. What is not of a simple form counts as doing so.

/// The arguments of sed that are scripts and may run or write: those of `-e`, or else the first that is no option.
pub(super) fn live_sed(args: &[Vec<u8>]) -> Vec<usize> {
    let (mut live, mut has_script) = (Vec::new(), false);
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let (place, script) = match arg.as_slice() {
            [b'-', b'-', long @ ..] if !long.is_empty() => match is_expression(long) {
                Some(Some(value)) => (at, Some(value)),
                Some(None) => (at + 1, args.get(at + 1).map(Vec::as_slice)),
                None => (at, None),
            },
            [b'-', group @ ..] if group.contains(&b'e') => match group.splitn(2, |byte| *byte == b'e').nth(1)
            {
                Some([]) | None => (at + 1, args.get(at + 1).map(Vec::as_slice)),
                value => (at, value),
            },
            [b'-', ..] => (at, None),
            script if !has_script => (at, Some(script)),
            _ => (at, None),
        };
        if let Some(script) = script {
            has_script = true;
            if !is_plain(script) {
                live.push(place);
            }
        }
        at = place + 1;
    }
    live
}

/// Whether this is `--expression`, perhaps cut short, and what stands behind its `=`.
fn is_expression(long: &[u8]) -> Option<Option<&[u8]>> {
    let mut parts = long.splitn(2, |byte| *byte == b'=');
    let name = parts.next().unwrap_or_default();
    b"expression".starts_with(name).then(|| parts.next())
}

fn is_plain(script: &[u8]) -> bool {
    script.split(|byte| *byte == b';').all(is_plain_command)
}

/// `5p`, `1,20p`, `$d`, `/text/p`, `s/a/b/g`.
fn is_plain_command(command: &[u8]) -> bool {
    let command = command.trim_ascii();
    let mut rest = address(command);
    if let Some(second) = rest.strip_prefix(b",") {
        rest = address(second);
    }
    match rest.trim_ascii() {
        [] => command.is_empty(),
        [b's', delimiter, tail @ ..] => is_plain_replacement(*delimiter, tail),
        [letter] => b"pPdDqQ=nNhHgGxl".contains(letter),
        _ => false,
    }
}

/// What stands behind an address.
fn address(text: &[u8]) -> &[u8] {
    match text {
        [b'$', rest @ ..] => rest,
        [b'/', rest @ ..] => {
            let end = rest.iter().position(|byte| *byte == b'/');
            match end {
                Some(end) if !rest[..end].contains(&b'\\') && !rest[..end].contains(&b'[') => {
                    &rest[end + 1..]
                }
                _ => text,
            }
        }
        _ => {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            &text[digits..]
        }
    }
}

/// Two more delimiters, neither escaped nor in brackets, and flags that neither run nor write.
fn is_plain_replacement(delimiter: u8, text: &[u8]) -> bool {
    if b"\\\n[".contains(&delimiter) || text.contains(&b'\n') {
        return false;
    }
    let mut parts = text.split(|byte| *byte == delimiter);
    let (Some(from), Some(to), Some(flags), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_cut = |part: &[u8]| part.ends_with(b"\\") || part.contains(&b'[') && !part.contains(&b']');
    !is_cut(from) && !is_cut(to) && flags.iter().all(|flag| flag.is_ascii_digit() || b"gpiI".contains(flag))
}

/// Whether an argument of awk may be a program that runs or writes.
pub(super) fn is_live_awk(arg: &[u8]) -> bool {
    let has = |part: &[u8]| arg.windows(part.len()).any(|window| window == part);
    has(b"system") || has(b"getline") || has(b"|") || has(b">") || has(b"@") || has(b"close")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_sed_scripts_are_harmless() {
        for plain in ["5p", "1,20p", "$d", "/text/p", "s/a/b/", "s/a/b/g", "s|a|b|2", "1d;3d", ""] {
            assert!(is_plain(plain.as_bytes()), "{plain}");
        }
        for live in [
            "e",
            "1e",
            "e rm x",
            "1e rm x",
            "s/a/b/e",
            "s/a/b/w out",
            "w out",
            "1,3w out",
            "s/a/b/ge",
            "p;e",
            "/x/e",
            "s/a\\/e",
            "{e}",
            "p\ne",
            "w.out",
            "s,a,b,e",
            "s/;e/x/",
            "s/[/]/x/e",
        ] {
            assert!(!is_plain(live.as_bytes()), "{live}");
        }
    }

    #[test]
    fn the_script_is_found_among_the_arguments_of_sed() {
        for (line, live) in [
            ("5p src/main.rs w.txt", &[][..]),
            ("-n 1e file", &[1]),
            ("-e 5p -e 1e file", &[3]),
            ("-ne1e file", &[0]),
            ("--expression=e file", &[0]),
            ("--exp e file", &[1]),
            ("-- e file", &[1]),
        ] {
            let args: Vec<Vec<u8>> = line.split(' ').map(|arg| arg.as_bytes().to_vec()).collect();
            assert_eq!(live_sed(&args), live, "{line}");
        }
    }
}
