//! Security labels (`SELinux`) from a `file_contexts` file.
//!
//! Each line is a specification: a regular expression for the whole path, an optional type of file,
//! and a context or `<<none>>`. A specification without special characters names one path and wins
//! over all others; of the rest the last that matches decides.
//!
//! Source: `selabel_file(5)` of libselinux, and the order of its `label_file.c`. The regular
//! expressions there are those of PCRE2; look-around and back references are refused here.

use std::collections::BTreeMap;

use coldpress_layout::{Kind, NodeId, Tree};
use regex::bytes::{Regex, RegexBuilder};

use super::xattrs::set;
use crate::error::Error;
use crate::shared_xattrs::SharedXattrs;

/// The xattr that holds a label.
const NAME: &[u8] = b"security.selinux";

/// The specifications of a `file_contexts` file.
#[derive(Clone, Debug, Default)]
pub struct FileContexts {
    /// By path, in the order of the file.
    literal: BTreeMap<Vec<u8>, Vec<Specification>>,
    patterns: Vec<(Pattern, Specification)>,
}

#[derive(Clone, Debug)]
struct Specification {
    file_type: Option<FileType>,
    /// `None` leaves what matches as it is.
    context: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct Pattern {
    /// What every path begins with that can match: a comparison spares most matches.
    prefix: Vec<u8>,
    regex: Regex,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileType {
    BlockDevice,
    CharDevice,
    Directory,
    Fifo,
    Symlink,
    Socket,
    Regular,
}

impl FileContexts {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// [`Error::Line`] for a line that is no specification.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut contexts = Self::default();
        for (line, number) in text.split(|&byte| byte == b'\n').zip(1..) {
            let wrong = |rule| Error::Line {
                what: "file contexts",
                line: number,
                found: crate::error::shown(line),
                rule,
            };
            let fields = line.split(u8::is_ascii_whitespace);
            let fields: Vec<_> = fields.filter(|field| !field.is_empty()).collect();
            let (path, file_type, context) = match fields[..] {
                [] => continue,
                [first, ..] if first.starts_with(b"#") => continue,
                [path, context] => (path, None, context),
                [path, file_type, context] => (path, Some(file_type), context),
                _ => {
                    return Err(wrong(
                        "a line must have a path, an optional type, and a context",
                    ));
                }
            };
            let file_type = file_type.map(FileType::parse);
            if file_type == Some(None) {
                return Err(wrong(
                    "a type is `-b`, `-c`, `-d`, `-p`, `-l`, `-s` or `--`",
                ));
            }
            let specification = Specification {
                file_type: file_type.flatten(),
                context: (context != b"<<none>>").then(|| context.to_vec()),
            };
            contexts.add(path, specification).map_err(wrong)?;
        }
        Ok(contexts)
    }

    fn add(&mut self, path: &[u8], specification: Specification) -> Result<(), &'static str> {
        let (prefix, is_literal) = literal_prefix(path);
        if is_literal {
            self.literal.entry(prefix).or_default().push(specification);
            return Ok(());
        }
        let text = str::from_utf8(path).map_err(|_| "its regular expression is not UTF-8")?;
        let regex = RegexBuilder::new(&format!("^(?:{text})$"))
            .unicode(text.bytes().any(|byte| !byte.is_ascii()))
            .dot_matches_new_line(true)
            .build()
            .map_err(|_| "its regular expression is wrong, or uses what only PCRE2 has")?;
        self.patterns
            .push((Pattern { prefix, regex }, specification));
        Ok(())
    }

    /// The context of a path; `None` if none is specified.
    fn find(&self, path: &[u8], kind: &Kind) -> Option<&[u8]> {
        let file_type = FileType::of(kind);
        let fits = |specification: &&Specification| {
            specification.file_type.is_none_or(|it| it == file_type)
        };
        let literal = self.literal.get(path).into_iter().flatten();
        let found = literal.rev().find(fits).or_else(|| {
            let patterns = self.patterns.iter().rev();
            let matching = patterns.filter(|(pattern, specification)| {
                fits(&specification)
                    && path.starts_with(&pattern.prefix)
                    && pattern.regex.is_match(path)
            });
            matching.map(|(_, specification)| specification).next()
        });
        found?.context.as_deref()
    }

    /// Labels the nodes of a tree by their paths; one with several names by the first of them.
    ///
    /// The label ends with a zero byte, as setfilecon(3) stores it.
    pub(super) fn label(&self, tree: &mut Tree, shared: &mut SharedXattrs) {
        let mut is_labeled = vec![false; tree.nodes.len()];
        let mut pending = vec![(Vec::new(), NodeId::ROOT)];
        while let Some((path, id)) = pending.pop() {
            if std::mem::replace(&mut is_labeled[id.index()], true) {
                continue;
            }
            // Backwards, so that the stack yields names in ascending order.
            for (name, child) in tree.entries(id).iter().rev() {
                pending.push(([path.as_slice(), b"/", name].concat(), *child));
            }
            let path = if path.is_empty() { b"/" } else { &path[..] };
            let node = &mut tree.nodes[id.index()];
            let Some(context) = self.find(path, &node.kind) else {
                continue;
            };
            set(&mut node.xattrs, NAME, &[context, b"\0"].concat());
            shared.share(&mut node.xattrs);
        }
    }
}

impl FileType {
    fn parse(text: &[u8]) -> Option<Self> {
        Some(match text {
            b"-b" => Self::BlockDevice,
            b"-c" => Self::CharDevice,
            b"-d" => Self::Directory,
            b"-p" => Self::Fifo,
            b"-l" => Self::Symlink,
            b"-s" => Self::Socket,
            b"--" => Self::Regular,
            _ => return None,
        })
    }

    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Directory { .. } => Self::Directory,
            Kind::File { .. } => Self::Regular,
            Kind::Symlink { .. } => Self::Symlink,
            Kind::BlockDevice { .. } => Self::BlockDevice,
            Kind::CharDevice { .. } => Self::CharDevice,
            Kind::Fifo => Self::Fifo,
            Kind::Socket => Self::Socket,
        }
    }
}

/// What a path must begin with to match an expression, and whether that is all of it.
fn literal_prefix(pattern: &[u8]) -> (Vec<u8>, bool) {
    let mut prefix = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            // `\.` is a dot, `\d` is not.
            b'\\' => match bytes.next() {
                Some(byte) if !byte.is_ascii_alphanumeric() => prefix.push(*byte),
                _ => return (prefix, false),
            },
            b'.' | b'^' | b'$' | b'?' | b'*' | b'+' | b'|' | b'[' | b'(' | b'{' => {
                // A quantifier may make the last byte optional, an alternative all.
                prefix.pop();
                if pattern.contains(&b'|') && !is_grouped(pattern) {
                    prefix.clear();
                }
                return (prefix, false);
            }
            byte => prefix.push(byte),
        }
    }
    (prefix, true)
}

/// Whether all alternatives of an expression lie in groups; `false` if that takes a parser to tell.
fn is_grouped(pattern: &[u8]) -> bool {
    let mut depth = 0;
    for byte in pattern {
        match byte {
            b'\\' | b'[' => return false,
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'|' if depth < 1 => return false,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"\
# a comment
/.*             system_u:object_r:default_t:s0
/usr(/.*)?      system_u:object_r:usr_t:s0
/usr/bin/.*  -- system_u:object_r:bin_t:s0
/usr/bin/sh     system_u:object_r:shell_t:s0
/usr/lib/a\\.so  --      system_u:object_r:lib_t:s0
/usr/bin/s.*    system_u:object_r:late_t:s0
/a|/proc/.+     <<none>>
/dev/sd[a-z]    -b      system_u:object_r:disk_t:s0
/opt/?x         system_u:object_r:opt_t:s0
";

    #[test]
    fn literal_paths_win_and_then_the_last_match() {
        let contexts = FileContexts::parse(TEXT).unwrap();
        let file = Kind::File { size_bytes: 0 };
        let directory = Kind::Directory {
            entries: Vec::new(),
        };
        let disk = Kind::BlockDevice { major: 8, minor: 0 };
        let cases: &[(&str, &Kind, Option<&str>)] = &[
            ("/", &directory, Some("default_t")),
            ("/usr", &directory, Some("usr_t")),
            ("/usrx", &directory, Some("default_t")),
            ("/usr/bin/ls", &file, Some("bin_t")),
            ("/usr/bin/ls", &directory, Some("usr_t")),
            ("/usr/bin/sh", &file, Some("shell_t")),
            ("/usr/bin/sed", &file, Some("late_t")),
            ("/usr/lib/a.so", &file, Some("lib_t")),
            ("/usr/lib/axso", &file, Some("usr_t")),
            ("/proc/1", &file, None),
            ("/a", &file, None),
            ("/dev/sda", &disk, Some("disk_t")),
            ("/dev/sda", &file, Some("default_t")),
            ("/optx", &file, Some("opt_t")),
            ("/opt/x", &file, Some("opt_t")),
        ];
        for &(path, kind, expected) in cases {
            let found = contexts.find(path.as_bytes(), kind);
            let expected = expected.map(|name| format!("system_u:object_r:{name}:s0"));
            let expected = expected.as_ref().map(String::as_bytes);
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line) in [
            (&b"/a b\n/c"[..], "line 2"),
            (b"\n\n/a -x b", "line 3"),
            (b"/(a b", "line 1"),
            (b"/a -- b c", "line 1"),
            (b"/(?=a).* b", "line 1"),
        ] {
            let error = FileContexts::parse(text).unwrap_err().to_string();
            assert!(error.contains(line), "{error}");
        }
    }
}
