//! The images of a live medium, of which some lie over others when it is booted.

use std::path::Path;

use coldpress_image::{ReadAt as _, open_file};

use super::{read_iso, squashfs_files};
use crate::error::Error;

/// The paths of the images of a live medium, in the order of its directories; none if the file is
/// none.
///
/// # Errors
///
/// If it cannot be read, or says what cannot be true.
///
/// # Cost
///
/// Reads the directories, and the first bytes of each file.
pub fn images(path: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let failed = |source| Error::Read { start: 0, source };
    let file = open_file(path).map_err(failed)?;
    let file_bytes = file.size_bytes().map_err(failed)?;
    let Some(iso) = read_iso(&file, file_bytes)? else {
        return Ok(Vec::new());
    };
    let images = squashfs_files(&iso, &file)?.into_iter();
    Ok(images.map(|file| file.path.clone()).collect())
}

/// Whether an image lies over another: Ubuntu's casper mounts `a.b.squashfs` over `a.squashfs`.
pub fn is_above(upper: &[u8], lower: &[u8]) -> bool {
    let dot = lower.iter().rposition(|byte| *byte == b'.');
    let (Some(stem), Some(ending)) = (
        dot.and_then(|dot| lower.get(..=dot)),
        dot.and_then(|dot| lower.get(dot..)),
    ) else {
        return false;
    };
    upper != lower && upper.starts_with(stem) && upper.ends_with(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_known_by_their_names() {
        for (upper, lower, expected) in [
            ("casper/a.b.squashfs", "casper/a.squashfs", true),
            ("casper/a.b.c.squashfs", "casper/a.squashfs", true),
            ("casper/a.squashfs", "casper/a.squashfs", false),
            ("casper/a.squashfs", "casper/a.b.squashfs", false),
            ("casper/ab.squashfs", "casper/a.squashfs", false),
            ("other/a.b.squashfs", "casper/a.squashfs", false),
            ("casper/a.b.img", "casper/a.squashfs", false),
            ("a.b", "a", false),
        ] {
            let found = is_above(upper.as_bytes(), lower.as_bytes());
            assert_eq!(found, expected, "{upper} over {lower}");
        }
    }
}
