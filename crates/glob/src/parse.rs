//! Patterns from text.

use crate::glob::{Group, Item, Options, Repeat};
use crate::set::{BracketSyntax, parse_bracket};

/// Deeper groups are refused: the parser calls itself for each.
const DEPTH_MAX: usize = 32;
/// More groups are refused: each takes memory while it is matched, at most 10 KiB for a name.
const GROUPS_MAX: usize = 1000;

/// Why a pattern with groups is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.rule())]
pub enum GroupError {
    /// They are nested too deeply.
    Deep,
    /// There are too many.
    Many,
}

impl GroupError {
    /// What is wrong with the pattern.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Deep => "its groups are nested more than 32 deep",
            Self::Many => "it has more than 1000 groups",
        }
    }
}

const BRACKETS: BracketSyntax = BracketSyntax {
    exclamation_negates: true,
    escapes: true,
};

/// A pattern without groups.
pub(crate) fn plain(pattern: &[u8], options: Options) -> Vec<Item> {
    let mut items = Vec::new();
    let mut rest = pattern;
    while let Some((item, behind)) = element(rest, options) {
        items.push(item);
        rest = behind;
    }
    // Lists hold many short patterns.
    items.shrink_to_fit();
    items
}

/// A pattern that may have groups, and how many it has.
pub(crate) fn with_groups(
    pattern: &[u8],
    options: Options,
) -> Result<(Vec<Item>, usize), GroupError> {
    let mut parser = Parser { options, groups: 0 };
    let mut items = parser.items(pattern, 0)?;
    items.shrink_to_fit();
    Ok((items, parser.groups))
}

struct Parser {
    options: Options,
    groups: usize,
}

impl Parser {
    fn items(&mut self, pattern: &[u8], depth: usize) -> Result<Vec<Item>, GroupError> {
        if depth > DEPTH_MAX {
            return Err(GroupError::Deep);
        }
        let mut items = Vec::new();
        let mut rest = pattern;
        loop {
            if let Some(split) = split_group(rest) {
                let index = self.groups;
                self.groups += 1;
                if self.groups > GROUPS_MAX {
                    return Err(GroupError::Many);
                }
                let alternatives = split.alternatives.into_iter();
                let alternatives = alternatives.map(|text| self.items(text, depth + 1));
                items.push(Item::Group(Group {
                    index,
                    repeat: split.repeat,
                    alternatives: alternatives.collect::<Result<_, _>>()?,
                }));
                rest = split.behind;
            } else if let Some((item, behind)) = element(rest, self.options) {
                items.push(item);
                rest = behind;
            } else {
                return Ok(items);
            }
        }
    }
}

/// The first element of a pattern, and what follows.
fn element(pattern: &[u8], options: Options) -> Option<(Item, &[u8])> {
    let (&byte, rest) = pattern.split_first()?;
    Some(match byte {
        b'?' => (Item::Any, rest),
        b'*' => (Item::Star, rest),
        b'[' => match bracket(rest, options) {
            Some((item, behind)) => (item, behind),
            None if options.has_literal_brackets => (Item::Byte(b'['), rest),
            None => (Item::Never, rest),
        },
        b'\\' => match rest.split_first() {
            Some((&escaped, behind)) => (Item::Byte(escaped), behind),
            None => (Item::Never, rest),
        },
        byte => (Item::Byte(byte), rest),
    })
}

/// A set after its opening bracket, and what follows it. Where only slashes match slashes, one
/// before the closing bracket shows that there is no set.
fn bracket(text: &[u8], options: Options) -> Option<(Item, &[u8])> {
    let (set, len) = parse_bracket(text, BRACKETS)?;
    let (inside, behind) = text.split_at_checked(len)?;
    let is_set = options.crosses_slashes || !inside.contains(&b'/');
    is_set.then_some((Item::Set(set), behind))
}

/// What the first byte of a pattern says if a group begins there.
fn repeat(pattern: &[u8]) -> Option<Repeat> {
    let [byte, b'(', ..] = pattern else {
        return None;
    };
    Some(match byte {
        b'?' => Repeat::Optional,
        b'*' => Repeat::Any,
        b'+' => Repeat::Some,
        b'@' => Repeat::Once,
        b'!' => Repeat::Not,
        _ => return None,
    })
}

/// A group in its text.
struct Split<'a> {
    repeat: Repeat,
    alternatives: Vec<&'a [u8]>,
    /// What follows.
    behind: &'a [u8],
}

/// The group at the beginning of a pattern; `None` if there is none, or it is not closed. As in
/// glibc, a backslash protects nothing here, brackets do.
fn split_group(pattern: &[u8]) -> Option<Split<'_>> {
    let repeated = repeat(pattern)?;
    let text = pattern.get(2..)?;
    let mut alternatives = Vec::new();
    let (mut start, mut depth, mut at) = (0, 0, 0);
    loop {
        match *text.get(at)? {
            b'[' => {
                at += 1 + usize::from(matches!(text.get(at + 1), Some(b'!' | b'^')));
                at += usize::from(text.get(at) == Some(&b']'));
                at += text.get(at..)?.iter().position(|&byte| byte == b']')?;
            }
            _ if repeat(&text[at..]).is_some() => {
                depth += 1;
                at += 1;
            }
            b')' if depth == 0 => {
                alternatives.push(&text[start..at]);
                return Some(Split {
                    repeat: repeated,
                    alternatives,
                    behind: &text[at + 1..],
                });
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
