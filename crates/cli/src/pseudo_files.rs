//! From the flags that describe files to their definitions.

use std::fs::{self, File};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use coldpress_dialects::LOOKUP;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_session::work_dir;
use coldpress_writer::Error;
use coldpress_writer::pack_file::PackFile;
use coldpress_writer::pseudo::{Commands, Pseudo, parse_directory};

use crate::flags::pseudo_files::PseudoFileArgs;

/// What stands for no source, and for standard input.
const DASH: &str = "-";

/// What is described, as the options for gathering a source take it.
#[derive(Debug, Default)]
pub(crate) struct PseudoFiles {
    pub(crate) pack_file: Option<Arc<PackFile>>,
    pub(crate) pseudo: Option<Arc<Pseudo>>,
}

/// Reads what is described.
///
/// * `image`: the image to be written; temporary files lie beside it, where there is room.
/// * `epoch_s`: `SOURCE_DATE_EPOCH`, which is the time of what a pack file adds.
///
/// # Errors
///
/// If a file cannot be read or a definition not be understood.
pub(crate) fn resolve(
    args: &PseudoFileArgs,
    image: &Path,
    epoch_s: Option<u32>,
) -> anyhow::Result<PseudoFiles> {
    let pack_file = args.pack_file.as_deref();
    let pack_file = pack_file.map(|path| self::pack_file(path, args, epoch_s));
    Ok(PseudoFiles {
        pack_file: pack_file.transpose()?.map(Arc::new),
        pseudo: pseudo(args, image)?.map(Arc::new),
    })
}

fn pseudo(args: &PseudoFileArgs, image: &Path) -> anyhow::Result<Option<Pseudo>> {
    if args.pseudo.is_empty() && args.pseudo_file.is_empty() {
        if args.pseudo_dir.is_some() {
            bail!("--pseudo-dir has no effect without --pseudo or --pseudo-file");
        }
        return Ok(None);
    }
    let mut pseudo = Pseudo::new(work_dir::parent(image).to_path_buf());
    if args.allow_commands {
        pseudo.commands = Commands::Allowed;
    }
    for path in &args.pseudo_file {
        pseudo.read(open(path)?, path, &LOOKUP)?;
    }
    for (definition, number) in args.pseudo.iter().zip(1..) {
        let added = pseudo.add(definition.as_bytes(), number, &LOOKUP);
        added.context("cannot use --pseudo")?;
    }
    if let Some(definition) = &args.pseudo_dir {
        let attributes = parse_directory(definition.as_bytes(), &LOOKUP);
        pseudo.missing_directory = Some(attributes.context("cannot use --pseudo-dir")?);
    }
    Ok(Some(pseudo))
}

fn pack_file(path: &Path, args: &PseudoFileArgs, epoch_s: Option<u32>) -> anyhow::Result<PackFile> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", quoted(path)))?;
    let directory = args.pack_dir.as_deref();
    let directory = directory.unwrap_or_else(|| work_dir::parent(path));
    let mut pack = PackFile::parse(&bytes, path, directory.to_path_buf())?;
    pack.time_s = epoch_s.unwrap_or(0);
    Ok(pack)
}

fn open(path: &Path) -> anyhow::Result<File> {
    let file = if path == Path::new(DASH) {
        std::io::stdin()
            .as_fd()
            .try_clone_to_owned()
            .map(File::from)
    } else {
        File::open(path)
    };
    file.with_context(|| format!("cannot open {}", quoted(path)))
}

/// Names the flag that would help against an error of what is described.
pub(crate) fn explain(error: Error) -> anyhow::Error {
    let advice = match &error {
        Error::CommandRefused { .. } => {
            "read the command; --allow-commands runs all commands of the definitions"
        }
        Error::NoRoot => "define it, or give --pseudo-dir",
        Error::Definition { rule, .. } if rule.contains("missing directories") => {
            "--pseudo-dir 'd 755 0 0' makes such directories"
        }
        _ => return error.into(),
    };
    hint(error, advice)
}
