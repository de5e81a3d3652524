//! What became of a file, as values and as sentences.

use serde::Serialize;

use crate::container::Account;
use crate::original::Original;

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The new file, as it was named.
    pub file: String,
    /// Bytes of the old file.
    pub old_bytes: u64,
    /// Bytes of the new file.
    pub new_bytes: u64,
    /// What became of the parts around the image.
    #[serde(flatten)]
    pub account: Account,
    /// `none`, `dropped`, or `made`.
    pub signature: &'static str,
    /// Whether a start was recorded; else a profile or a plan was given.
    pub recorded: bool,
    /// Whether starts of both files were measured.
    pub proven: bool,
}

impl Report {
    /// What became of a file that was rebuilt, and of which nothing is measured yet.
    pub fn new(original: &Original, account: Account, file: String, new_bytes: u64) -> Self {
        let signature = match original.container.is_signed() {
            _ if account.is_signed => "made",
            true => "dropped",
            false => "none",
        };
        Self {
            file,
            old_bytes: original.file_bytes,
            new_bytes,
            account,
            signature,
            recorded: false,
            proven: false,
        }
    }

    /// A sentence for each kind of part that there is.
    pub fn sentences(&self) -> Vec<String> {
        let Account {
            identical,
            moved,
            recomputed,
            dropped,
            ..
        } = &self.account;
        let lists = [
            ("identical", identical),
            ("moved", moved),
            ("computed again", recomputed),
            ("dropped", dropped),
        ];
        let lists = lists.into_iter().filter(|(_, parts)| !parts.is_empty());
        lists
            .map(|(what, parts)| format!("{what}: {}", parts.join("; ")))
            .collect()
    }
}
