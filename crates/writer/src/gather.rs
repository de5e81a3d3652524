//! From inputs to a [`Source`]: what there is, put together in one tree.

mod taken;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use coldpress_layout::NodeId;

use crate::draft::Draft;
use crate::error::{self, Error};
use crate::image_input::{self, Role};
use crate::layers::{self, LayersInput};
use crate::overrides::Overrides;
use crate::pack_file::{self, PackFile};
use crate::pseudo::{self, Pseudo};
use crate::scan::Scanner;
use crate::select::Selection;
use crate::select::prune::prune;
use crate::source::Source;
use crate::synthetic_root::SyntheticRoot;
use crate::tar::{self, TarInput};

/// Something that an image is built from.
///
/// Inputs are put together in their order: a later one adds to the directories of the earlier
/// ones, and replaces what else has its name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// A directory whose entries stand in the root directory. The first input's own metadata
    /// becomes that of the root.
    Directory(PathBuf),
    /// A file or directory that stands in the root directory under a name.
    Entry {
        /// Where it is.
        path: PathBuf,
        /// Its name in the image.
        name: Vec<u8>,
    },
    /// Files and directories that keep their whole paths: `a/b/c` stands at `/a/b/c`, below
    /// directories with the metadata of `a` and `a/b`. Leading `/`, `.` and `..` are where a path
    /// starts; the metadata of that directory, if all start there, is that of the root.
    Listed {
        /// What to store; what is not there becomes a warning.
        paths: Vec<PathBuf>,
        /// Whether directories are stored with what is in them.
        is_recursive: bool,
    },
    /// A SquashFS image, whose entries stand in the root directory.
    Image {
        /// The file that holds it.
        path: PathBuf,
        /// Byte of the file at which it begins.
        offset_bytes: u64,
        /// Whether its blocks may be copied as they are: only if the image that is built has the
        /// same compressor and block size.
        is_copied: bool,
    },
    /// A tar archive, unpacked into the root directory. The first input's own metadata becomes that
    /// of the root.
    Tar(TarInput),
    /// The layers of a container image, put on top of each other in the root directory. The first
    /// input's own metadata becomes that of the root; if no layer has an entry for it, that of the
    /// next input does.
    Layers(LayersInput),
}

impl Input {
    /// Whether the scan asks the selection for each entry.
    fn is_scanned(&self) -> bool {
        match self {
            Self::Directory(_) | Self::Entry { .. } | Self::Listed { .. } => true,
            Self::Image { .. } | Self::Tar(_) | Self::Layers(_) => false,
        }
    }

    /// The inputs that a list of paths means: the content of a single directory becomes the root;
    /// several paths, or one that is no directory, stand in the root by their names; a SquashFS
    /// image stands for what it holds.
    ///
    /// # Errors
    ///
    /// [`Error::SameName`] if two have the same name, [`Error::Source`] if a path is relative and
    /// there is no working directory.
    pub fn from_paths(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        // The source itself may be named through a symlink; what is in it may not.
        if let [path] = paths
            && fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
        {
            return Ok(vec![Self::Directory(path.clone())]);
        }
        Self::named(paths)
    }

    /// The inputs that stand in the root by the names that their paths end with.
    ///
    /// # Errors
    ///
    /// As [`Input::from_paths`].
    pub fn named(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        let mut names = BTreeSet::new();
        let entry = |path: &PathBuf| {
            if image_input::is_image(path) {
                return Ok(Self::Image {
                    path: path.clone(),
                    offset_bytes: 0,
                    is_copied: false,
                });
            }
            let absolute = std::path::absolute(path).map_err(error::source("read", path))?;
            let name = absolute.file_name().unwrap_or(OsStr::new("root"));
            let name = name.as_bytes().to_vec();
            if !names.insert(name.clone()) {
                return Err(Error::same_name(&name));
            }
            let path = path.clone();
            Ok(Self::Entry { path, name })
        };
        paths.iter().map(entry).collect()
    }
}

/// What of its inputs an image takes over, and how they are read.
#[derive(Clone, Debug)]
pub struct SourceOptions {
    /// What of the inputs goes into the image.
    pub selection: Selection,
    /// What replaces the metadata of the inputs.
    pub overrides: Overrides,
    /// Modification times after this, seconds since 1970, become this (`SOURCE_DATE_EPOCH`).
    pub latest_time_s: Option<u32>,
    /// Whether to read xattrs.
    pub xattrs: bool,
    /// Whether files with several names stay one file; otherwise each name gets a file of its own.
    pub hard_links: bool,
    /// Threads that read metadata.
    pub threads: NonZeroUsize,
    /// Files that are added to the inputs.
    pub pack_file: Option<Arc<PackFile>>,
    /// What is added to that and changed of it.
    pub pseudo: Option<Arc<Pseudo>>,
    /// The root directory, if no input has one.
    pub synthetic_root: SyntheticRoot,
    /// Names in the root directory that something else will have
    /// ([`Appending::names`](crate::Appending::names)): what of a directory has such a name gets a
    /// number behind it, what is listed or defined by such a name is refused.
    pub taken_names: BTreeSet<Vec<u8>>,
}

impl Default for SourceOptions {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            overrides: Overrides::default(),
            latest_time_s: None,
            xattrs: true,
            hard_links: true,
            threads: NonZeroUsize::MIN,
            pack_file: None,
            pseudo: None,
            synthetic_root: SyntheticRoot::default(),
            taken_names: BTreeSet::new(),
        }
    }
}

/// Puts the names and metadata of `inputs` together.
///
/// Symbolic links are not followed, mounts are entered unless the selection says otherwise. What
/// cannot be read is left out, or is empty in the image, and is told in [`Source::warnings`].
///
/// * `progress`: called now and then with the number of inodes found so far; stops the work when
///   it breaks.
///
/// # Errors
///
/// [`Error`] if an input itself cannot be read, something cannot be stored, or the caller stops it.
///
/// # Cost
///
/// Memory of about 200 bytes and its name for each inode.
pub fn gather(
    inputs: &[Input],
    options: &SourceOptions,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Source, Error> {
    let synthetic_root = options.synthetic_root;
    let mut draft = Draft::new(synthetic_root.node());
    let mut is_root_synthetic = true;
    // Whether the metadata of the root is still to be found.
    let mut is_first = true;
    for input in inputs {
        let root = match input {
            Input::Directory(path) => {
                Some(Scanner::new(&mut draft, options, progress).directory(path)?)
            }
            Input::Entry { path, name } => {
                Scanner::new(&mut draft, options, progress).entry(path, name)?;
                None
            }
            Input::Listed {
                paths,
                is_recursive,
            } => Scanner::new(&mut draft, options, progress).listed(paths, *is_recursive)?,
            Input::Image {
                path,
                offset_bytes,
                is_copied,
            } => {
                let image = image_input::open(path, *offset_bytes, *is_copied)?;
                let root = image_input::read(&mut draft, image, Role::Input, options, progress);
                Some(root?)
            }
            Input::Tar(input) => {
                if is_first && !synthetic_root.replaces_archive_root {
                    draft.nodes[0] = input.defaults.node(0);
                }
                let root = tar::read(&mut draft, input, options, progress)?;
                root.filter(|_| !synthetic_root.replaces_archive_root)
            }
            Input::Layers(input) => {
                if is_first {
                    draft.nodes[0] = input.defaults.node(0);
                }
                layers::read(&mut draft, input, options, progress)?
            }
        };
        if is_first && let Some(root) = root {
            draft.nodes[0] = root;
            is_root_synthetic = false;
        }
        is_first &= is_root_synthetic && matches!(input, Input::Layers(_));
    }
    if !options.selection.is_everything() && inputs.iter().any(|input| !input.is_scanned()) {
        prune(&mut draft, &options.selection);
    }
    let is_listed = inputs
        .iter()
        .any(|input| matches!(input, Input::Listed { .. }));
    taken::rename(&mut draft, &options.taken_names, is_listed)?;
    if is_root_synthetic {
        let times = draft.children(NodeId::ROOT);
        let newest_s = times
            .map(|(_, node)| draft.nodes[node.index()].mtime_s)
            .max();
        draft.nodes[0].mtime_s = newest_s.unwrap_or(synthetic_root.empty_time_s);
    }
    if let Some(pack_file) = &options.pack_file {
        pack_file::apply(&mut draft, pack_file, options, inputs.is_empty())?;
    }
    let overrides = &options.overrides;
    overrides.before_pseudo(&mut draft.nodes, &mut draft.xattrs);
    if let Some(pseudo) = &options.pseudo {
        taken::check(pseudo, &options.taken_names)?;
        let is_root_free = inputs.is_empty() && options.pack_file.is_none();
        pseudo::apply(&mut draft, pseudo, options, is_root_free)?;
    }
    if !options.hard_links {
        draft.separate()?;
    }
    let mut source = draft.finish();
    overrides.after_pseudo(&mut source.tree, options.latest_time_s)?;
    Ok(source)
}
