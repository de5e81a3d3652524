//! A file of the source that gets another content.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_layout::{Kind, NodeId};

use crate::content::{Content, Store, StoreId};
use crate::error::Error;
use crate::source::Source;

impl Source {
    /// Gives a regular file the content of another, and keeps its name and metadata. What was a
    /// duplicate of it, or it of another, is none any more.
    ///
    /// * `path`: of `file`, for messages; nobody else may change it.
    ///
    /// # Errors
    ///
    /// [`Error::Source`] if it cannot be asked for its length.
    pub fn replace(&mut self, node: NodeId, path: PathBuf, file: File) -> Result<(), Error> {
        let size_bytes = match file.metadata() {
            Ok(metadata) => metadata.len(),
            Err(error) => {
                return Err(Error::Source {
                    action: "read",
                    path,
                    error,
                });
            }
        };
        let store = StoreId(u32::try_from(self.stores.len()).expect("stores are few"));
        self.stores.push(Store {
            bytes: Arc::new(file),
            path,
            watched: None,
            deferred: None,
            hashes: HashMap::new(),
        });
        self.contents[node.index()] = Content::Stored {
            store,
            offset_bytes: 0,
        };
        self.tree.nodes[node.index()].kind = Kind::File { size_bytes };
        for same in [&mut self.tree.duplicates, &mut self.tree.duplicate_tails] {
            same.retain(|copy, original| *copy != node && *original != node);
        }
        Ok(())
    }
}
