//! What starts are measured from.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use coldpress_host::run_program;

use crate::container::Container;
use crate::error::Error;

/// What an AppImage is called on the file system that [`stand`] makes.
pub const STANDING: &str = "app";
/// Makes the file system for an AppImage.
pub const MAKER: &str = "mkfs.ext4";
/// For the tables of a file system with one file, beside a hundredth of that.
const SLACK_BYTES: u64 = 1 << 20;
const TIMEOUT_S: u64 = 600;

/// Makes the image that starts are measured from: of an AppImage a file system with it alone, so
/// that only reads of the AppImage are counted and slowed down; of others the image itself.
///
/// Needs [`MAKER`] for an AppImage.
///
/// * `to`: where nothing is; a directory is beside it for a while.
/// * `stop`: whether to give up.
///
/// # Errors
///
/// If it cannot be made.
pub fn stand(
    container: &Container,
    file: &Path,
    to: &Path,
    stop: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let failed = |source| Error::Write { start: 0, source };
    if !matches!(container, Container::AppImage(_)) {
        return copy_image(container, file, to).map_err(failed);
    }
    let tree = to.with_extension("tree");
    let file_bytes = linked(file, &tree).map_err(failed)?;
    let kib = (file_bytes + file_bytes / 100 + SLACK_BYTES).div_ceil(1024);
    let words = [MAKER, "-q", "-m", "0", "-N", "16", "-O", "^has_journal"];
    let mut args: Vec<OsString> = words.map(OsString::from).to_vec();
    args.extend(["-d".into(), tree.clone().into(), to.into()]);
    args.push(format!("{kib}k").into());
    let outcome = run_program(args, TIMEOUT_S, stop)?;
    if !outcome.status.success() {
        let said = String::from_utf8_lossy(&outcome.stderr_tail);
        return Err(failed(io::Error::other(format!("{MAKER} failed: {said}"))));
    }
    fs::remove_dir_all(&tree).map_err(failed)
}

/// Puts a file into a directory; returns its bytes.
fn linked(file: &Path, directory: &Path) -> io::Result<u64> {
    fs::create_dir(directory)?;
    let linked = directory.join(STANDING);
    if fs::hard_link(file, &linked).is_err() {
        fs::copy(file, &linked)?;
    }
    Ok(linked.metadata()?.len())
}

/// The image of a file that is one like another, as loop devices have it.
fn copy_image(like: &Container, file: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::open(file)?;
    let wanted = match like {
        Container::Iso(it) => Some(it.path()),
        _ => None,
    };
    let container = Container::open(&file, wanted).map_err(io::Error::other)?;
    let place = container.map(|it| it.image()).unwrap_or_default();
    file.seek(SeekFrom::Start(place.start))?;
    let bytes = place.end - place.start;
    let mut to = File::create_new(to)?;
    io::copy(&mut file.take(bytes), &mut to)?;
    to.set_len(bytes.next_multiple_of(4096))?;
    to.sync_all()
}
