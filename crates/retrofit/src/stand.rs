//! Where a file is that is started to be measured.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::container::Container;

/// What an AppImage is called in a directory that [`stand`] makes.
pub const STANDING: &str = "app";

/// Makes what starts are measured from: of an AppImage a directory with it, of a SIF container its
/// image alone.
///
/// * `to`: where nothing is, on the disk that is measured.
///
/// # Errors
///
/// If it cannot be made.
pub fn stand(container: &Container, file: &Path, to: &Path) -> io::Result<()> {
    if let Container::Sif(_) = container {
        return copy_image(file, to);
    }
    fs::create_dir(to)?;
    let linked: PathBuf = to.join(STANDING);
    // A copy reads from the same disk where a link cannot be.
    if fs::hard_link(file, &linked).is_err() {
        fs::copy(file, &linked)?;
    }
    Ok(())
}

/// The image of a container, as loop devices have it.
fn copy_image(file: &Path, to: &Path) -> io::Result<()> {
    let mut file = File::open(file)?;
    let container = Container::open(&file).map_err(io::Error::other)?;
    let place = container.map(|it| it.image()).unwrap_or_default();
    file.seek(SeekFrom::Start(place.start))?;
    let bytes = place.end - place.start;
    let mut to = File::create_new(to)?;
    io::copy(&mut file.take(bytes), &mut to)?;
    to.set_len(bytes.next_multiple_of(4096))?;
    to.sync_all()
}
