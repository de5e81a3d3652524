//! Whether the program of an AppImage reads images of another compressor.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use coldpress_host::run_program;
use coldpress_layout::{Plan, order};
use coldpress_writer::{Input, Options, SourceOptions, gather, write};

use crate::error::Error;
use crate::original::Original;

/// Compresses well, and has full blocks and a tail end with any block size.
const LINE: &str = "This line is compressed.\n";
const LINES: usize = 100_000;
/// What a program may take to extract 2.5 MB.
const TIMEOUT_S: u64 = 60;
const FILE: &str = "probe";

/// Builds a small AppImage of the same program, and lets that extract it; returns what the program
/// said if it did not.
///
/// * `options`: of the image.
/// * `directory`: an empty one, whose files may be run.
/// * `stop`: whether to give up.
///
/// # Errors
///
/// If the small AppImage cannot be built.
pub fn probe(
    original: &Original,
    options: &Options,
    directory: &Path,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<Vec<u8>>, Error> {
    let go_on = &mut |_| ControlFlow::Continue(());
    let (tree, text) = (directory.join("tree"), LINE.repeat(LINES));
    let file = directory.join("probe.AppImage");
    let new = prepared(&tree, &text, &file).map_err(|source| Error::Write { start: 0, source })?;
    let options = Options {
        offset_bytes: original.start,
        ..options.clone()
    };
    let inputs = Input::from_paths(&[tree])?;
    let source = gather(&inputs, &SourceOptions::default(), go_on)?;
    let plan = Plan::default();
    let (order, _) = order(&source.tree, &plan, options.block_size, options.tails);
    let built = write(&source, &order, &new, &options, &mut |_| {
        ControlFlow::Continue(())
    })?;
    original.complete(&new, built.image_bytes, false, directory, stop)?;
    let started = new.set_permissions(Permissions::from_mode(0o700));
    started.map_err(|source| Error::Write { start: 0, source })?;
    // A file that is open for writing cannot be started.
    drop(new);
    let script = "cd \"$0\" && exec ./probe.AppImage --appimage-extract";
    let mut args: Vec<OsString> = ["sh", "-c", script].map(OsString::from).to_vec();
    args.push(directory.into());
    let outcome = run_program(args, TIMEOUT_S, stop)?;
    let extracted = fs::read(directory.join("squashfs-root").join(FILE));
    let is_same = extracted.is_ok_and(|extracted| extracted == text.as_bytes());
    Ok((!is_same).then_some(outcome.stderr_tail))
}

fn prepared(tree: &Path, text: &str, file: &Path) -> io::Result<File> {
    fs::create_dir(tree)?;
    fs::write(tree.join(FILE), text)?;
    File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(file)
}
