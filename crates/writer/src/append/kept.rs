//! The tree of an image that is appended to, put together with what is appended.

use std::ops::ControlFlow;

use coldpress_format::File;
use coldpress_image::Image;
use coldpress_layout::{Kind, Node, NodeId};

use super::{Appending, open_image};
use crate::content::Content;
use crate::draft::Draft;
use crate::error::{self, Error};
use crate::gather::SourceOptions;
use crate::image_input::{self, Role};
use crate::source::{Source, SourceImage};
use crate::synthetic_root::SyntheticRoot;

impl Source {
    /// Adds the tree of the image that this source is appended to. Its files keep the places of
    /// their data; [`write()`](crate::write()) then writes behind the image.
    ///
    /// * `root_becomes`: the name under which the old root directory stands in the new one;
    ///   without one, what is in it stands in the new root directory.
    /// * `progress`: as for [`gather`](crate::gather).
    ///
    /// # Errors
    ///
    /// [`Error::SourceImage`] if the image cannot be read, [`Error::SameName`] if something else
    /// has a name that it needs ([`SourceOptions::taken_names`]), [`Error::TooMany`] if inodes
    /// cannot be numbered.
    ///
    /// # Cost
    ///
    /// Reads the metadata of the image; memory as for any source.
    pub fn append_to(
        &mut self,
        appending: &Appending,
        root_becomes: Option<&[u8]>,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let opened = open_image(&appending.file, appending.offset_bytes);
        let opened = opened.map_err(error::source("open", &appending.path))?;
        let image = SourceImage {
            image: opened.map_err(|error| appending.unreadable(error))?,
            path: appending.path.clone(),
            is_copied: false,
        };
        let mut draft = Draft::new(SyntheticRoot::default().node());
        draft.nodes[0] = image_input::read(
            &mut draft,
            image,
            Role::Input,
            &SourceOptions::default(),
            progress,
        )?;
        self.keep(draft.finish(), root_becomes)
    }

    /// Puts the nodes of an image behind the own ones.
    fn keep(&mut self, mut base: Self, root_becomes: Option<&[u8]>) -> Result<(), Error> {
        let count = self.tree.nodes.len();
        let found = (count + base.tree.nodes.len()) as u64;
        let limit = u64::from(u32::MAX);
        let shift = u32::try_from(count).ok().filter(|_| found <= limit);
        let shift = shift.ok_or(Error::TooMany {
            what: "inodes",
            found,
            limit,
        })?;
        self.tree.first_kept = Some(NodeId(shift));
        let root = if let Some(name) = root_becomes {
            shift_entries(&mut base.tree.nodes, shift);
            vec![(name.to_vec(), NodeId(shift))]
        } else {
            // The old root directory is no node of the new tree.
            shift_entries(&mut base.tree.nodes, shift - 1);
            base.contents.remove(0);
            std::mem::take(entries_mut(&mut base.tree.nodes.remove(0)))
        };
        let entries = entries_mut(&mut self.tree.nodes[0]);
        entries.extend(root);
        entries.sort_unstable();
        if let Some(pair) = entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(Error::same_name(&pair[0].0));
        }
        let own_images = u32::try_from(self.images.len()).expect("fewer images than inputs");
        for content in &mut base.contents {
            if let Content::Image { image, .. } = content {
                *image += own_images;
            }
        }
        self.base = Some(self.images.len());
        self.tree.nodes.append(&mut base.tree.nodes);
        self.contents.append(&mut base.contents);
        self.images.append(&mut base.images);
        Ok(())
    }

    /// For each node its data as far as the image has it already.
    pub(crate) fn kept_files(&self) -> Vec<File> {
        let mut files = vec![File::default(); self.tree.nodes.len()];
        let first = self.tree.first_kept.map_or(files.len(), NodeId::index);
        for (file, content) in files.iter_mut().zip(&self.contents).skip(first) {
            if let Content::Image { file: kept, .. } = content {
                *file = (**kept).clone();
            }
        }
        files
    }

    /// The image that this source is appended to.
    pub(crate) fn base(&self) -> Option<&Image> {
        Some(&self.images[self.base?].image)
    }
}

fn shift_entries(nodes: &mut [Node], shift: u32) {
    for node in nodes {
        if let Kind::Directory { entries } = &mut node.kind {
            for (_, child) in entries {
                child.0 += shift;
            }
        }
    }
}

fn entries_mut(root: &mut Node) -> &mut Vec<(Vec<u8>, NodeId)> {
    match &mut root.kind {
        Kind::Directory { entries } => entries,
        _ => unreachable!("a root is a directory"),
    }
}
