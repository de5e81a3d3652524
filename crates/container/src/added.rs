//! A layer of our own: what a tool that runs containers wants to find in an image.

use std::sync::Arc;

use coldpress_image::{PlainEntry, write_tar_end, write_tar_entry};
use coldpress_writer::{Digest, Layer, LayerKind};

/// A layer under construction; everything in it belongs to root.
pub(crate) struct AddedLayer {
    archive: Vec<u8>,
    time_s: u32,
}

impl AddedLayer {
    /// * `time_s`: the time of all entries, seconds since 1970.
    pub(crate) fn new(time_s: u32) -> Self {
        Self {
            archive: Vec::new(),
            time_s,
        }
    }

    pub(crate) fn file(&mut self, path: &str, mode: u16, content: &[u8]) {
        self.add(path, mode, PlainEntry::File(content));
    }

    pub(crate) fn directory(&mut self, path: &str, mode: u16) {
        self.add(path, mode, PlainEntry::Directory);
    }

    pub(crate) fn link(&mut self, path: &str, target: &str) {
        self.add(path, 0o777, PlainEntry::Link(target.as_bytes()));
    }

    fn add(&mut self, path: &str, mode: u16, entry: PlainEntry<'_>) {
        write_tar_entry(&mut self.archive, path.as_bytes(), mode, self.time_s, entry)
            .expect("memory takes all that is written");
    }

    /// The layer, of which messages speak by `name`.
    pub(crate) fn layer(self, name: String) -> Layer {
        let mut archive = self.archive;
        write_tar_end(&mut archive).expect("memory takes all that is written");
        Layer {
            kind: LayerKind::Tar,
            name: name.into(),
            size_bytes: archive.len() as u64,
            digest: Some(Digest::sha256_of(&archive)),
            diff_id: None,
            bytes: Arc::new(archive),
            file: None,
            index: None,
        }
    }
}
