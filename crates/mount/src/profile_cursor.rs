//! The blocks of a profile, in the order in which they were needed.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::vec;

use coldpress_image::StoredBlock;
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, WorkingSet};

use crate::file_map::{FileMap, Piece};
use crate::file_system::FileSystem;

/// Goes through a working set; finds each file when it comes to it.
pub(crate) struct ProfileCursor {
    files: Vec<FileAccess>,
    runs: vec::IntoIter<Run>,
    /// The file whose runs come now, `None` if the image does not have it.
    current: Option<(usize, Option<Arc<FileMap>>)>,
    missing: HashSet<usize>,
    /// Its bytes that are not done yet.
    left: Range<u64>,
}

/// Bytes of a file that were needed at one time.
struct Run {
    rank: u64,
    /// Index of the file.
    file: usize,
    bytes: Range<u64>,
}

impl ProfileCursor {
    /// # Cost
    ///
    /// O(n log n) in the number of runs.
    pub(crate) fn new(set: WorkingSet) -> Self {
        let files = set.files;
        let runs = files.iter().enumerate().flat_map(|(file, access)| {
            access.pages.iter().map(move |run| Run {
                rank: run.rank,
                file,
                bytes: run.first_page.saturating_mul(PAGE_SIZE_BYTES)
                    ..run
                        .last_page
                        .saturating_add(1)
                        .saturating_mul(PAGE_SIZE_BYTES),
            })
        });
        let mut runs: Vec<Run> = runs.collect();
        runs.sort_by_key(|run| run.rank);
        Self {
            files,
            runs: runs.into_iter(),
            current: None,
            missing: HashSet::new(),
            left: 0..0,
        }
    }

    /// The next block, perhaps one that came before; `None` at the end. Holes are no blocks.
    pub(crate) fn next(&mut self, file_system: &FileSystem) -> Option<StoredBlock> {
        loop {
            if let Some(block) = self.next_of_run() {
                return Some(block);
            }
            let run = self.runs.next()?;
            self.left = run.bytes;
            if self
                .current
                .as_ref()
                .is_none_or(|(file, _)| *file != run.file)
            {
                let path = self.files.get(run.file).map(|file| &*file.path);
                let map = path.and_then(|path| file_system.file_at(path));
                if map.is_none() && self.missing.insert(run.file) {
                    file_system.prefetch_control().note_missing();
                }
                self.current = Some((run.file, map));
            }
        }
    }

    fn next_of_run(&mut self) -> Option<StoredBlock> {
        let (_, map) = self.current.as_ref()?;
        let map = map.as_ref()?;
        while let Some(piece) = map.pieces(self.left.clone()).next() {
            self.left.start = map.block_end(self.left.start);
            if let Piece::Block(block, _) = piece {
                return Some(block);
            }
        }
        None
    }
}
