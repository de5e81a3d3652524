//! What readers could stumble over in an archive that contradicts itself nowhere.

use std::collections::{HashMap, HashSet};
use std::fmt;

use coldpress_image::ReadAt;
use coldpress_report::text::{plural, quoted_bytes};

use super::{Entry, Zip};
use crate::bytes::up_to;
use crate::error::Error;

/// The end of a block of signatures, right before the directory: APK Signature Scheme v2 and later.
const APK_SIGNATURES: &[u8; 16] = b"APK Sig Block 42";

/// Something of which readers make different things.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// A name that several entries have: some readers take the first, some the last.
    Duplicate(Vec<u8>),
    /// Names that differ in upper and lower case only: one file for some file systems.
    CaseTwins(Vec<u8>, Vec<u8>),
    /// An entry that only a password opens.
    Encrypted(Vec<u8>),
    /// A method that coldpress does not know.
    Method(Vec<u8>, u16),
    /// A name that leads out of the directory in which it is unpacked.
    Outside(Vec<u8>),
    /// Bytes before the archive.
    Prefix(u64),
    /// Bytes behind it.
    Trailing(u64),
    /// Bytes in it to which nothing refers.
    Gaps(u64),
    /// The entry or block that holds its signature.
    Signed(Vec<u8>),
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |count: &u64| plural(*count, "byte", "bytes");
        match self {
            Self::Duplicate(name) => write!(formatter, "several entries {}", quoted_bytes(name)),
            Self::CaseTwins(one, other) => {
                let (one, other) = (quoted_bytes(one), quoted_bytes(other));
                write!(formatter, "{one} and {other} differ in case only")
            }
            Self::Encrypted(name) => write!(formatter, "{} is encrypted", quoted_bytes(name)),
            Self::Method(name, method) => {
                let name = quoted_bytes(name);
                write!(
                    formatter,
                    "{name} is compressed by method {method}, which is not read"
                )
            }
            Self::Outside(name) => {
                let name = quoted_bytes(name);
                write!(formatter, "{name} leads out of where it is unpacked")
            }
            Self::Prefix(count) => write!(formatter, "{} before the archive", bytes(count)),
            Self::Trailing(count) => write!(formatter, "{} behind the archive", bytes(count)),
            Self::Gaps(count) => {
                write!(formatter, "{} to which nothing refers", bytes(count))
            }
            Self::Signed(by) => write!(formatter, "signed: {}", quoted_bytes(by)),
        }
    }
}

impl Zip {
    /// What readers could stumble over. An archive may have all of it and be sound.
    ///
    /// # Errors
    ///
    /// If the bytes before the directory cannot be read.
    pub fn findings(&self, source: &dyn ReadAt) -> Result<Vec<Finding>, Error> {
        let mut found = Vec::new();
        let counts = [
            (self.prefix_bytes, Finding::Prefix as fn(u64) -> Finding),
            (self.gap_bytes, Finding::Gaps),
            (self.trailing_bytes(), Finding::Trailing),
        ];
        let some = counts.iter().filter(|(count, _)| *count > 0);
        found.extend(some.map(|(count, finding)| finding(*count)));
        found.extend(self.signature(source)?.map(Finding::Signed));
        let mut names: HashSet<&[u8]> = HashSet::new();
        let mut spellings: HashMap<Vec<u8>, &[u8]> = HashMap::new();
        for entry in &self.entries {
            let name = &entry.name;
            if names.insert(name) {
                let first = spellings.entry(name.to_ascii_lowercase()).or_insert(name);
                if *first != name {
                    found.push(Finding::CaseTwins(first.to_vec(), name.clone()));
                }
            } else {
                found.push(Finding::Duplicate(name.clone()));
            }
            if entry.is_encrypted() {
                found.push(Finding::Encrypted(name.clone()));
            } else if !entry.is_readable() {
                found.push(Finding::Method(name.clone(), entry.method));
            }
            if leads_out(name) {
                found.push(Finding::Outside(name.clone()));
            }
        }
        Ok(found)
    }

    /// What signs the archive, if anything does.
    pub(crate) fn signature(&self, source: &dyn ReadAt) -> Result<Option<Vec<u8>>, Error> {
        if let Some(entry) = self.entries.iter().find(|entry| is_signature(entry)) {
            return Ok(Some(entry.name.clone()));
        }
        let len = APK_SIGNATURES.len();
        let start = self.end.directory.start.saturating_sub(len as u64);
        let before = up_to(source, start, len)?;
        Ok((before == APK_SIGNATURES).then_some(before))
    }
}

/// Signatures of jars: the JAR File Specification, "Signed JAR File"; of Mozilla's add-ons: COSE.
pub(crate) fn is_signature(entry: &Entry) -> bool {
    let upper = entry.name.to_ascii_uppercase();
    let Some(name) = upper.strip_prefix(b"META-INF/") else {
        return false;
    };
    let ends: [&[u8]; 6] = [
        b".SF",
        b".RSA",
        b".DSA",
        b".EC",
        b"COSE.SIG",
        b"COSE.MANIFEST",
    ];
    !name.contains(&b'/') && ends.iter().any(|end| name.ends_with(end))
}

fn leads_out(name: &[u8]) -> bool {
    name.starts_with(b"/") || name.split(|byte| *byte == b'/').any(|part| part == b"..")
}
