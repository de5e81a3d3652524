//! Who takes part: images that are made, images of others, the directory itself.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_bench::build_study::{Compressor, Lists, Maker, Matrix};
use coldpress_bench::{Contestant, MountBy, What};
use coldpress_history::{Facts, Figures};
use coldpress_host::{FileSystem, Janitor, Readahead, Scratch};
use coldpress_report::failure::hint;
use coldpress_report::text::{escaped, quoted};
use coldpress_session::external_tool;
use coldpress_session::ui::Ui;

use super::images;
use crate::resolve;
use crate::verbs::bench::launch::args::{BenchLaunchArgs, MountName};

/// What `--mount fuse` stands for, the better one first.
const FUSE_PROGRAMS: [&str; 2] = ["squashfuse_ll", "squashfuse"];

/// What was asked for, checked before anything is begun.
pub(super) struct Wishes {
    lists: Lists,
    mounts: Vec<MountBy>,
    others: Vec<Image>,
}

/// An image, whoever made it.
pub(super) struct Image {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) facts: Facts,
    pub(super) figures: Figures,
}

/// All who take part, the baseline first.
pub(super) struct Contestants {
    pub(super) list: Vec<Contestant>,
    /// The tools that made images, and what they say of their versions.
    pub(super) versions: Vec<(&'static str, String)>,
    /// For the report.
    pub(super) notes: Vec<(String, String)>,
    /// Whether one that was asked for takes no part.
    pub(super) is_one_missing: bool,
}

/// Reads the lists.
///
/// # Errors
///
/// If an image of others cannot be read, or no program for FUSE is installed.
pub(super) fn wishes(args: &BenchLaunchArgs) -> anyhow::Result<Wishes> {
    let block_sizes = args
        .blocks
        .iter()
        .map(|bytes| Ok(resolve::block_size(*bytes)?.bytes()));
    let compressors = match &args.compressors {
        Some(compressors) => compressors.clone(),
        None if args.image.is_empty() => vec![Compressor::Zstd],
        None => Vec::new(),
    };
    let makers = [&[Maker::Coldpress], args.peers.as_slice()].concat();
    Ok(Wishes {
        lists: Lists {
            makers,
            compressors,
            levels: args.levels.clone(),
            block_sizes_bytes: block_sizes.collect::<anyhow::Result<_>>()?,
            threads: vec![coldpress_host::machine().cores],
            unpackers: Vec::new(),
            unpack_threads: Vec::new(),
        },
        mounts: mounts(&args.mount, args.readahead.or(&[Readahead::Disk]))?,
        others: others(args)?,
    })
}

/// What the study is called.
pub(super) fn title(args: &BenchLaunchArgs) -> String {
    let source = escaped(args.source.as_os_str().as_bytes());
    format!("bench launch {source}")
}

impl Contestants {
    /// Makes the images and puts everybody in line.
    ///
    /// # Errors
    ///
    /// If nobody is left.
    pub(super) fn gather(
        args: &BenchLaunchArgs,
        wishes: Wishes,
        scratch: &Scratch,
        janitor: &Janitor,
        ui: &Ui,
    ) -> anyhow::Result<Self> {
        let matrix = wishes.lists.matrix();
        let mut missing: Vec<String> = matrix.left_out.clone();
        let made = images::make(args, &matrix, scratch, janitor, ui)?;
        missing.extend(made.missing);
        let images = made.images.into_iter().chain(wishes.others);
        let mut list = Vec::new();
        for image in images {
            let file_system = FileSystem::of(&image.path)?;
            for mount in &wishes.mounts {
                match objection(file_system, mount) {
                    None => list.push(contestant(&image, file_system, mount)),
                    Some(why) => missing.push(format!("{}: {why}", image.name)),
                }
            }
        }
        if args.tries {
            list.push(unpacked(&args.source)?);
        }
        for why in &missing {
            ui.warn(&format!("left out: {why}"));
        }
        if list.is_empty() {
            let error = anyhow!("no contestant is left");
            return Err(hint(
                error,
                "ask for a compressor, an image or the directory itself",
            ));
        }
        Ok(Self {
            notes: notes(&list),
            list,
            versions: made.versions,
            is_one_missing: !missing.is_empty(),
        })
    }
}

fn mounts(asked: &[MountName], readahead: &[Readahead]) -> anyhow::Result<Vec<MountBy>> {
    let by_kernel = || readahead.iter().copied().map(MountBy::Kernel).collect();
    if asked.is_empty() {
        return Ok(by_kernel());
    }
    let mount = |name: &MountName| match name {
        MountName::Kernel => Ok(by_kernel()),
        MountName::Command(words) if words.is_empty() => {
            Err(anyhow!("`--mount` is kernel, fuse or a command, not empty"))
        }
        MountName::Command(words) => Ok(vec![MountBy::Program(words.clone())]),
        MountName::Fuse => {
            let program = FUSE_PROGRAMS
                .iter()
                .find(|name| external_tool::is_installed(name));
            let program = program.ok_or_else(|| {
                let error = anyhow!("neither of {} is in PATH", FUSE_PROGRAMS.join(", "));
                hint(error, "give the mounting command to `--mount`")
            })?;
            Ok(vec![MountBy::Program(vec![OsString::from(program)])])
        }
    };
    let mounts: Vec<Vec<MountBy>> = asked.iter().map(mount).collect::<anyhow::Result<_>>()?;
    Ok(mounts.concat())
}

/// The images of `--image`; loop devices need whole paths, and mistakes are told before anything is
/// built.
fn others(args: &BenchLaunchArgs) -> anyhow::Result<Vec<Image>> {
    let image = |asked: &super::args::NamedImage| {
        let path = asked.path.canonicalize();
        let path = path.with_context(|| format!("cannot read {}", quoted(&asked.path)))?;
        FileSystem::of(&path)?;
        let name = asked.name.as_deref();
        let name = name.or(asked.path.file_name()).unwrap_or_default();
        Ok(Image {
            name: escaped(name.as_bytes()),
            path,
            facts: Facts::new(),
            figures: Figures::new(),
        })
    };
    args.image.iter().map(image).collect()
}

/// Why an image cannot be mounted so.
fn objection(file_system: Option<FileSystem>, mount: &MountBy) -> Option<&'static str> {
    let is_for_squashfs = |words: &[OsString]| {
        let mut known = FUSE_PROGRAMS.iter();
        words
            .first()
            .is_some_and(|word| known.any(|name| word == name))
    };
    match mount {
        MountBy::Kernel(_) if file_system.is_none() => {
            Some("it holds no file system that the kernel could mount: SquashFS, EROFS or ext4")
        }
        MountBy::Program(words)
            if file_system != Some(FileSystem::Squashfs) && is_for_squashfs(words) =>
        {
            Some("it is no SquashFS image, and squashfuse mounts no others")
        }
        _ => None,
    }
}

fn contestant(image: &Image, file_system: Option<FileSystem>, mount: &MountBy) -> Contestant {
    let mut facts = image.facts.clone();
    if let Some(file_system) = file_system {
        facts.insert("file_system".to_owned(), file_system.name().to_owned());
    }
    let (name, by) = match mount {
        MountBy::Kernel(Readahead::Disk) => (image.name.clone(), "kernel".to_owned()),
        MountBy::Kernel(readahead) => (
            format!("{} (readahead {readahead})", image.name),
            "kernel".to_owned(),
        ),
        MountBy::Program(words) => {
            let first = words.first().map(OsString::as_os_str).unwrap_or_default();
            let program = Path::new(first).file_name().unwrap_or_default();
            let program = escaped(program.as_bytes());
            (format!("{} ({program})", image.name), program)
        }
    };
    facts.insert("mount".to_owned(), by);
    Contestant {
        name,
        what: What::Image {
            path: image.path.clone(),
            mount: mount.clone(),
        },
        facts,
        figures: image.figures.clone(),
    }
}

fn unpacked(source: &Path) -> anyhow::Result<Contestant> {
    let directory = source.canonicalize();
    let directory = directory.with_context(|| format!("cannot read {}", quoted(source)))?;
    let facts = [("compressor", "none"), ("mount", "directory")];
    Ok(Contestant {
        name: "try".to_owned(),
        what: What::Directory(directory),
        facts: facts
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        figures: Figures::new(),
    })
}

/// How long each took to make.
fn notes(list: &[Contestant]) -> Vec<(String, String)> {
    let note = |contestant: &Contestant| {
        let build_s = contestant.figures.get("build_s")?;
        let time = coldpress_report::units::seconds(*build_s);
        Some((contestant.name.clone(), format!("built in {time}")))
    };
    list.iter().filter_map(note).collect()
}

/// The first image of each maker and setting, for [`images::make`].
pub(super) fn file_name(matrix: &Matrix, build: usize) -> Option<String> {
    let image = matrix.images.get(matrix.builds.get(build)?.image)?;
    Some(format!("{image}.sqfs").replace(' ', "-"))
}
