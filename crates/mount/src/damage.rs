//! Damage that programs met, told once for each inode.

use std::collections::HashSet;
use std::fmt;
use std::sync::Mutex;

use coldpress_image::{Error, PathText};

use crate::cache::lock;
use crate::node::NodeId;

/// The most inodes whose damage is told: an image may have nothing else.
const TOLD_MAX: usize = 1000;

/// Something of the image that could not be read.
#[derive(Debug)]
pub struct Damage {
    /// The inode.
    pub node: NodeId,
    /// Its path as far as it is known: the name under which it was found first.
    pub path: Vec<u8>,
    /// What is wrong, and at which byte of the image.
    pub error: Error,
}

impl fmt::Display for Damage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, path, error } = self;
        write!(
            formatter,
            "`{}` (inode {}): {error}",
            PathText(path),
            node.0
        )?;
        if let Error::Read { source, .. } = error {
            write!(formatter, ": {source}")?;
        }
        Ok(())
    }
}

/// Who is told of damage; called by several threads at once.
pub type Tell = Box<dyn Fn(&Damage) + Send + Sync>;

/// Which damage was told.
pub(crate) struct ReportedDamage {
    tell: Tell,
    told: Mutex<HashSet<NodeId>>,
}

impl ReportedDamage {
    pub(crate) fn new(tell: Tell) -> Self {
        Self {
            tell,
            told: Mutex::new(HashSet::new()),
        }
    }

    /// Tells of an error, if it is the first of its inode.
    ///
    /// * `path`: finds the path; it is not called while anything is locked.
    pub(crate) fn add(&self, node: NodeId, error: Error, path: impl FnOnce() -> Vec<u8>) {
        let is_new = {
            let mut told = lock(&self.told);
            told.len() < TOLD_MAX && told.insert(node)
        };
        if is_new {
            let path = path();
            (self.tell)(&Damage { node, path, error });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn damage_is_told_once_for_each_inode_and_not_without_end() {
        let texts = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&texts);
        let reported_damage = ReportedDamage::new(Box::new(move |damage| {
            lock(&heard).push(damage.to_string());
        }));
        let damage = || Error::Read {
            start: 96,
            source: std::io::ErrorKind::UnexpectedEof.into(),
        };
        for _ in 0..2 {
            for node in 2..2 * TOLD_MAX as u64 {
                reported_damage.add(NodeId(node), damage(), || b"/a\n".to_vec());
            }
        }
        let texts = lock(&texts);
        assert_eq!(texts.len(), TOLD_MAX);
        assert_eq!(
            texts[0],
            "`/a\\n` (inode 2): cannot read the image at byte 96: unexpected end of file"
        );
    }
}
