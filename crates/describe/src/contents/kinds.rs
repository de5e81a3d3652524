//! What kinds of files an image has, by their names, and what each kind takes.

use std::collections::HashMap;

use coldpress_report::text::base_name;
use coldpress_report::units::{bytes, count};
use serde::{Serialize, Serializer};
use serde_json::json;

/// The most extensions that are told apart: a hostile image has any number.
const EXTENSIONS_MAX: usize = 4096;
/// Longer ones are no extensions.
const EXTENSION_MAX_BYTES: usize = 12;
/// How many extensions are shown.
const SHOWN: usize = 10;

/// Files of an extension, or of a class of them.
#[derive(Clone, Debug, Default)]
struct Tally {
    files: u64,
    content_bytes: u64,
    /// A tail end takes a part of a byte.
    image_bytes: f64,
}

/// Files by extension and class.
#[derive(Debug, Default)]
pub(crate) struct Kinds {
    /// Places in `tallies` by extension and class.
    index: HashMap<(String, &'static str), usize>,
    tallies: Vec<(String, &'static str, Tally)>,
}

impl Kinds {
    /// Counts a file; returns its kind, for [`Kinds::add_image_bytes`].
    pub(crate) fn add(
        &mut self,
        path: &[u8],
        mode: u16,
        content_bytes: u64,
        image_bytes: u64,
    ) -> usize {
        let mut extension = extension(base_name(path)).unwrap_or_default();
        let class = class(&extension, mode);
        if self.index.len() >= EXTENSIONS_MAX && class == OTHER {
            extension.clear();
        }
        let next = self.tallies.len();
        let kind = *self
            .index
            .entry((extension, class))
            .or_insert_with_key(|key| {
                self.tallies.push((key.0.clone(), class, Tally::default()));
                next
            });
        if let Some((_, _, tally)) = self.tallies.get_mut(kind) {
            tally.files += 1;
            tally.content_bytes = tally.content_bytes.saturating_add(content_bytes);
        }
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
        self.add_image_bytes(kind, image_bytes as f64);
        kind
    }

    /// Adds what more a file of a kind takes.
    pub(crate) fn add_image_bytes(&mut self, kind: usize, image_bytes: f64) {
        if let Some((_, _, tally)) = self.tallies.get_mut(kind) {
            tally.image_bytes += image_bytes;
        }
    }

    /// Those that take most first.
    fn sorted_by(&self, name: impl Fn(&str, &'static str) -> String) -> Vec<(String, Tally)> {
        let mut sums: HashMap<String, Tally> = HashMap::new();
        for (extension, class, tally) in &self.tallies {
            let sum = sums.entry(name(extension, class)).or_default();
            sum.files += tally.files;
            sum.content_bytes = sum.content_bytes.saturating_add(tally.content_bytes);
            sum.image_bytes += tally.image_bytes;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by(|(left_name, left), (right_name, right)| {
            let by_size = right.image_bytes.total_cmp(&left.image_bytes);
            by_size.then_with(|| left_name.cmp(right_name))
        });
        sums
    }

    fn classes(&self) -> Vec<(String, Tally)> {
        self.sorted_by(|_, class| class.to_owned())
    }

    fn extensions(&self) -> Vec<(String, Tally)> {
        self.sorted_by(|extension, _| extension.to_owned())
    }

    /// The tables for people.
    pub(crate) fn lines(&self) -> Vec<String> {
        let title =
            |name| format!("\n{name:<18}       files       content         image   ratio\n");
        let mut lines = vec![title("kind, by name")];
        lines.extend(self.classes().iter().map(line));
        lines.push(title("extension"));
        let mut extensions = self.extensions();
        for (name, _) in &mut extensions {
            *name = if name.is_empty() {
                "none".to_owned()
            } else {
                format!(".{name}")
            };
        }
        lines.extend(extensions.iter().take(SHOWN).map(line));
        if extensions.len() > SHOWN {
            lines.push(format!("and {} more\n", extensions.len() - SHOWN));
        }
        lines
    }
}

impl Serialize for Kinds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = |(name, tally): &(String, Tally)| {
            json!({
                "name": name,
                "files": tally.files,
                "content_bytes": tally.content_bytes,
                "image_bytes": whole(tally.image_bytes),
                "ratio": ratio(tally),
            })
        };
        let list = |sums: Vec<_>| sums.iter().map(json).collect::<Vec<_>>();
        let tables = json!({
            "classes": list(self.classes()),
            "extensions": list(self.extensions()),
        });
        tables.serialize(serializer)
    }
}

fn line((name, tally): &(String, Tally)) -> String {
    let ratio = ratio(tally).map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
    let (files, content) = (count(tally.files), bytes(tally.content_bytes));
    let image = bytes(whole(tally.image_bytes));
    format!("{name:<18} {files:>11} {content:>13} {image:>13} {ratio:>7}\n")
}

fn ratio(tally: &Tally) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown of it")]
    (tally.content_bytes > 0).then(|| tally.image_bytes / tally.content_bytes as f64)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of sizes: positive, and saturated if it is too large"
)]
fn whole(bytes: f64) -> u64 {
    bytes.round() as u64
}

/// What stands behind the last dot in lower case; `so` for `libc.so.6`.
fn extension(name: &[u8]) -> Option<String> {
    if name.windows(4).any(|part| part == b".so.") {
        return Some("so".to_owned());
    }
    let dot = name
        .iter()
        .rposition(|byte| *byte == b'.')
        .filter(|dot| *dot > 0)?;
    let extension = name.get(dot + 1..)?;
    let is_one = (1..=EXTENSION_MAX_BYTES).contains(&extension.len())
        && extension.iter().all(u8::is_ascii_alphanumeric)
        && extension.iter().any(u8::is_ascii_alphabetic);
    let text = || String::from_utf8_lossy(extension).to_ascii_lowercase();
    is_one.then(text)
}

/// The class of all that belongs to no other.
const OTHER: &str = "other";

/// Classes of extensions.
const CLASSES: [(&str, &[&str]); 4] = [
    (
        "programs",
        &[
            "so", "a", "o", "ko", "exe", "dll", "wasm", "node", "elf", "bin", "efi",
        ],
    ),
    (
        "scripts",
        &[
            "py", "pl", "pm", "sh", "js", "mjs", "ts", "rb", "lua", "php", "tcl", "c", "h", "cpp",
            "hpp", "rs", "go", "java",
        ],
    ),
    (
        "text",
        &[
            "txt", "md", "rst", "html", "htm", "xml", "svg", "css", "json", "yaml", "yml", "toml",
            "conf", "cfg", "ini", "csv", "po", "desktop", "service", "list", "rules",
        ],
    ),
    (
        "compressed",
        &[
            "gz", "tgz", "bz2", "xz", "zst", "lz4", "zip", "7z", "jar", "apk", "whl", "deb", "rpm",
            "snap", "squashfs", "sqfs", "png", "jpg", "jpeg", "gif", "webp", "avif", "mp3", "ogg",
            "oga", "opus", "flac", "m4a", "mp4", "mkv", "webm", "woff", "woff2", "pdf", "br",
        ],
    ),
];

/// The class of an extension; a file without one that may be executed is a program.
fn class(extension: &str, mode: u16) -> &'static str {
    if extension.is_empty() && mode & 0o111 != 0 {
        return "programs";
    }
    let class = CLASSES
        .iter()
        .find(|(_, members)| members.contains(&extension));
    class.map_or(OTHER, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_extensions_and_extensions_classes() {
        for (name, expected, in_class) in [
            ("libc.so.6", Some("so"), "programs"),
            ("A.PNG", Some("png"), "compressed"),
            ("setup.py", Some("py"), "scripts"),
            (".bashrc", None, "programs"),
            ("sh", None, "programs"),
            ("x.tar.gz", Some("gz"), "compressed"),
            ("python3.11", None, "programs"),
            ("a.b c", None, "programs"),
            ("a.", None, "programs"),
            ("a.unknown", Some("unknown"), "other"),
        ] {
            let found = extension(name.as_bytes());
            assert_eq!(found.as_deref(), expected, "{name}");
            assert_eq!(class(&found.unwrap_or_default(), 0o755), in_class, "{name}");
        }
        assert_eq!(class("", 0o644), OTHER);
    }

    #[test]
    fn a_hostile_number_of_extensions_is_bounded() {
        let mut kinds = Kinds::default();
        for number in 0..10_000 {
            kinds.add(format!("/a.x{number}").as_bytes(), 0o644, 10, 4);
        }
        assert!(kinds.tallies.len() <= EXTENSIONS_MAX + 2);
        let files: u64 = kinds.tallies.iter().map(|tally| tally.2.files).sum();
        assert_eq!(files, 10_000);
        assert_eq!(kinds.classes().len(), 1);
    }
}
