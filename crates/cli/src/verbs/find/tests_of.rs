//! What must hold for a path.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use anyhow::{Context as _, anyhow};
use coldpress_describe::size_bytes;
use coldpress_format::{Body, InodeKind};
use coldpress_host::names;
use coldpress_image::{Image, Visited};
use coldpress_report::text::base_name;
use coldpress_writer::{Pattern, parse_time};

use crate::verbs::find::args::{Amount, ModeTest, TestArgs, TypeLetter};

/// Tests, of which all must hold.
pub(super) struct Tests {
    name: Option<Pattern>,
    path: Option<Pattern>,
    regex: Option<Pattern>,
    kinds: Vec<InodeKind>,
    size: Option<Amount>,
    newer_s: Option<u32>,
    older_s: Option<u32>,
    uid: Option<u32>,
    gid: Option<u32>,
    mode: Option<ModeTest>,
    links: Option<Amount>,
    xattr: Option<Pattern>,
    empty: bool,
    max_depth: Option<usize>,
    min_depth: usize,
}

impl Tests {
    /// # Errors
    ///
    /// If a value means nothing.
    pub(super) fn new(args: &TestArgs) -> anyhow::Result<Self> {
        let glob = |pattern: &Option<OsString>| {
            let pattern = pattern.as_deref();
            pattern.map(|glob| Pattern::glob(glob.as_bytes()))
        };
        let time = |text: &Option<String>| text.as_deref().map(parse_time).transpose();
        let regex = args.regex.as_deref();
        let regex = regex.map(|regex| Pattern::regex(regex.as_bytes()));
        Ok(Self {
            name: glob(&args.name),
            path: glob(&args.path),
            regex: regex.transpose().context("--regex")?,
            kinds: args.r#type.iter().copied().map(kind).collect(),
            size: args.size,
            newer_s: time(&args.newer).context("--newer")?,
            older_s: time(&args.older).context("--older")?,
            uid: id(args.uid.as_deref(), "user", names::user)?,
            gid: id(args.gid.as_deref(), "group", names::group)?,
            mode: args.mode,
            links: args.links,
            xattr: glob(&args.xattr),
            empty: args.empty,
            max_depth: args.max_depth,
            min_depth: args.min_depth.unwrap_or(0),
        })
    }

    /// Whether nothing below this depth can be found.
    pub(super) fn is_deepest(&self, depth: usize) -> bool {
        self.max_depth.is_some_and(|max| depth >= max)
    }

    /// Whether all tests hold, those first that cost least.
    ///
    /// # Errors
    ///
    /// If owners or xattrs are asked for and cannot be read.
    pub(super) fn hold(
        &self,
        image: &Image,
        visited: &Visited,
    ) -> Result<bool, coldpress_image::Error> {
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

fn kind(letter: TypeLetter) -> InodeKind {
    match letter {
        TypeLetter::F => InodeKind::File,
        TypeLetter::D => InodeKind::Directory,
        TypeLetter::L => InodeKind::Symlink,
        TypeLetter::B => InodeKind::BlockDevice,
        TypeLetter::C => InodeKind::CharDevice,
        TypeLetter::P => InodeKind::Fifo,
        TypeLetter::S => InodeKind::Socket,
    }
}

/// A number, or the number of a name.
fn id(
    text: Option<&str>,
    what: &str,
    number: impl Fn(&[u8]) -> Option<u32>,
) -> anyhow::Result<Option<u32>> {
    text.map(|text| {
        let found = text.parse().ok().or_else(|| number(text.as_bytes()));
        found.ok_or_else(|| anyhow!("this system knows no {what} `{text}`; give a number"))
    })
    .transpose()
}
