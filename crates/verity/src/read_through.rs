//! What a start reads of a tree, for predictions.

use std::path::Path;
use std::sync::Arc;

use coldpress_cost::HashTree;
use coldpress_image::{ReadAt, open_file};

use crate::error::Error;
use crate::files::sidecar;
use crate::geometry::Geometry;
use crate::parameters::Parameters;
use crate::tree::{Tree, used_bytes};

/// The tree through which an image is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// None, whether there is one or not.
    Nothing,
    /// The one that was appended to the image, if there is one.
    Found,
    /// The one that was appended to the image; without one, that which would be by default.
    Appended,
    /// The one beside the image; without one, that which would be by default.
    Beside,
}

/// Where the hash blocks lie that are read with an image.
///
/// * `path`: of the image.
/// * `bytes`: of the image, with what was appended to it.
///
/// # Errors
///
/// If a tree cannot be read, or the image is empty.
pub fn read_through(
    path: &Path,
    bytes: &Arc<dyn ReadAt>,
    through: Through,
) -> Result<Option<HashTree>, Error> {
    let appended = || Tree::of_image(bytes).map_err(|error| error.in_file(path));
    let tree = match through {
        Through::Nothing => return Ok(None),
        Through::Found | Through::Appended => appended()?.map(|(tree, _)| tree),
        Through::Beside => beside(path)?,
    };
    if let Some(tree) = tree {
        let superblock = &tree.superblock;
        let size = (superblock.data_blocks, through == Through::Beside);
        return Ok(Some(of(&superblock.parameters, &tree.geometry, size)));
    }
    let Some(used_bytes) = used_bytes(bytes)?.filter(|_| through != Through::Found) else {
        return Ok(None);
    };
    let parameters = Parameters::default();
    let data_block_bytes = parameters.data_block.bytes();
    let data_blocks = used_bytes.div_ceil(data_block_bytes);
    let is_beside = through == Through::Beside;
    let start = if is_beside {
        0
    } else {
        data_blocks.saturating_mul(data_block_bytes)
    };
    let geometry = Geometry::new(&parameters, data_blocks, start, true)?;
    Ok(Some(of(&parameters, &geometry, (data_blocks, is_beside))))
}

fn beside(image: &Path) -> Result<Option<Tree>, Error> {
    let path = sidecar(image, "verity");
    if !path.is_file() {
        return Ok(None);
    }
    let file = open_file(&path).map_err(|source| Error::open(&path, source))?;
    let tree = Tree::read(&file, 0).map_err(|error| error.in_file(&path))?;
    Ok(Some(tree))
}

/// A tree on a device of its own stands behind the image, so that no byte of one is one of the
/// other.
fn of(
    parameters: &Parameters,
    geometry: &Geometry,
    (data_blocks, is_beside): (u64, bool),
) -> HashTree {
    let data_block_bytes = parameters.data_block.bytes();
    let hash_block_bytes = parameters.hash_block.bytes();
    let levels = geometry.levels.iter().map(|level| {
        let first = level.start / hash_block_bytes;
        first..first + level.blocks
    });
    HashTree {
        data_block_bytes,
        hash_block_bytes,
        hashes_per_block: parameters.entries_per_block(),
        levels: levels.collect(),
        device_start_byte: if is_beside {
            data_blocks.saturating_mul(data_block_bytes)
        } else {
            0
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_blocks_of_the_device_that_has_the_tree() {
        let parameters = Parameters::default();
        for (start, device_start_byte, expected) in [
            (0, 1000 * 4096, [2..10, 1..2]),
            (1000 * 4096, 0, [1002..1010, 1001..1002]),
        ] {
            let geometry = Geometry::new(&parameters, 1000, start, true).unwrap();
            let tree = of(&parameters, &geometry, (1000, start == 0));
            assert_eq!(tree.levels, expected);
            assert_eq!(tree.device_start_byte, device_start_byte);
            assert_eq!(tree.hashes_per_block, 128);
        }
    }
}
