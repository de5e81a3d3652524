//! What of an image is listed, extracted or written as pseudo definitions.
//!
//! Paths are found in the image first ([`super::expand`]), so the tree is asked for names, not for
//! patterns. Only excludes that begin with `... ` are patterns that hold in every directory.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use coldpress_image::Image;
use coldpress_report::text::{quoted, quoted_bytes};
use coldpress_writer::exclude_file_lines;

use super::cursor::Cursor;
use super::expand::{Finder, LastLink, Match};
use super::name_match::NameMatch;
use super::path_tree::PathTree;
use super::request::{Filter, Patterns, Request};
use crate::Warn;

/// What is taken of an image.
#[derive(Debug)]
pub struct Selection {
    /// `None` for everything.
    pub(super) taken: Option<PathTree>,
    pub(super) excluded: PathTree,
    /// Components of patterns that are tried in every directory.
    pub(super) floating: Vec<Vec<NameMatch>>,
    /// How many directories deep a walk goes; `None` for all.
    pub max_depth: Option<usize>,
}

impl Selection {
    /// Finds what the paths and patterns of a command line mean in an image; warns of those that
    /// mean nothing.
    ///
    /// # Errors
    ///
    /// If a path to be taken means nothing and each must mean something, if a pattern is wrong, a
    /// file of patterns cannot be read, or the image is damaged.
    pub fn new(image: &Image, request: &Request, warn: Warn<'_>) -> anyhow::Result<Self> {
        let mut reading = Reading {
            image,
            request,
            warn,
            selection: Self {
                taken: None,
                excluded: PathTree::default(),
                floating: Vec::new(),
                max_depth: request
                    .max_depth
                    .map(|depth| usize::try_from(depth).unwrap_or(usize::MAX)),
            },
        };
        for filter in &request.filters {
            match filter {
                Filter::ExtractFile(path) => {
                    for line in lines(path)? {
                        reading.take(&line)?;
                    }
                }
                Filter::ExcludeFile(path) => {
                    for line in lines(path)? {
                        reading.exclude(&line)?;
                    }
                }
                Filter::Exclude(path) => reading.exclude(path.as_bytes())?,
            }
        }
        for path in &request.paths {
            if request.paths_exclude {
                reading.exclude(path.as_bytes())?;
            } else {
                reading.take(path.as_bytes())?;
            }
        }
        Ok(reading.selection)
    }

    /// Whether everything is taken.
    pub fn is_everything(&self) -> bool {
        self.taken.is_none()
            && self.excluded.is_empty()
            && self.floating.is_empty()
            && self.max_depth.is_none()
    }

    /// The beginning of a walk through the image.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::new(self)
    }
}

/// The lines of a file of paths.
fn lines(path: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
    Ok(exclude_file_lines(&text))
}

/// A selection that is being read from a command line.
struct Reading<'a> {
    image: &'a Image,
    request: &'a Request,
    warn: Warn<'a>,
    selection: Selection,
}

impl Reading<'_> {
    fn take(&mut self, path: &[u8]) -> anyhow::Result<()> {
        let tree = self.selection.taken.get_or_insert_default();
        let last_link = if self.request.follows {
            LastLink::Followed
        } else {
            LastLink::Itself
        };
        let finder = Finder::new(self.image, self.request.patterns(), last_link);
        let found = finder.find(
            path,
            &mut |found: Match| {
                tree.add_whole(&found.place.path);
                for link in found.trail.links {
                    tree.add_whole(&link);
                }
                for directory in found.trail.directories {
                    tree.add(&directory);
                }
                Ok(())
            },
            &mut |problem| (self.warn)(problem),
        )?;
        if !found && self.request.must_match {
            bail!(
                "{} does not lead to anything everywhere it should (`-match`)",
                quoted_bytes(path)
            );
        }
        Ok(())
    }

    fn exclude(&mut self, path: &[u8]) -> anyhow::Result<()> {
        let patterns = self.request.patterns();
        if let Some(pattern) = path.strip_prefix(b"... ") {
            let components = components(pattern, patterns)?;
            self.selection.floating.push(components);
            return Ok(());
        }
        let tree = &mut self.selection.excluded;
        // A link at the end of a path is excluded, not what it points to, as `rm` does.
        let finder = Finder::new(self.image, patterns, LastLink::Itself);
        // What is not there need not be left out, `-match` or not.
        finder.find(
            path,
            &mut |found: Match| {
                tree.add_whole(&found.place.path);
                Ok(())
            },
            &mut |problem| (self.warn)(problem),
        )?;
        Ok(())
    }
}

/// The components of a pattern that holds in every directory.
fn components(pattern: &[u8], patterns: Patterns) -> anyhow::Result<Vec<NameMatch>> {
    let names = pattern.split(|byte| *byte == b'/');
    let names = names.filter(|name| !name.is_empty());
    let components: Vec<NameMatch> = names
        .map(|name| NameMatch::parse(name, patterns))
        .collect::<anyhow::Result<_>>()?;
    if components.is_empty() {
        return Err(anyhow!("the exclude `... ` names nothing"));
    }
    Ok(components)
}
