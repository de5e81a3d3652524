//! `coldpress ls`.

pub(crate) mod args;

use std::collections::HashSet;

use anyhow::{anyhow, bail};
use coldpress_describe::{FileFacts, Listing};
use coldpress_format::{Body, Directory, InodeRef};
use coldpress_image::Image;
use coldpress_image::image_path::{Found, child, resolve_as_listed};
use coldpress_report::failure::sentence;
use coldpress_report::text::{image_path, quoted_bytes};
use coldpress_session::exit::Exit;
use coldpress_session::failure;
use coldpress_session::ui::{Stdout, Ui};

use crate::image_file::open_image_at;
use crate::verbs::ls::args::LsArgs;

pub(super) fn run(args: &LsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let image = open_image_at(&args.image, &args.place)?;
    let mut paths: Vec<Vec<u8>> = args.paths.iter().map(|path| image_path(path)).collect();
    if paths.is_empty() {
        paths.push(b"/".to_vec());
    }
    let full_paths = args.recursive || paths.len() > 1;
    let listing = Listing {
        out: ui.out(),
        json: args.json,
        long: args.long,
        full_paths,
        count: 0,
    };
    let mut search = Search {
        image: &image,
        listing,
        recursive: args.recursive,
    };
    let mut wrong = false;
    for path in &paths {
        if let Err(error) = search.path(path) {
            if failure::stdout_failure(&error).is_some() {
                return Err(error);
            }
            let error = error.context(format!("cannot list {}", quoted_bytes(path)));
            ui.error(&sentence(&error));
            wrong = true;
        }
    }
    search.listing.finish()?;
    Ok(Exit::partial_if(wrong))
}

/// A search for what is to be listed.
struct Search<'a> {
    image: &'a Image,
    listing: Listing<Stdout>,
    recursive: bool,
}

impl Search<'_> {
    /// Lists what is in a directory, or the one file that is none.
    fn path(&mut self, path: &[u8]) -> anyhow::Result<()> {
        let Some(found) = resolve_as_listed(self.image, path)? else {
            bail!("the image has no such file")
        };
        match &found.inode.body {
            Body::Directory(directory) => self.below(&found.path, found.at, directory),
            _ => self.print(&found),
        }
    }

    fn print(&mut self, found: &Found) -> anyhow::Result<()> {
        let file = FileFacts::new(self.image, found, self.listing.json)?;
        Ok(self.listing.write(&file)?)
    }

    /// Lists a directory and, if asked, all below it: depth first, names in byte order.
    fn below(&mut self, path: &[u8], at: InodeRef, directory: &Directory) -> anyhow::Result<()> {
        let mut pending = self.entries(path, directory)?;
        // A damaged image may hold a directory in itself.
        let mut entered = HashSet::from([at]);
        while let Some((path, at)) = pending.pop() {
            let inode = self.image.inode_head(at)?;
            let found = Found { path, at, inode };
            self.print(&found)?;
            if let Body::Directory(directory) = &found.inode.body
                && self.recursive
            {
                if !entered.insert(at) {
                    let path = quoted_bytes(&found.path);
                    return Err(anyhow!("the directory {path} is reached twice"));
                }
                pending.extend(self.entries(&found.path, directory)?);
            }
        }
        Ok(())
    }

    /// The entries of a directory with their paths, last first.
    fn entries(
        &self,
        path: &[u8],
        directory: &Directory,
    ) -> anyhow::Result<Vec<(Vec<u8>, InodeRef)>> {
        let entries = self.image.entries(directory)?;
        Ok(entries
            .iter()
            .rev()
            .map(|entry| (child(path, &entry.name), entry.inode))
            .collect())
    }
}
