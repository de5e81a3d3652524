//! What a profile holds.

use std::collections::HashMap;
use std::io::{self, Write};

use coldpress_report::text::{escaped, fields, hex};
use coldpress_report::units;
use coldpress_trace::{FileAccess, PAGE_SIZE_BYTES, Profile};
use serde::Serialize;

/// What a profile holds, as it serializes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileContents {
    recordings: u32,
    /// Lines of the header, in their order.
    header: Vec<(String, String)>,
    files: Vec<ProfiledFile>,
    lookups: usize,
    directories: usize,
    read_bytes: u64,
    maybe_bytes: u64,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct ProfiledFile {
    /// With escapes.
    path: String,
    /// How many recordings read it.
    recordings: u32,
    /// Bytes of pages that were surely needed.
    read_bytes: u64,
    /// Bytes of pages that may have been.
    maybe_bytes: u64,
    /// `null` if not known.
    size_bytes: Option<u64>,
    /// The first half of its BLAKE3 hash; `null` if not known.
    hash: Option<String>,
}

impl ProfileContents {
    /// Sums up a profile; the files of which most was read come first.
    pub fn new(profile: &Profile) -> Self {
        let set = profile.working_set(0.0);
        let mut recordings: HashMap<&[u8], u32> = HashMap::new();
        for step in profile
            .steps
            .iter()
            .filter(|step| step.access.pages().is_some())
        {
            let most = recordings.entry(&step.path).or_default();
            *most = step.recordings.max(*most);
        }
        let row = |file: &FileAccess| {
            let known = profile.files.get(&file.path);
            ProfiledFile {
                path: escaped(&file.path),
                recordings: recordings
                    .get(file.path.as_slice())
                    .copied()
                    .unwrap_or_default(),
                read_bytes: touched_bytes(file, true),
                maybe_bytes: touched_bytes(file, false),
                size_bytes: known.map(|known| known.size_bytes),
                hash: known.and_then(|known| Some(hex(&known.hash?))),
            }
        };
        let mut files: Vec<_> = set.files.iter().map(row).collect();
        files.sort_by_key(|row| std::cmp::Reverse(row.read_bytes.saturating_add(row.maybe_bytes)));
        let sum =
            |bytes: fn(&ProfiledFile) -> u64| files.iter().map(bytes).fold(0, u64::saturating_add);
        Self {
            recordings: profile.recordings,
            header: profile.header.fields.clone(),
            lookups: set.lookups.len(),
            directories: set.lists.len(),
            read_bytes: sum(|row| row.read_bytes),
            maybe_bytes: sum(|row| row.maybe_bytes),
            files,
        }
    }

    /// Writes sums, and a line for each file.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", fields(&self.head()))?;
        if !self.files.is_empty() {
            writeln!(
                out,
                "\n{:>9}  {:>9}  {:>10}  file",
                "read", "maybe", "recordings"
            )?;
        }
        for row in &self.files {
            let [read, maybe] = [row.read_bytes, row.maybe_bytes].map(units::bytes);
            let share = format!("{} of {}", row.recordings, self.recordings);
            writeln!(out, "{read:>9}  {maybe:>9}  {share:>10}  {}", row.path)?;
        }
        Ok(())
    }

    /// The lines above the files.
    fn head(&self) -> Vec<(&str, String)> {
        let count = |count: usize| units::count(count as u64);
        let bytes = format!(
            "{}, and maybe {}",
            units::bytes(self.read_bytes),
            units::bytes(self.maybe_bytes)
        );
        let mut rows = vec![("recordings", self.recordings.to_string())];
        let header = self.header.iter();
        rows.extend(header.map(|(key, value)| (key.as_str(), escaped(value.as_bytes()))));
        rows.extend([
            ("files", count(self.files.len())),
            ("bytes", bytes),
            ("lookups", count(self.lookups)),
            ("directories", count(self.directories)),
        ]);
        rows
    }
}

/// Bytes of the pages of a kind.
fn touched_bytes(file: &FileAccess, certain: bool) -> u64 {
    let runs = file.pages.iter().filter(|run| run.certain == certain);
    let pages = runs.map(|run| run.last_page - run.first_page + 1);
    pages
        .fold(0, u64::saturating_add)
        .saturating_mul(PAGE_SIZE_BYTES)
}
