//! Owners and groups.

use coldpress_layout::Node;

use crate::error::Error;

/// What owners and groups become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// The owner of everything.
    pub uid: Option<u32>,
    /// The group of everything.
    pub gid: Option<u32>,
    /// The owner of the root directory, unless there is one for everything.
    pub root_uid: Option<u32>,
    /// The group of the root directory, unless there is one for everything.
    pub root_gid: Option<u32>,
    /// What is added to all owners and groups at the end.
    pub offset: u32,
}

impl Owners {
    /// Everything belongs to root.
    pub fn all_root() -> Self {
        Self {
            uid: Some(0),
            gid: Some(0),
            ..Self::default()
        }
    }

    pub(super) fn set_root(&self, root: &mut Node) {
        root.uid = self.root_uid.unwrap_or(root.uid);
        root.gid = self.root_gid.unwrap_or(root.gid);
    }

    pub(super) fn set(&self, node: &mut Node) {
        node.uid = self.uid.unwrap_or(node.uid);
        node.gid = self.gid.unwrap_or(node.gid);
    }

    pub(super) fn add_offset(&self, node: &mut Node) -> Result<(), Error> {
        for id in [&mut node.uid, &mut node.gid] {
            let sum = id.checked_add(self.offset);
            *id = sum.ok_or_else(|| Error::Value {
                what: "offset of owners and groups",
                found: self.offset.to_string(),
                rule: "it makes a number larger than 4294967295",
            })?;
        }
        Ok(())
    }
}
