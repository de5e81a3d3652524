//! What definitions add, as nodes.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coldpress_layout::{Kind, Node, NodeId};

use super::apply::Applying;
use super::{Attributes, Commands, Definition, Object};
use crate::content::{Content, Segment};
use crate::error::{self, Error};
use crate::held::Held;
use crate::scan::Scanner;

impl Applying<'_> {
    pub(super) fn object(
        &mut self,
        definition: &Definition,
        object: &Object,
    ) -> Result<(Kind, Content), Error> {
        let kind = match object {
            Object::Directory => directory_kind(),
            Object::BlockDevice { major, minor } => Kind::BlockDevice {
                major: *major,
                minor: *minor,
            },
            Object::CharDevice { major, minor } => Kind::CharDevice {
                major: *major,
                minor: *minor,
            },
            Object::Fifo => Kind::Fifo,
            Object::Socket => Kind::Socket,
            Object::Symlink { target } => Kind::Symlink {
                target: target.clone(),
            },
            Object::Command { command } => {
                if self.pseudo.commands == Commands::Refused {
                    let (place, command) = (definition.place.clone(), command.clone());
                    return Err(Error::CommandRefused { place, command });
                }
                let scratch = &self.pseudo.scratch;
                let (content, size_bytes) =
                    self.outputs.run(self.draft, definition, command, scratch)?;
                return Ok((Kind::File { size_bytes }, content));
            }
            Object::Data {
                file,
                offset_bytes,
                len_bytes,
                sparse,
            } => {
                let content = self.data(*file, *offset_bytes, *len_bytes, *sparse)?;
                let size_bytes = *len_bytes;
                return Ok((Kind::File { size_bytes }, content));
            }
        };
        Ok((kind, Content::Nothing))
    }

    fn data(
        &mut self,
        file: usize,
        offset_bytes: u64,
        len_bytes: u64,
        sparse: bool,
    ) -> Result<Content, Error> {
        if len_bytes == 0 {
            return Ok(Content::Nothing);
        }
        let data = &self.pseudo.data[file];
        let store = if let Some(store) = self.stores[file] {
            store
        } else {
            let shared = data.file.try_clone();
            let shared = shared.map_err(error::source("read", &data.path))?;
            *self.stores[file].insert(self.draft.keep(Arc::new(shared), data.path.clone()))
        };
        let offset_bytes = data.start_bytes + offset_bytes;
        Ok(if sparse {
            // One piece: which of its blocks are zeros is seen when they are read.
            let segments = Box::new([Segment {
                at_bytes: 0,
                offset_bytes,
                len_bytes,
            }]);
            Content::Segments { store, segments }
        } else {
            Content::Stored {
                store,
                offset_bytes,
            }
        })
    }

    /// Takes a file from outside.
    pub(super) fn disk(
        &mut self,
        directory: NodeId,
        name: &[u8],
        definition: &Definition,
        path: &Path,
        follow: bool,
    ) -> Result<NodeId, Error> {
        let resolved: PathBuf = if follow {
            fs::canonicalize(path).map_err(error::source("follow", path))?
        } else {
            path.into()
        };
        let path = resolved.as_path();
        let held = Held::open(path).map_err(error::source("read", path))?;
        if held.metadata.is_dir() {
            return Err(Error::Definition {
                place: definition.place.clone(),
                path: path.into(),
                rule: "is a directory, which has no second name",
            });
        }
        let identity = held.identity();
        if let Some(node) = self.linked.get(&identity) {
            return Ok(*node);
        }
        let mut quiet = |_| ControlFlow::Continue(());
        let mut scanner = Scanner::new(self.draft, self.options, &mut quiet);
        scanner.file(directory, path, name, &held, None)?;
        let node = self.draft.child(directory, name);
        let node = node.expect("the scanner names what it adds");
        self.linked.insert(identity, node);
        Ok(node)
    }

    pub(super) fn node(
        &mut self,
        kind: Kind,
        attributes: &Attributes,
        content: Content,
    ) -> Result<NodeId, Error> {
        // Nobody asks for the permissions of a symlink, and Linux shows all of them.
        let is_symlink = matches!(kind, Kind::Symlink { .. });
        let node = Node {
            kind,
            mode: if is_symlink { 0o777 } else { attributes.mode },
            uid: attributes.uid,
            gid: attributes.gid,
            mtime_s: self.time_s(attributes.time_s.unwrap_or(self.time_s)),
            xattrs: Arc::default(),
        };
        self.draft.add(node, content)
    }
}

pub(super) fn directory_kind() -> Kind {
    Kind::Directory {
        entries: Vec::new(),
    }
}
