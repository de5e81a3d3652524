//! `coldpress pyxis-importer`: the plugin interface of pyxis (`importers/README.md` of pyxis 0.24).

pub(crate) mod args;

use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::anyhow;
use clap::Parser as _;
use coldpress_container::{Cache, Reference};
use coldpress_report::failure::hint;
use coldpress_report::text::escaped;
use coldpress_session::exit::Exit;
use coldpress_session::ui::Ui;
use coldpress_writer::Digest;

use super::build::{self, site};
use super::{Cli, Verb};
use crate::containers;
use crate::registries::{self, cache_directory};
use args::{PyxisGetArgs, PyxisImporterArgs, PyxisImporterVerb};

pub(super) fn run(args: &PyxisImporterArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match &args.verb {
        PyxisImporterVerb::Get(args) => get(args, ui),
        PyxisImporterVerb::Release(_) => Ok(Exit::Done),
    }
}

fn get(args: &PyxisGetArgs, ui: &Ui) -> anyhow::Result<Exit> {
    // Held until the path is printed: nobody prunes in between.
    let cache = Cache::open(&cache_directory(args.container.cache.clone())?)?;
    let (uri, digest) = found(args, ui)?;
    let options = site::enroot_options()?.map_or_else(String::new, |(_, options)| options);
    let follows = args.container.follow_symlinks;
    let slot = cache.image(&digest, &format!("{options}\n{follows}"))?;
    if !slot.is_filled() {
        build(&uri, &slot.path, args, ui)?;
    }
    let mut out = ui.out();
    out.write_all(slot.path.as_os_str().as_bytes())?;
    writeln!(out)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The image that is meant now, with a name that means it later too, and what it is kept by.
fn found(args: &PyxisGetArgs, ui: &Ui) -> anyhow::Result<(String, Digest)> {
    let uri = &args.uri;
    match Reference::parse(uri) {
        None => {
            let error = anyhow!(
                "`{}` is not a reference to a container image",
                escaped(uri.as_bytes())
            );
            Err(hint(error, "write `docker://IMAGE:TAG`, for example"))
        }
        Some(Ok(Reference::Registry(reference))) => {
            let digest = registries::digest(&reference, &args.container, ui)?;
            let uri = match reference.digest {
                Some(_) => uri.clone(),
                None => format!("{uri}@{digest}"),
            };
            Ok((uri, digest))
        }
        Some(_) => {
            let spool_directory = containers::spool_directory();
            let found = containers::find(Path::new(uri), &args.container, &spool_directory, ui)?;
            let image = found.ok_or_else(|| anyhow!("`{uri}` is a file"))?.image;
            let config = || Digest::sha256_of(&image.config_json);
            Ok((uri.clone(), image.manifest.unwrap_or_else(config)))
        }
    }
}

/// What `coldpress build --preset enroot URI IMAGE` does. Its warnings do not make the import fail.
fn build(uri: &str, image: &Path, args: &PyxisGetArgs, ui: &Ui) -> anyhow::Result<()> {
    let words = ["coldpress", "build", "--preset", "enroot", "--"].map(Into::into);
    let paths = [uri.into(), image.as_os_str().to_os_string()];
    let cli = Cli::try_parse_from(words.into_iter().chain(paths))?;
    if let Verb::Build(mut build_args) = cli.verb {
        build_args.container = args.container.clone();
        build::run(&build_args, ui)?;
    }
    Ok(())
}
