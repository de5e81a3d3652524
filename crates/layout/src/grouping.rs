//! Which cold tail ends share fragment blocks.
//!
//! Blocks are compressed one by one, so what is similar makes an image smaller only if it is in the
//! same block. The blocks of a file are what they are, but which tail ends, that is which small
//! files, share a fragment block is free where no plan says.

mod chain;
mod sketch;

pub use sketch::{Sketch, Sketches};

use crate::tree::{NodeId, Tree};

/// By what tail ends that no plan names share fragment blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Group {
    /// By neighborhood, depth-first by name.
    #[default]
    None,
    /// By the ends of their files' names.
    Extension,
    /// By what they hold.
    Similar,
}

impl Group {
    /// With what it takes to tell.
    ///
    /// * `sketches`: of the tail ends, if they are grouped by what they hold.
    pub fn with(self, sketches: &Sketches) -> Grouping<'_> {
        match self {
            Self::None => Grouping::None,
            Self::Extension => Grouping::Extension,
            Self::Similar => Grouping::Similar(sketches),
        }
    }
}

/// Which tail ends that no plan names share fragment blocks.
#[derive(Clone, Copy, Debug, Default)]
pub enum Grouping<'a> {
    /// Those of neighbors, depth-first by name.
    #[default]
    None,
    /// Those of files whose names end alike.
    Extension,
    /// Those that look alike. What has no sketch is grouped by the end of its name.
    Similar(&'a Sketches),
}

/// A tail end that goes into a fragment block of the cold data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColdTail<'tree> {
    pub(crate) node: NodeId,
    /// The name of its file.
    pub(crate) name: &'tree [u8],
    /// How many items of cold data stand before it.
    pub(crate) place: usize,
}

impl Grouping<'_> {
    /// Puts tails that shall share blocks behind each other.
    pub(crate) fn arrange(&self, tree: &Tree, tails: &mut [ColdTail<'_>]) {
        match self {
            Self::None => {}
            Self::Extension => tails.sort_by_key(|tail| extension(tail.name)),
            Self::Similar(sketches) => {
                let sketch = |tail: &ColdTail<'_>| sketches.get(&tree.tail_of(tail.node));
                tails.sort_by_cached_key(|tail| {
                    (extension(tail.name), sketch(tail).and_then(Sketch::magic))
                });
                let sketches: Vec<_> = tails.iter().map(sketch).collect();
                let order = chain::chain(&sketches);
                let arranged: Vec<_> = order.into_iter().map(|place| tails[place]).collect();
                tails.copy_from_slice(&arranged);
            }
        }
    }
}

/// What a name has behind its last dot, numbers aside: `so` of `libz.so.1.2`. Empty if there is
/// none.
fn extension(name: &[u8]) -> &[u8] {
    let is_number = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let mut parts = name.rsplit(|&byte| byte == b'.');
    let found = parts.by_ref().find(|part| !is_number(part));
    // What stands before the first dot is the name itself.
    match found {
        Some(found) if found.len() < name.len() && parts.any(|part| !part.is_empty()) => found,
        _ => b"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_stands_behind_a_dot_and_is_no_number() {
        let cases = [
            ("a.py", "py"),
            ("a.tar.gz", "gz"),
            ("libz.so", "so"),
            ("libz.so.1.2.13", "so"),
            ("python3.11", ""),
            ("python", ""),
            (".bashrc", ""),
            (".config.json", "json"),
            ("..", ""),
            (".", ""),
            ("", ""),
            ("a.", ""),
            ("a.7", ""),
            ("7", ""),
            ("1.2.3", ""),
        ];
        for (name, expected) in cases {
            let found = extension(name.as_bytes());
            assert_eq!(found, expected.as_bytes(), "{name}");
        }
    }
}
