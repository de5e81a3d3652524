//! Hard links, which may stand before what they link to.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use coldpress_layout::NodeId;

use crate::description::SourceLine;
use crate::draft::Draft;
use crate::error::Error;

/// A hard link that waits for the end of the pack file.
#[derive(Debug)]
pub(super) struct Link<'a> {
    pub(super) directory: NodeId,
    pub(super) name: &'a [u8],
    pub(super) target: &'a [u8],
    pub(super) place: &'a SourceLine,
}

/// The links of a pack file.
#[derive(Debug, Default)]
pub(super) struct Links<'a> {
    list: Vec<Link<'a>>,
    by_name: HashMap<(NodeId, &'a [u8]), usize>,
}

impl<'a> Links<'a> {
    pub(super) fn push(&mut self, link: Link<'a>) {
        let index = self.list.len();
        self.by_name.insert((link.directory, link.name), index);
        self.list.push(link);
    }

    pub(super) fn contains(&self, directory: NodeId, name: &[u8]) -> bool {
        self.by_name.contains_key(&(directory, name))
    }

    /// Links all to what they mean.
    ///
    /// # Errors
    ///
    /// [`Error::Definition`] if that is not there, is a directory, or leads back to the link.
    pub(super) fn resolve(self, draft: &mut Draft) -> Result<(), Error> {
        let mut nodes = vec![None; self.list.len()];
        for first in 0..self.list.len() {
            let mut chain = Vec::new();
            let mut at = first;
            let node = loop {
                if let Some(node) = nodes[at] {
                    break node;
                }
                chain.push(at);
                if chain.len() > self.list.len() {
                    return Err(self.list[at].refused("is linked to itself"));
                }
                match self.target(draft, &self.list[at])? {
                    Target::Node(node) => break node,
                    Target::Link(next) => at = next,
                }
            };
            for index in chain {
                nodes[index] = Some(node);
            }
        }
        for (link, node) in self.list.iter().zip(nodes.into_iter().flatten()) {
            draft.link(link.directory, link.name.to_vec(), node);
        }
        Ok(())
    }

    fn target(&self, draft: &Draft, link: &Link<'_>) -> Result<Target, Error> {
        let missing = || link.refused("cannot be linked to: it does not exist");
        let (above, name) = match link.target.iter().rposition(|&byte| byte == b'/') {
            Some(slash) => (&link.target[..slash], &link.target[slash + 1..]),
            None => (&b""[..], link.target),
        };
        let directory = draft.find(&[b"/", above].concat()).ok_or_else(missing)?;
        match draft.child(directory, name) {
            Some(node) if draft.is_directory(node) => {
                Err(link.refused("cannot be linked to: it is a directory"))
            }
            Some(node) => Ok(Target::Node(node)),
            None => {
                let next = self.by_name.get(&(directory, name));
                next.map(|next| Target::Link(*next)).ok_or_else(missing)
            }
        }
    }
}

enum Target {
    Node(NodeId),
    Link(usize),
}

impl Link<'_> {
    fn refused(&self, rule: &'static str) -> Error {
        Error::Definition {
            place: self.place.clone(),
            path: OsStr::from_bytes(self.target).into(),
            rule,
        }
    }
}
