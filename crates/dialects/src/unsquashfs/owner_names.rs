//! Users and groups as unsquashfs prints them.

use std::collections::HashMap;
use std::fs;

use coldpress_host::names::{self, GROUPS, USERS};

/// The names of this machine's users and groups.
#[derive(Debug, Default)]
pub(crate) struct OwnerNames {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl OwnerNames {
    /// Those of `/etc/passwd` and `/etc/group`.
    pub(crate) fn of_machine() -> Self {
        let names = |database| names::all_in(&fs::read(database).unwrap_or_default());
        Self {
            users: names(USERS),
            groups: names(GROUPS),
        }
    }

    /// `user/group`; who has no name is a number.
    pub(crate) fn text(&self, uid: u32, gid: u32) -> String {
        let name = |names: &HashMap<u32, String>, id: u32| {
            let name = names.get(&id).cloned();
            name.unwrap_or_else(|| id.to_string())
        };
        let (user, group) = (name(&self.users, uid), name(&self.groups, gid));
        format!("{user}/{group}")
    }
}
