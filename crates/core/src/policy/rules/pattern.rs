//! One rule's command, compiled, and the two ways of matching it.
//!
//! *Exactly*, for rules that allow: every argument is what is written. *Strictly*, for rules that ask or deny: also what
//! amounts to the same, and whatever an unknown word could become. See the table in the module above.

use super::Decision;
use super::git;
use super::shape::{Atom, Shape, Word, atoms, may_equal};
use super::text::{Fault, Token};
use std::path::{Path, PathBuf};

const GIT: [Option<u8>; 3] = [Some(b'g'), Some(b'i'), Some(b't')];

/// A text, or the beginning of one.
#[derive(Debug, Clone)]
struct Literal {
    text: Vec<u8>,
    is_beginning: bool,
}

#[derive(Debug, Clone)]
enum Place {
    /// Any number of arguments.
    Dots,
    Either(Vec<Literal>),
}

/// A rule's command.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    program: Vec<Literal>,
    places: Vec<Place>,
}

impl Pattern {
    pub(super) fn compile(command: &[Token], decision: Decision) -> Result<Pattern, Fault> {
        let (first, rest) = command.split_first().ok_or(Fault::Empty)?;
        let Place::Either(program) = place(first)? else {
            return Err(Fault::NotAProgram { token: "…".to_owned() });
        };
        for name in &program {
            let token = || String::from_utf8_lossy(&name.text).into_owned();
            if name.text.ends_with(b"/") || name.text.is_empty() && !name.is_beginning {
                return Err(Fault::NotAProgram { token: token() });
            }
            if name.is_beginning && decision == Decision::Allow {
                return Err(Fault::VagueProgram { token: token() + "*" });
            }
        }
        let places = rest.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Pattern { program, places })
    }

    /// A path that the rule itself names for this program.
    pub(super) fn path_of(&self, name: &[u8]) -> Option<&[u8]> {
        let is_it = |literal: &&Literal| literal.text.contains(&b'/') && base(&literal.text) == name;
        self.program.iter().find(is_it).map(|literal| literal.text.as_slice())
    }

    /// Whether the rule allows this program, which was found at this path.
    pub(super) fn is_exactly(&self, program: &Path, trusted: &[PathBuf]) -> bool {
        let bytes = program.as_os_str().as_encoded_bytes();
        let in_trusted = || program.parent().is_some_and(|dir| trusted.iter().any(|trusted| trusted == dir));
        self.program.iter().any(|literal| match literal.text.contains(&b'/') {
            true => literal.text == bytes,
            // `./git` in a repository is not git.
            false => program.is_absolute() && literal.text == base(bytes) && in_trusted(),
        })
    }

    /// Whether these arguments are exactly what is written, without `…` or `*` standing for one of `spelled`.
    pub(super) fn takes_exactly(&self, args: &[Vec<u8>], spelled: &[usize]) -> bool {
        let fits = |place: &Place, at: usize| match place {
            Place::Dots => !spelled.contains(&at),
            Place::Either(either) => either.iter().any(|literal| match literal.is_beginning {
                true => args[at].starts_with(&literal.text) && !spelled.contains(&at),
                false => args[at] == literal.text,
            }),
        };
        let mut can = vec![false; args.len() + 1];
        can[0] = true;
        for place in &self.places {
            can = advance(place, &can, |at| fits(place, at), |_| false);
        }
        can[args.len()]
    }

    /// Whether these words could be this command.
    pub(super) fn may_match(&self, name: &Word, args: &[Word]) -> bool {
        let name = Name::of(name);
        let mut programs = self.program.iter().filter(|literal| name.may_be(literal)).peekable();
        if programs.peek().is_none() {
            return false;
        }
        let args = atoms(args);
        let mut can = vec![false; args.len() + 1];
        if programs.any(Literal::may_be_git) && name.may_be_git() {
            can = git::starts(&args.iter().map(Atom::text_of_option).collect::<Vec<_>>());
        }
        can[0] = true;
        // What may be no word at all can be passed over before the first token.
        pass_over(&mut can, |at| matches!(args[at], Atom::Many(_)));
        for place in &self.places {
            let fits = |at: usize| match (place, &args[at]) {
                (Place::Dots, _) => true,
                (Place::Either(either), Atom::One(shape) | Atom::Many(shape)) => {
                    either.iter().any(|literal| literal.may_be(shape))
                }
            };
            can = advance(place, &can, fits, |at| matches!(args[at], Atom::Many(_)));
        }
        can[args.len()]
    }
}

/// Where one can be after `place`, given where one could be before it. `fits` says whether an argument may stand in
/// it, `is_many` whether an argument is any number of words, which can serve this place and the next one too.
fn advance(
    place: &Place,
    can: &[bool],
    fits: impl Fn(usize) -> bool,
    is_many: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut next = vec![false; can.len()];
    let dots = matches!(place, Place::Dots);
    for at in 0..can.len() {
        next[at] |= dots && can[at];
        let reached = can[at] || dots && next[at];
        if at + 1 < can.len() && reached && fits(at) {
            next[at + 1] = true;
            next[at] |= is_many(at);
        }
    }
    pass_over(&mut next, is_many);
    next
}

fn pass_over(can: &mut [bool], is_many: impl Fn(usize) -> bool) {
    for at in 1..can.len() {
        can[at] |= can[at - 1] && is_many(at - 1);
    }
}

fn place(token: &Token) -> Result<Place, Fault> {
    match token {
        Token::One(text) if is_dots(text) => Ok(Place::Dots),
        Token::One(text) => Ok(Place::Either(vec![literal(text)?])),
        Token::Either(texts) if texts.is_empty() => Err(Fault::NoAlternative),
        Token::Either(texts) if texts.iter().any(|text| is_dots(text)) => Err(Fault::DotsInList),
        Token::Either(texts) => {
            texts.iter().map(|text| literal(text)).collect::<Result<_, _>>().map(Place::Either)
        }
    }
}

fn is_dots(text: &str) -> bool {
    matches!(text, "…" | "...")
}

fn literal(text: &str) -> Result<Literal, Fault> {
    let (mut bytes, mut is_beginning) = (Vec::new(), false);
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match (byte, tail.first()) {
            (b'\\', Some(b'*')) => {
                bytes.push(b'*');
                rest = &tail[1..];
            }
            (b'*', None) => is_beginning = true,
            (b'*', Some(_)) => return Err(Fault::Star { token: text.to_owned() }),
            (byte, _) => bytes.push(*byte),
        }
    }
    Ok(Literal { text: bytes, is_beginning })
}

impl Literal {
    fn may_be_git(&self) -> bool {
        let name = Literal { text: base(&self.text).to_vec(), is_beginning: self.is_beginning };
        may_equal(&name.shape(), &GIT)
    }

    fn shape(&self) -> Shape {
        let gap = self.is_beginning.then_some(None);
        self.text.iter().copied().map(Some).chain(gap).collect()
    }

    /// Whether an argument of this shape could be this token, or amount to the same.
    fn may_be(&self, shape: &Shape) -> bool {
        if may_equal(&self.shape(), shape) {
            return true;
        }
        if self.is_beginning {
            return false;
        }
        match self.text.as_slice() {
            [b'-', b'-', _, ..] => self.may_be_long(shape),
            [b'-', letters @ ..] if (1..=3).contains(&letters.len()) => is_cluster(letters, shape),
            _ => false,
        }
    }

    /// `--force=…`, and `--forc`, which most programs take for it.
    fn may_be_long(&self, shape: &Shape) -> bool {
        let mut with_value = self.shape();
        with_value.extend([Some(b'='), None]);
        let known: Vec<u8> = shape.iter().map_while(|byte| *byte).collect();
        let option = known.split(|byte| *byte == b'=').next().unwrap_or_default();
        let is_short_for = option.len() > 2 && self.text.starts_with(option);
        may_equal(&with_value, shape)
            || is_short_for && (known.len() == shape.len() || option.len() < known.len())
    }
}

/// Whether all these letters are in a group of short options, as `f` is in `-rf`.
fn is_cluster(letters: &[u8], shape: &Shape) -> bool {
    let [Some(b'-'), rest @ ..] = shape.as_slice() else { return false };
    let group: Vec<u8> = rest.iter().map_while(|byte| byte.filter(u8::is_ascii_alphanumeric)).collect();
    // A gap behind the letters could hold more of them.
    let is_open = rest.get(group.len()) == Some(&None);
    is_open || letters.iter().all(|letter| group.contains(letter))
}

/// What is known of a program's name in a command that was not looked up.
struct Name {
    whole: Shape,
    base: Shape,
}

impl Name {
    fn of(word: &Word) -> Name {
        let from = word.shape.iter().rposition(|byte| *byte == Some(b'/')).map_or(0, |at| at + 1);
        let base = word.shape[from..].to_vec();
        // In zsh `=rm` is the path of `rm`.
        let base = if base.first() == Some(&Some(b'=')) { base[1..].to_vec() } else { base };
        Name { whole: word.shape.clone(), base }
    }

    fn may_be_git(&self) -> bool {
        may_equal(&self.base, &GIT)
    }

    fn may_be(&self, literal: &Literal) -> bool {
        let is_known_path = self.whole.first() == Some(&Some(b'/')) && self.whole.iter().all(Option::is_some);
        if literal.text.contains(&b'/') && is_known_path {
            let same = |text: &Shape| may_equal(&merged(literal.shape()), &merged(text.clone()));
            return same(&self.whole);
        }
        // Not looked up: a name without a directory, or in one that is not known, may be the one the rule means.
        let name = Literal { text: base(&literal.text).to_vec(), is_beginning: literal.is_beginning };
        may_equal(&name.shape(), &self.base)
    }
}

/// `/bin` is `/usr/bin` nearly everywhere.
fn merged(shape: Shape) -> Shape {
    let starts =
        |text: &[u8]| text.iter().zip(&shape).all(|(a, b)| Some(*a) == *b) && shape.len() > text.len();
    if starts(b"/bin/") || starts(b"/sbin/") {
        return b"/usr".iter().copied().map(Some).chain(shape).collect();
    }
    shape
}

/// What stands behind the last slash.
pub(super) fn base(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
