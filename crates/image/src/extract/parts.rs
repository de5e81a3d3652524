//! How far the files are that several jobs write to, and which files are left out.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::report::is_of_one_path;
use super::tree::Tree;
use crate::error::Error;

/// Kept by the calling thread: where jobs are made, and where they are done.
#[derive(Default)]
pub(super) struct Parts(RefCell<State>);

#[derive(Default)]
struct State {
    /// For each file that was created for several jobs: how many are not done.
    left: HashMap<usize, u64>,
    left_out: HashSet<usize>,
    errors: Vec<Error>,
}

impl Parts {
    /// A file was created for `count` jobs.
    pub(super) fn begin(&self, file: usize, count: u64) {
        self.0.borrow_mut().left.insert(file, count);
    }

    /// Whether a file was created, or could not be.
    pub(super) fn is_begun(&self, file: usize) -> bool {
        let state = self.0.borrow();
        state.left.contains_key(&file) || state.left_out.contains(&file)
    }

    pub(super) fn is_left_out(&self, file: usize) -> bool {
        self.0.borrow().left_out.contains(&file)
    }

    /// A job for a file is done; returns whether it was the last.
    pub(super) fn end_one(&self, file: usize) -> bool {
        let mut state = self.0.borrow_mut();
        let Some(left) = state.left.get_mut(&file) else {
            return false;
        };
        *left = left.saturating_sub(1);
        *left == 0
    }

    /// Notes that a file is left out and why, if that was not known, or hands the error back if it
    /// ends the extraction.
    pub(super) fn leave_out(&self, tree: &Tree, file: usize, error: Error) -> Result<(), Error> {
        if !tree.keep_going || !is_of_one_path(&error) {
            return Err(error);
        }
        let mut state = self.0.borrow_mut();
        if state.left_out.insert(file) {
            state.errors.push(error);
        }
        Ok(())
    }

    /// The errors since the last call.
    pub(super) fn take_errors(&self) -> Vec<Error> {
        std::mem::take(&mut self.0.borrow_mut().errors)
    }

    /// The files that were created and of which not all jobs are done, and those left out.
    pub(super) fn into_ends(self) -> (Vec<usize>, HashSet<usize>) {
        let State { left, left_out, .. } = self.0.into_inner();
        let unfinished = left.into_iter().filter(|(_, left)| *left > 0);
        (unfinished.map(|(file, _)| file).collect(), left_out)
    }
}
