//! Wildcards for one name: what `fnmatch(3)` and git's `wildmatch` accept, in the C locale.
//!
//! A pattern is matched by carrying the set of places that it can have reached, so that no pattern
//! takes more than polynomial time; names have at most 256 bytes. glibc searches instead, and
//! misses a group behind `*` that matches nothing at the end of a name: `*@(b|)` does not match `a`
//! there, but does here. Of 600000 random pairs, 2 in 1000 differ for such reasons.

use super::set::{BracketSyntax, ByteSet, parse_bracket};
use crate::error::Error;

/// Deeper groups are refused: the parser calls itself for each.
const DEPTH_MAX: usize = 32;

/// Whose wildcards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// mksquashfs's `-wildcards`: `FNM_PATHNAME | FNM_PERIOD | FNM_EXTMATCH` of glibc. A dot at
    /// the beginning of a name must be written, and there are groups `?(a|b)`, `*(..)`, `+(..)`,
    /// `@(..)` and `!(..)`. A bracket that is not closed is itself.
    Mksquashfs,
    /// `.gitignore`: no groups, dots are nothing special, a bracket that is not closed matches
    /// nothing.
    Git,
}

/// A pattern for one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wildcard {
    items: Vec<Item>,
    dialect: Dialect,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Byte(u8),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `[..]`
    Set(ByteSet),
    /// `+(..|..)`
    Group(Repeat, Vec<Vec<Item>>),
    /// Matches nothing at all.
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeat {
    /// `?(`
    Optional,
    /// `*(`
    Any,
    /// `+(`
    Some,
    /// `@(`
    Once,
    /// `!(`
    Not,
}

impl Wildcard {
    /// Parses a pattern, which has no slash.
    ///
    /// # Errors
    ///
    /// [`Error::Value`] if groups are nested too deeply; everything else means something.
    pub(super) fn parse(pattern: &[u8], dialect: Dialect) -> Result<Self, Error> {
        let mut items = parse(pattern, dialect, 0)?;
        // Lists hold many short patterns.
        items.shrink_to_fit();
        Ok(Self { items, dialect })
    }

    /// Whether the whole of a name matches.
    ///
    /// # Cost
    ///
    /// Pattern length times name length; each group within another multiplies by the name length.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        // Most patterns of long lists differ at once.
        if let (Some(Item::Byte(wanted)), first) = (self.items.first(), name.first())
            && first != Some(wanted)
        {
            return false;
        }
        let is_hidden = self.dialect == Dialect::Mksquashfs && name.first() == Some(&b'.');
        let subject = Subject { name, is_hidden };
        let mut start = vec![false; name.len() + 1];
        start[0] = true;
        subject.advance(&self.items, start)[name.len()]
    }
}

/// A name that is matched.
struct Subject<'a> {
    name: &'a [u8],
    /// Whether it begins with a dot that wildcards do not match.
    is_hidden: bool,
}

impl Subject<'_> {
    /// The places that `items` reach from the places `from`.
    fn advance(&self, items: &[Item], from: Vec<bool>) -> Vec<bool> {
        items.iter().fold(from, |from, item| self.step(item, &from))
    }

    fn step(&self, item: &Item, from: &[bool]) -> Vec<bool> {
        match item {
            Item::Byte(wanted) => self.shift(from, |_, byte| byte == *wanted),
            Item::Any => self.shift(from, |at, _| self.is_open(at)),
            Item::Set(set) => self.shift(from, |at, byte| self.is_open(at) && set.contains(byte)),
            Item::Star => {
                let mut reached = false;
                let places = from.iter().enumerate();
                let reach = places.map(|(at, &here)| {
                    reached |= here && self.is_open(at);
                    reached
                });
                reach.collect()
            }
            Item::Group(repeat, alternatives) => self.group(*repeat, alternatives, from),
            Item::Never => vec![false; from.len()],
        }
    }

    /// Whether a wildcard may match at a place.
    fn is_open(&self, at: usize) -> bool {
        !(self.is_hidden && at == 0)
    }

    /// One byte further, where it `fits`.
    fn shift(&self, from: &[bool], fits: impl Fn(usize, u8) -> bool) -> Vec<bool> {
        let mut to = vec![false; from.len()];
        for (at, &byte) in self.name.iter().enumerate() {
            to[at + 1] = from[at] && fits(at, byte);
        }
        to
    }

    fn group(&self, repeat: Repeat, alternatives: &[Vec<Item>], from: &[bool]) -> Vec<bool> {
        match repeat {
            Repeat::Once => self.once(alternatives, from),
            Repeat::Optional => union(from, &self.once(alternatives, from)),
            Repeat::Some => self.closure(alternatives, self.once(alternatives, from)),
            Repeat::Any => self.closure(alternatives, from.to_vec()),
            Repeat::Not => {
                let mut to = vec![false; from.len()];
                for start in (0..from.len()).filter(|&start| from[start]) {
                    let mut alone = vec![false; from.len()];
                    alone[start] = true;
                    let matched = self.once(alternatives, &alone);
                    for end in start..to.len() {
                        to[end] |= !matched[end];
                    }
                }
                to
            }
        }
    }

    fn once(&self, alternatives: &[Vec<Item>], from: &[bool]) -> Vec<bool> {
        let none = vec![false; from.len()];
        alternatives.iter().fold(none, |reached, items| {
            union(&reached, &self.advance(items, from.to_vec()))
        })
    }

    /// `from`, and what any number of repetitions reaches from there.
    fn closure(&self, alternatives: &[Vec<Item>], from: Vec<bool>) -> Vec<bool> {
        let mut reached = from;
        loop {
            let further = union(&reached, &self.once(alternatives, &reached));
            if further == reached {
                return reached;
            }
            reached = further;
        }
    }
}

fn union(left: &[bool], right: &[bool]) -> Vec<bool> {
    left.iter().zip(right).map(|(a, b)| a | b).collect()
}

fn parse(pattern: &[u8], dialect: Dialect, depth: usize) -> Result<Vec<Item>, Error> {
    if depth > DEPTH_MAX {
        let rule = "its groups are nested more than 32 deep";
        return Err(Error::value("pattern", pattern, rule));
    }
    let has_groups = dialect == Dialect::Mksquashfs;
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        let rest = &pattern[at..];
        if let (true, Some(repeat)) = (has_groups, repeat(byte, rest))
            && let Some((alternatives, len)) = split_group(&rest[1..])
        {
            let parse = |text: &&[u8]| parse(text, dialect, depth + 1);
            let alternatives: Result<_, _> = alternatives.iter().map(parse).collect();
            items.push(Item::Group(repeat, alternatives?));
            at += 1 + len;
            continue;
        }
        items.push(match byte {
            b'?' => Item::Any,
            b'*' => Item::Star,
            b'[' => match parse_bracket(rest, BRACKETS) {
                Some((set, len)) => {
                    at += len;
                    Item::Set(set)
                }
                None if dialect == Dialect::Git => Item::Never,
                None => Item::Byte(b'['),
            },
            b'\\' => {
                at += 1;
                rest.first().map_or(Item::Never, |&byte| Item::Byte(byte))
            }
            byte => Item::Byte(byte),
        });
    }
    Ok(items)
}

const BRACKETS: BracketSyntax = BracketSyntax {
    exclamation_negates: true,
    escapes: true,
};

/// What `byte` says if a group begins behind it.
fn repeat(byte: u8, rest: &[u8]) -> Option<Repeat> {
    if rest.first() != Some(&b'(') {
        return None;
    }
    Some(match byte {
        b'?' => Repeat::Optional,
        b'*' => Repeat::Any,
        b'+' => Repeat::Some,
        b'@' => Repeat::Once,
        b'!' => Repeat::Not,
        _ => return None,
    })
}

/// The alternatives of a group, and their length with the closing parenthesis; `None` if it is not
/// closed. As in glibc, a backslash protects nothing here, brackets do.
fn split_group(text: &[u8]) -> Option<(Vec<&[u8]>, usize)> {
    let mut alternatives = Vec::new();
    let (mut start, mut depth, mut at) = (0, 0, 0);
    loop {
        match *text.get(at)? {
            b'[' => {
                at += 1 + usize::from(matches!(text.get(at + 1), Some(b'!' | b'^')));
                at += usize::from(text.get(at) == Some(&b']'));
                at += text[at..].iter().position(|&byte| byte == b']')?;
            }
            byte if repeat(byte, &text[at + 1..]).is_some() => {
                depth += 1;
                at += 1;
            }
            b')' if depth == 0 => {
                alternatives.push(&text[start..at]);
                return Some((alternatives, at + 1));
            }
            b')' => depth -= 1,
            b'|' if depth == 0 => {
                alternatives.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
}
