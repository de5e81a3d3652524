//! What must hold for a path, to be found.

mod comparison;

use coldpress_format::{Body, InodeKind};
use coldpress_image::{Image, Visited};
use coldpress_report::text::base_name;
use coldpress_writer::Pattern;

use crate::file::size_bytes;

pub use comparison::{Amount, ModeTest};

/// Tests of a path and its inode, of which all must hold; of `None` nothing is asked.
#[derive(Debug)]
pub struct Tests {
    /// The last name of the path.
    pub name: Option<Pattern>,
    /// The whole path.
    pub path: Option<Pattern>,
    /// The whole path, by a regular expression.
    pub regex: Option<Pattern>,
    /// One of these types; none means any.
    pub kinds: Vec<InodeKind>,
    /// Bytes of content, or of the listing of a directory.
    pub size: Option<Amount>,
    /// Modified after, seconds since 1970.
    pub newer_s: Option<u32>,
    /// Modified before, seconds since 1970.
    pub older_s: Option<u32>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Permission bits.
    pub mode: Option<ModeTest>,
    /// Number of names.
    pub links: Option<Amount>,
    /// The full name of one extended attribute.
    pub xattr: Option<Pattern>,
    /// A file without content, or a directory without entries.
    pub empty: bool,
    /// Levels below where the search begins, at most.
    pub max_depth: Option<usize>,
    /// Levels below where the search begins, at least.
    pub min_depth: usize,
}

impl Tests {
    /// Whether nothing below this depth can be found.
    pub fn is_deepest(&self, depth: usize) -> bool {
        self.max_depth.is_some_and(|max| depth >= max)
    }

    /// Whether all tests hold, those first that cost least.
    ///
    /// # Errors
    ///
    /// If owners or xattrs are asked for and cannot be read.
    pub fn hold(&self, image: &Image, visited: &Visited) -> Result<bool, coldpress_image::Error> {
        if visited.depth < self.min_depth || !self.hold_for_inode(visited) {
            return Ok(false);
        }
        let matches = |pattern: &Option<Pattern>, text| {
            pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
        };
        let is_named = matches(&self.name, base_name(visited.path))
            && matches(&self.path, visited.path)
            && matches(&self.regex, visited.path);
        Ok(is_named && self.is_owned(image, visited)? && self.has_xattr(image, visited)?)
    }

    /// What the inode alone tells.
    fn hold_for_inode(&self, visited: &Visited) -> bool {
        let inode = visited.inode;
        let has_kind = self.kinds.is_empty() || self.kinds.contains(&inode.body.kind());
        let size = size_bytes(&inode.body);
        let is_empty = size == 0 && matches!(inode.body, Body::File(_) | Body::Directory(_));
        let links = inode.link_count.into();
        has_kind
            && (!self.empty || is_empty)
            && self.size.is_none_or(|test| test.holds(size))
            && self.links.is_none_or(|test| test.holds(links))
            && self.mode.is_none_or(|test| test.holds(inode.mode))
            && self.newer_s.is_none_or(|time_s| inode.mtime_s > time_s)
            && self.older_s.is_none_or(|time_s| inode.mtime_s < time_s)
    }

    fn is_owned(&self, image: &Image, visited: &Visited) -> Result<bool, coldpress_image::Error> {
        if self.uid.is_none() && self.gid.is_none() {
            return Ok(true);
        }
        let (uid, gid) = image.owner(visited.inode)?;
        Ok(self.uid.is_none_or(|asked| asked == uid) && self.gid.is_none_or(|asked| asked == gid))
    }

    fn has_xattr(&self, image: &Image, visited: &Visited) -> Result<bool, coldpress_image::Error> {
        let Some(pattern) = &self.xattr else {
            return Ok(true);
        };
        let xattrs = image.xattrs(visited.inode)?;
        Ok(xattrs.iter().any(|(name, _)| pattern.matches(name)))
    }
}
