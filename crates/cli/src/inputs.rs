//! What the sources of a build are: directories, files, tar archives.

use std::env;
use std::fs::Metadata;
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_container::ContainerImage;
use coldpress_report::failure::hint;
use coldpress_report::text;
use coldpress_session::ui::Ui;
use coldpress_session::work_dir;
use coldpress_writer::{Input, LayersInput, TarDefaults, TarInput, TarOrigin, is_tar};

use crate::containers;
use crate::flags::container::{ContainerArgs, TargetName};
use crate::flags::pseudo_files::PseudoFileArgs;
use crate::flags::tar::TarArgs;

/// A source that is not stored as it is.
enum Special {
    Tar(TarOrigin),
    Layers(LayersInput),
}

/// The source that is standard input.
const STDIN: &str = "-";

/// Tells archives and container images from what is stored as it is, and puts all in the order in
/// which they are named.
///
/// `-` alone is no source if something is described.
///
/// Returns the container image among them too, the last if there are several.
///
/// * `image`: what is to be written; beside it is room for an image, so that the files of
///   compressed archives are kept there meanwhile, unless `TMPDIR` says where.
///
/// # Errors
///
/// If a source cannot be read, or standard input is a terminal.
pub(crate) fn inputs(
    sources: &[PathBuf],
    (args, container, target): (&TarArgs, &ContainerArgs, Option<TargetName>),
    pseudo_files: &PseudoFileArgs,
    image: &Path,
    ui: &Ui,
) -> anyhow::Result<(Vec<Input>, Option<ContainerImage>)> {
    if sources == [PathBuf::from(STDIN)] && !pseudo_files.is_empty() && !args.tar {
        return Ok((Vec::new(), None));
    }
    let spool_directory = match env::var_os("TMPDIR").filter(|path| !path.is_empty()) {
        Some(path) => path.into(),
        None => work_dir::parent(image).to_path_buf(),
    };
    let mut last = None;
    let special = |source: &PathBuf| {
        let found = containers::find(source, container, &spool_directory, ui)?;
        Ok(match found {
            Some(mut container) => {
                if let Some(target) = target {
                    containers::add_for(target, &mut container);
                }
                last = Some(container.image);
                Some(Special::Layers(container.input))
            }
            None => origin(source, args)?.map(Special::Tar),
        })
    };
    let origins = sources.iter().map(special);
    let origins = origins.collect::<anyhow::Result<Vec<_>>>()?;
    let stdin = origins.iter().flatten();
    let is_stdin = |it: &&Special| matches!(it, Special::Tar(TarOrigin::Stdin));
    if stdin.filter(is_stdin).count() > 1 {
        return Err(anyhow!(
            "standard input `-` is named twice; it can be read once"
        ));
    }
    if origins.iter().all(Option::is_none) {
        return Ok((Input::from_paths(sources)?, None));
    }
    let others = sources.iter().zip(&origins);
    let others = others.filter(|(_, origin)| origin.is_none());
    let others: Vec<PathBuf> = others.map(|(source, _)| source.clone()).collect();
    let mut others = Input::named(&others)?.into_iter();
    let input = |special: Option<Special>| match special {
        None => others.next(),
        Some(Special::Layers(input)) => Some(Input::Layers(input)),
        Some(Special::Tar(origin)) => Some(Input::Tar(TarInput {
            origin,
            spool_directory: spool_directory.clone(),
            ignore_zeros: args.tar_ignore_zeros,
            defaults: TarDefaults {
                mode: args.default_mode,
                uid: args.default_uid,
                gid: args.default_gid,
            },
        })),
    };
    Ok((origins.into_iter().filter_map(input).collect(), last))
}

/// The sources that are in the file system.
pub(crate) fn paths(sources: &[PathBuf]) -> Vec<PathBuf> {
    let paths = sources.iter().filter(|path| path.as_os_str() != STDIN);
    paths.cloned().collect()
}

/// Takes block devices as the images on them, or warns that they are stored as device nodes.
///
/// * `are_images`: whether the first was asked for.
pub(crate) fn devices(inputs: &mut [Input], are_images: bool, ui: &Ui) {
    for input in inputs {
        let Input::Entry { path, .. } = &*input else {
            continue;
        };
        let is_device = |found: io::Result<Metadata>| {
            found.is_ok_and(|found| found.file_type().is_block_device())
        };
        // Names of disks are links as a rule; a link that is stored as one is what it says.
        if are_images && is_device(path.metadata()) {
            *input = Input::Image {
                path: path.clone(),
                offset_bytes: 0,
                is_copied: false,
            };
        } else if is_device(path.symlink_metadata()) {
            let path = text::quoted(path);
            ui.warn(&format!(
                "{path} is stored as a device node; --source-image takes the image on it"
            ));
        }
    }
}

/// The archive that a source is; `None` if it is none.
fn origin(source: &Path, args: &TarArgs) -> anyhow::Result<Option<TarOrigin>> {
    if source.as_os_str() == STDIN {
        if io::stdin().is_terminal() {
            let error = anyhow!("standard input is a terminal, not a tar archive");
            return Err(hint(
                error,
                "pipe one into it, as in `tar -c DIR | coldpress build - IMAGE`",
            ));
        }
        return Ok(Some(TarOrigin::Stdin));
    }
    let file = || Some(TarOrigin::File(source.to_path_buf()));
    let read = || format!("cannot read {}", text::quoted(source));
    let metadata = source.metadata();
    Ok(match metadata {
        _ if args.no_tar => None,
        Ok(metadata) if args.tar => file().filter(|_| !metadata.is_dir()),
        Ok(metadata) if metadata.is_file() => {
            let is_tar = is_tar(source).with_context(read);
            let is_tar =
                is_tar.map_err(|error| hint(error, "to store the file as it is, use --no-tar"))?;
            file().filter(|_| is_tar)
        }
        // What is missing is told by those who need it.
        _ => None,
    })
}

/// Lets layers whose index is known be read only where contents are needed. What is written from
/// them is compared with their digests in the end; who writes no image has to read all of a layer
/// first.
pub(crate) fn trust_indexes(inputs: &mut [Input]) {
    for input in inputs {
        if let Input::Layers(input) = input {
            let places = input
                .layers
                .iter_mut()
                .filter_map(|layer| layer.index.as_mut());
            places.for_each(|place| place.serves = true);
        }
    }
}
