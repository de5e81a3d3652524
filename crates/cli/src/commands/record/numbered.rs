//! Several recordings of one start: their files, and what they have in common.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::num::NonZeroU64;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use coldpress_build::Output;
use coldpress_trace::WorkingSet;

use crate::failure::hint;
use crate::text::quoted;

/// Stands for the number of the recording in the name of its file.
const NUMBER: &[u8] = b"{}";

/// Where the traces go, in order; none for standard output.
pub(super) struct Numbered {
    pub(super) paths: Vec<PathBuf>,
}

impl Numbered {
    /// The names of `runs` files.
    ///
    /// # Errors
    ///
    /// If several recordings have no place, or one and the same.
    pub(super) fn resolve(output: Option<&Path>, runs: NonZeroU64) -> anyhow::Result<Self> {
        let runs = runs.get();
        let Some(output) = output else {
            if runs > 1 {
                let error = anyhow!("{runs} recordings do not fit on standard output");
                return Err(hint(error, "write `-o NAME-{}.trace`"));
            }
            return Ok(Self { paths: Vec::new() });
        };
        if runs > 1 && fill(output, 1) == output {
            let error = anyhow!("{} is one file for {runs} recordings", quoted(output));
            return Err(hint(
                error,
                "write `{}` into its name, for the number of each",
            ));
        }
        let paths = match runs {
            1 => vec![output.to_path_buf()],
            _ => (1..=runs).map(|number| fill(output, number)).collect(),
        };
        Ok(Self { paths })
    }

    /// Takes the places.
    ///
    /// # Errors
    ///
    /// If a file cannot be written there.
    pub(super) fn create(&self) -> Result<Vec<Output>, coldpress_build::Error> {
        self.paths.iter().map(|path| Output::create(path)).collect()
    }
}

/// The path with a number in place of each `{}` of its last name.
fn fill(path: &Path, number: u64) -> PathBuf {
    let mut rest = path.file_name().map_or(&b""[..], OsStr::as_bytes);
    let mut name = Vec::new();
    while let Some(at) = rest
        .windows(NUMBER.len())
        .position(|window| window == NUMBER)
    {
        let (before, found) = rest.split_at(at);
        name.extend_from_slice(before);
        name.extend_from_slice(number.to_string().as_bytes());
        rest = found.get(NUMBER.len()..).unwrap_or_default();
    }
    name.extend_from_slice(rest);
    path.with_file_name(OsString::from_vec(name))
}

/// `99.6 % of the pages surely used, 100.0 % of the files and 99.9 % of the lookups are in all 5 recordings`
pub(super) fn in_common(sets: &[WorkingSet]) -> String {
    let mut pages = HashMap::new();
    let mut files = HashMap::new();
    let mut lookups = HashMap::new();
    for set in sets {
        for file in &set.files {
            *files.entry(&file.path).or_insert(0) += 1;
            for run in file.pages.iter().filter(|run| run.certain) {
                for page in run.first_page..=run.last_page {
                    *pages.entry((&file.path, page)).or_insert(0) += 1;
                }
            }
        }
        for path in &set.lookups {
            *lookups.entry(path).or_insert(0) += 1;
        }
    }
    let count = sets.len();
    let pages = share(pages.values(), count);
    let files = share(files.values(), count);
    let lookups = share(lookups.values(), count);
    format!(
        "{pages} of the pages surely used, {files} of the files and {lookups} of the lookups are in all {count} \
         recordings"
    )
}

/// How many of these counts reach `all`, in percent, rounded down; of none all do.
fn share<'a>(counts: impl Iterator<Item = &'a usize>, all: usize) -> String {
    let (mut reached, mut total) = (0_u64, 0_u64);
    for &count in counts {
        total += 1;
        reached += u64::from(count == all);
    }
    let permille = (reached * 1000).checked_div(total).unwrap_or(1000);
    format!("{}.{} %", permille / 10, permille % 10)
}

#[cfg(test)]
mod tests {
    use coldpress_trace::{Access, Event, Trace};

    use super::*;

    #[test]
    fn each_recording_has_a_file_of_its_own() {
        let names = |output: &str, runs| {
            let runs = NonZeroU64::new(runs).unwrap();
            let numbered = Numbered::resolve(Some(Path::new(output)), runs);
            numbered.map(|numbered| numbered.paths).ok()
        };
        let paths = |paths: &[&str]| Some(paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        for (output, runs, expected) in [
            ("a.trace", 1, paths(&["a.trace"])),
            ("a-{}", 1, paths(&["a-{}"])),
            ("x/a-{}.trace", 2, paths(&["x/a-1.trace", "x/a-2.trace"])),
            ("{}{}", 2, paths(&["11", "22"])),
            ("{}/a", 2, None),
            ("a.trace", 2, None),
        ] {
            assert_eq!(names(output, runs), expected, "{output}");
        }
        assert!(Numbered::resolve(None, NonZeroU64::new(2).unwrap()).is_err());
    }

    #[test]
    fn what_recordings_have_in_common_is_told_in_percent() {
        let set = |pages: &[u64]| {
            let events = pages.iter().map(|&page| Event {
                time_us: 0,
                pid: 1,
                access: Access::Fault { page },
                path: b"/a".to_vec(),
            });
            let trace = Trace {
                events: events.collect(),
                ..Trace::default()
            };
            trace.working_set()
        };
        let told = in_common(&[set(&[0, 1, 2]), set(&[1, 2, 3])]);
        assert_eq!(
            told,
            "50.0 % of the pages surely used, 100.0 % of the files and 100.0 % of the lookups are in all 2 recordings"
        );
        assert!(in_common(&[set(&[]), set(&[])]).starts_with("100.0 %"));
    }
}
