//! The paths of what was visited, in memory that grows with the names and not with the paths.

use std::collections::HashMap;

use coldpress_format::Body;
use coldpress_image::Visited;
use coldpress_report::text::base_name;

use coldpress_image::image_path::child;

/// The paths of a walk, and the first of each inode that may have several.
#[derive(Debug, Default)]
pub(crate) struct FirstNames {
    /// Each name with the place of its directory's; that of the root directory is its own.
    names: Vec<(usize, Vec<u8>)>,
    /// The places of the directories that the walk is in.
    levels: Vec<usize>,
    /// The first place of inodes with several names, by their number.
    first: HashMap<u32, usize>,
}

impl FirstNames {
    /// Notes a path, to be called in the order of a walk.
    ///
    /// Returns the place of the path; for further names of an inode that of the first, and `true`.
    pub(crate) fn note(&mut self, visited: &Visited) -> (usize, bool) {
        self.levels.truncate(visited.depth);
        let place = self.names.len();
        let inode = visited.inode;
        let is_directory = matches!(inode.body, Body::Directory(_));
        if !is_directory && inode.link_count != 1 {
            if let Some(first) = self.first.get(&inode.number) {
                return (*first, true);
            }
            self.first.insert(inode.number, place);
        }
        let directory = self.levels.last().copied().unwrap_or(place);
        let name = base_name(visited.path).to_vec();
        self.names.push((directory, name));
        if is_directory {
            self.levels.push(place);
        }
        (place, false)
    }

    /// The path of a place.
    pub(crate) fn path(&self, place: usize) -> Vec<u8> {
        let mut names = Vec::new();
        let mut at = place;
        while let Some((directory, name)) = self.names.get(at)
            && *directory != at
        {
            names.push(name);
            at = *directory;
        }
        let names = names.into_iter().rev();
        names.fold(b"/".to_vec(), |path, name| child(&path, name))
    }
}
