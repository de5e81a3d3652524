//! What one layer does to those below it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use coldpress_layout::NodeId;

use crate::draft::Draft;

/// What whiteouts begin with (OCI image specification, "Whiteouts").
const PREFIX: &[u8] = b".wh.";
/// What hides all that lower layers have in a directory.
const OPAQUE: &[u8] = b".wh..wh..opq";
/// What else begins so is bookkeeping of aufs: `.wh..wh.aufs`, `.wh..wh.orph`, `.wh..wh.plnk`.
const AUFS: &[u8] = b".wh..wh.";

/// What a path of a layer stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning<'a> {
    /// Something that is in the image.
    Entry,
    /// That this name of lower layers is hidden.
    Whiteout(&'a [u8]),
    /// That everything of lower layers in the directory is hidden.
    Opaque,
    /// Nothing for the image.
    Bookkeeping,
    /// A whiteout of no name, or of one that no file has.
    Nameless,
}

impl<'a> Meaning<'a> {
    /// * `names`: the components of the path, at least one.
    pub(crate) fn of(names: &'a [Vec<u8>]) -> Self {
        let Some((name, parents)) = names.split_last() else {
            return Self::Entry;
        };
        if parents.iter().any(|name| name.starts_with(PREFIX)) {
            return Self::Bookkeeping;
        }
        match name.strip_prefix(PREFIX) {
            None => Self::Entry,
            Some(b"" | b"." | b"..") => Self::Nameless,
            Some(_) if name == OPAQUE => Self::Opaque,
            Some(_) if name.starts_with(AUFS) => Self::Bookkeeping,
            Some(hidden) => Self::Whiteout(hidden),
        }
    }
}

/// A layer while its entries are put on top of the lower layers.
///
/// Whiteouts hide what lower layers have, never what their own layer has, and may stand before or
/// behind it. So the names that the layer has put are known until its end.
#[derive(Debug, Default)]
pub(crate) struct Upper {
    /// Names that this layer has an entry for, or has something below.
    own: BTreeMap<NodeId, BTreeSet<Vec<u8>>>,
    /// Directories without anything of lower layers: a thousand whiteouts of one large directory
    /// cost no more than one.
    emptied: HashSet<NodeId>,
    /// Whether directories that the layer does not describe may be links of lower layers.
    pub(super) follows_symlinks: bool,
}

impl Upper {
    pub(super) fn new(follows_symlinks: bool) -> Self {
        Self {
            follows_symlinks,
            ..Self::default()
        }
    }

    /// Notes that the layer has a name.
    pub(crate) fn own(&mut self, directory: NodeId, name: &[u8]) {
        let names = self.own.entry(directory).or_default();
        if !names.contains(name) {
            names.insert(name.to_vec());
        }
    }

    /// Whether the layer has a name.
    pub(crate) fn is_own(&self, directory: NodeId, name: &[u8]) -> bool {
        let names = self.own.get(&directory);
        names.is_some_and(|names| names.contains(name))
    }

    /// Hides what lower layers have by a name.
    pub(crate) fn hide(&mut self, draft: &mut Draft, directory: NodeId, name: &[u8]) {
        if !self.is_own(directory, name) {
            draft.unlink(directory, name);
            return;
        }
        let node = draft.child(directory, name);
        if let Some(node) = node.filter(|node| draft.is_directory(*node)) {
            self.hide_below(draft, node);
        }
    }

    /// Hides what lower layers have below a directory.
    pub(crate) fn hide_below(&mut self, draft: &mut Draft, directory: NodeId) {
        let mut pending = vec![directory];
        while let Some(directory) = pending.pop() {
            if !self.emptied.insert(directory) {
                continue;
            }
            let children = draft.children(directory);
            let (own, lower): (Vec<_>, Vec<_>) =
                children.partition(|(name, _)| self.is_own(directory, name));
            let below = own.into_iter().map(|(_, node)| node);
            pending.extend(below.filter(|node| draft.is_directory(*node)));
            let lower: Vec<Vec<u8>> = lower.into_iter().map(|(name, _)| name.to_vec()).collect();
            for name in lower {
                draft.unlink(directory, &name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_hidden() {
        for (path, meaning) in [
            ("etc/passwd", Meaning::Entry),
            ("etc/.wh.passwd", Meaning::Whiteout(b"passwd")),
            (".wh.etc", Meaning::Whiteout(b"etc")),
            ("etc/.wh.x.wh.y", Meaning::Whiteout(b"x.wh.y")),
            ("etc/.wh..bashrc", Meaning::Whiteout(b".bashrc")),
            ("etc/.wh", Meaning::Entry),
            ("etc/.wh.", Meaning::Nameless),
            ("etc/.wh..", Meaning::Nameless),
            ("etc/.wh...", Meaning::Nameless),
            ("etc/.wh....", Meaning::Whiteout(b"...")),
            ("etc/.wh..wh..opq", Meaning::Opaque),
            (".wh..wh.aufs", Meaning::Bookkeeping),
            (".wh..wh.plnk/12.34", Meaning::Bookkeeping),
            (".wh..wh.orph", Meaning::Bookkeeping),
            (".wh.etc/passwd", Meaning::Bookkeeping),
            ("a.wh.b", Meaning::Entry),
        ] {
            let names = path.split('/').map(|name| name.as_bytes().to_vec());
            let names: Vec<_> = names.collect();
            assert_eq!(Meaning::of(&names), meaning, "{path}");
        }
    }
}
