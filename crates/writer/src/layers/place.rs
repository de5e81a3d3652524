//! Where an entry of a layer goes: whiteouts, and directories that the layer does not describe.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use coldpress_layout::{Kind, NodeId};

use super::upper::Meaning;
use crate::error::Error;
use crate::tar::TarDefect;
use crate::tar::entry::Entry;
use crate::tar::unpack::Unpacker;
use crate::warning::Warning;

/// The kernel follows 40 links in one path (`MAXSYMLINKS`).
const LINKS_MAX: usize = 40;
/// Components of a path with its links followed: as many as the longest path has. Else a layer of
/// links could keep a build busy for hours.
const STEPS_MAX: usize = 4096;

/// What a symbolic link means in a path, if the layer of the path has it.
#[derive(Clone, Copy)]
enum OwnLinks {
    /// The directory that it leads to.
    Follow,
    /// That lower layers have nothing there.
    End,
}

impl Unpacker<'_> {
    /// Does what an entry says about lower layers; returns whether that is all that it says.
    pub(crate) fn hides(&mut self, entry: &Entry, names: &[Vec<u8>]) -> Result<bool, Error> {
        let meaning = Meaning::of(names);
        match meaning {
            Meaning::Entry => return Ok(false),
            Meaning::Bookkeeping => {
                self.draft.warn(Warning::Bookkeeping {
                    archive: self.archive.clone(),
                    at_bytes: entry.at_bytes,
                    path: OsString::from_vec(entry.path.clone()).into(),
                });
                return Ok(true);
            }
            Meaning::Nameless => {
                let path = entry.path.escape_ascii().to_string();
                return Err(self.error(entry.at_bytes, TarDefect::Whiteout { path }));
            }
            Meaning::Whiteout(_) | Meaning::Opaque => {}
        }
        let directory = self.descend(entry, &names[..names.len() - 1], OwnLinks::End)?;
        // Below what the layer makes a file or a link of, nothing of lower layers is left; umoci
        // lists each of its names all the same. Whoever follows the link, as `umoci unpack` does,
        // loses what has the same names where it leads.
        if let Some(directory) = directory
            && let Some(upper) = &mut self.upper
        {
            match meaning {
                Meaning::Whiteout(name) => upper.hide(self.draft, directory, name),
                _ => upper.hide_below(self.draft, directory),
            }
        }
        Ok(true)
    }

    /// The directory at a path, for something of a layer.
    ///
    /// Links are followed if the layer itself has them, as `tar -x` into an empty directory does.
    /// Those of lower layers are hidden by the directory that the path implies, as an overlay of
    /// unpacked layers shows it, unless links are to be followed.
    pub(crate) fn parent_in_layer(
        &mut self,
        entry: &Entry,
        names: &[Vec<u8>],
    ) -> Result<NodeId, Error> {
        self.descend(entry, names, OwnLinks::Follow)?
            .ok_or_else(|| {
                let path = entry.path.escape_ascii().to_string();
                self.error(entry.at_bytes, TarDefect::NotADirectory { path })
            })
    }

    /// The same; `None` if the layer itself has something else there.
    fn descend(
        &mut self,
        entry: &Entry,
        names: &[Vec<u8>],
        own_links: OwnLinks,
    ) -> Result<Option<NodeId>, Error> {
        // With whether a link says so: what only links name is not made.
        let mut pending: Vec<(Vec<u8>, bool)> = names
            .iter()
            .rev()
            .map(|name| (name.clone(), false))
            .collect();
        let mut above = vec![NodeId::ROOT];
        let (mut links, mut steps) = (0, 0);
        while let Some((name, is_target)) = pending.pop() {
            steps += 1;
            if steps > STEPS_MAX {
                return Ok(None);
            }
            if name == b".." {
                // The root is its own parent.
                above.truncate(above.len().saturating_sub(1).max(1));
                continue;
            }
            let directory = above.last().copied().unwrap_or(NodeId::ROOT);
            let found = self.draft.child(directory, &name);
            let Some(node) = found else {
                if is_target {
                    return Ok(None);
                }
                above.push(self.imply(entry, directory, &name)?);
                continue;
            };
            if self.draft.is_directory(node) {
                self.own(directory, &name);
                above.push(node);
                continue;
            }
            let upper = self.upper.as_ref();
            let is_own = upper.is_some_and(|upper| upper.is_own(directory, &name));
            let is_followed = match own_links {
                OwnLinks::End if is_own => false,
                _ => is_own || upper.is_some_and(|upper| upper.follows_symlinks),
            };
            match &self.draft.nodes[node.index()].kind {
                Kind::Symlink { target } if is_followed && links < LINKS_MAX => {
                    links += 1;
                    if target.starts_with(b"/") {
                        above.truncate(1);
                    }
                    let names = target.split(|byte| *byte == b'/').rev();
                    let names = names.filter(|name| !name.is_empty() && *name != b".");
                    pending.extend(names.map(|name| (name.to_vec(), true)));
                }
                kind if !is_own && !is_followed && !is_target => {
                    if matches!(kind, Kind::Symlink { .. }) {
                        let name = name.escape_ascii();
                        let text = format!(
                            "makes a directory of `{name}`, which is a link in a lower layer; \
                             --follow-symlinks follows such links instead"
                        );
                        self.warn(entry.at_bytes, &entry.path, &text);
                    }
                    above.push(self.imply(entry, directory, &name)?);
                }
                _ => return Ok(None),
            }
        }
        Ok(above.last().copied())
    }
}
