//! Why a file cannot be replaced by a better copy, for people.

use std::io::ErrorKind;

use anyhow::anyhow;
use coldpress_host::{Error, Refusal};
use coldpress_report::failure::hint;
use coldpress_report::text::quoted;

/// Names as this program writes them, and what to do.
#[must_use]
pub fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::Refused { path, why } => {
            let error = anyhow!("{} is left as it was: {why}", quoted(&path));
            match why {
                Refusal::OtherNames { .. } => {
                    hint(error, "`--links-in DIR` searches them below DIR")
                }
                Refusal::Shared => hint(error, "`--unshare` rewrites it nevertheless"),
                _ => error,
            }
        }
        Error::Io { ref source, .. } if source.kind() == ErrorKind::StorageFull => {
            hint(error, "a copy needs as much free space as the file takes")
        }
        error => error.into(),
    }
}
