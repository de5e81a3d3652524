//! How an archive is to be written.

use std::str::FromStr;

/// Where index and hot entries are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Index first, as Mozilla's packager writes it: for Gecko and Go only.
    Gecko,
    /// Index first, and again at the end: for Gecko and every other reader but those of streams.
    Double,
    /// Hot entries last, before the index: for all readers.
    Tail,
}

/// Which entries are decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storing {
    /// None.
    Nothing,
    /// Those of the start.
    Hot,
    /// All.
    All,
}

/// How an archive is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where index and hot entries are.
    pub layout: Layout,
    /// Which entries are decompressed.
    pub storing: Storing,
    /// Data that are not compressed begin at a multiple of this; 0: as each entry asks for.
    pub align_bytes: u64,
    /// Whether signed archives are ordered.
    pub takes_signed: bool,
}

/// A word that names neither a layout nor parts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {0}")]
pub struct UnknownWord(&'static str);

impl FromStr for Layout {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "gecko" => Ok(Self::Gecko),
            "double" => Ok(Self::Double),
            "tail" => Ok(Self::Tail),
            _ => Err(UnknownWord("gecko, double or tail")),
        }
    }
}

impl FromStr for Storing {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        match word {
            "hot" => Ok(Self::Hot),
            "all" => Ok(Self::All),
            _ => Err(UnknownWord("hot or all")),
        }
    }
}

impl Layout {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gecko => "gecko",
            Self::Double => "double",
            Self::Tail => "tail",
        }
    }

    pub(super) fn has_front_index(self) -> bool {
        self != Self::Tail
    }

    pub(super) fn has_back_index(self) -> bool {
        self != Self::Gecko
    }
}
