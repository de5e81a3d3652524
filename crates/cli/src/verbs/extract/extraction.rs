//! From flags to what is extracted of an image, and with what metadata.

use anyhow::anyhow;
use coldpress_format::{Body, Inode};
use coldpress_image::{Image, Metadata};
use coldpress_writer::{Exclusions, Overrides, Selection, Time};

use crate::flags::exclude::ExcludeArgs;
use crate::flags::source::{MetadataArgs, SourceArgs, Syntax};
use crate::resolve::source;
use crate::verbs::extract::args::{ChangeArgs, ChoiceArgs};

/// What is extracted, and what replaces its metadata.
#[derive(Debug)]
pub(crate) struct Extraction {
    pub(crate) selection: Selection,
    /// Paths to exclude that the image does not have.
    pub(crate) missing: Vec<Vec<u8>>,
    overrides: Overrides,
    time_s: Option<u32>,
}

impl Extraction {
    /// Checks the flags and looks up in the image what they name.
    ///
    /// # Errors
    ///
    /// If a value means nothing, a file of patterns cannot be read, or the image is damaged where
    /// a path is looked up.
    pub(crate) fn resolve(
        choice: &ChoiceArgs,
        changes: &ChangeArgs,
        image: &Image,
    ) -> anyhow::Result<Self> {
        let (selection, missing) = selection(choice, image)?;
        let metadata = MetadataArgs {
            uid: changes.uid.clone(),
            gid: changes.gid.clone(),
            file_mode: changes.file_mode.clone(),
            dir_mode: changes.dir_mode.clone(),
            inode_time: changes.time.clone(),
            xattr_exclude: changes.xattr_exclude.clone(),
            xattr_include: changes.xattr_include.clone(),
            ..MetadataArgs::default()
        };
        let overrides = source::overrides(&metadata, None)?;
        let time_s = match overrides.times.inodes {
            None => None,
            Some(Time::At(time_s)) => Some(time_s),
            Some(Time::Newest) => return Err(anyhow!("time `inode` has no meaning for `extract`")),
        };
        Ok(Self {
            selection,
            missing,
            overrides,
            time_s,
        })
    }

    /// Replaces what is to be replaced of an inode's metadata.
    pub(crate) fn change(&self, inode: &Inode, metadata: &mut Metadata) {
        let Overrides {
            owners,
            file_mode,
            directory_mode,
            ..
        } = &self.overrides;
        metadata.uid = owners.uid.or(metadata.uid);
        metadata.gid = owners.gid.or(metadata.gid);
        metadata.mtime_s = self.time_s.unwrap_or(metadata.mtime_s);
        let is_directory = matches!(inode.body, Body::Directory(_));
        let mode = if is_directory {
            directory_mode
        } else {
            file_mode
        };
        if let Some(mode) = mode {
            metadata.mode = mode.apply(metadata.mode, is_directory);
        }
    }

    /// Whether the extended attribute of this full name is restored.
    pub(crate) fn keeps_xattr(&self, name: &[u8]) -> bool {
        self.overrides.xattrs.keeps(name)
    }
}

/// What is selected, and the paths to exclude that the image does not have.
fn selection(choice: &ChoiceArgs, image: &Image) -> anyhow::Result<(Selection, Vec<Vec<u8>>)> {
    let args = SourceArgs {
        excluded: choice.excluded.clone(),
        exclude_syntax: choice.exclude_syntax,
        include: choice.include.clone(),
        ..SourceArgs::default()
    };
    if choice.exclude_syntax != Syntax::Path {
        let mut selection = source::selection(&args, &[])?;
        let ExcludeArgs {
            exclude,
            exclude_from,
        } = &choice.excluded;
        let excludes = !exclude.is_empty() || !exclude_from.is_empty();
        if !excludes && !choice.include.is_empty() {
            // Anchored: what is below shares the fate of its directory.
            selection.exclude.add(b"/*")?;
        }
        return Ok((selection, Vec::new()));
    }
    let (mut inodes, mut missing) = (Vec::new(), Vec::new());
    for path in source::lines(&args)? {
        match image.find(&path)? {
            Some((at, _)) => inodes.push((0, at.word())),
            None => missing.push(path),
        }
    }
    let without = SourceArgs {
        excluded: ExcludeArgs::default(),
        ..args
    };
    let selection = Selection {
        exclusions: Exclusions::by_inode(inodes),
        ..source::selection(&without, &[])?
    };
    Ok((selection, missing))
}
