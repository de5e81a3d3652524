//! Several recordings of one start: their files.

use std::ffi::{OsStr, OsString};
use std::num::NonZeroU64;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;
use coldpress_writer::Output;

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
    pub(super) fn create(&self) -> Result<Vec<Output>, coldpress_writer::Error> {
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

#[cfg(test)]
mod tests {
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
}
