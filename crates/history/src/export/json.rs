//! Whole studies as JSON, to be read again.

use std::io::Write;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::study::{Measured, Study};

/// Raised when a reader of the older form would misunderstand a newer one; a new field is no
/// reason.
const VERSION: u64 = 1;

#[derive(Serialize)]
struct Written<'a> {
    coldpress_history: u64,
    studies: &'a [&'a Study],
}

#[derive(Deserialize)]
struct Versioned {
    coldpress_history: u64,
}

#[derive(Deserialize)]
struct Read {
    studies: Vec<Study>,
}

/// Writes studies with all that is known of them.
///
/// # Errors
///
/// [`Error::Write`].
pub fn write_json(studies: &[&Study], out: &mut impl Write) -> Result<(), Error> {
    let written = Written {
        coldpress_history: VERSION,
        studies,
    };
    serde_json::to_writer_pretty(&mut *out, &written).map_err(std::io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

/// Reads what [`write_json`] wrote, what a verb that measures printed with `--json`, or a bare
/// study. Any bytes give studies or an error.
///
/// # Errors
///
/// [`Error::NoExport`], [`Error::OtherVersion`], [`Error::NoSuchContestant`].
pub(crate) fn read_json(bytes: &[u8]) -> Result<Vec<Study>, Error> {
    let measured = serde_json::from_slice::<Measured<Study, IgnoredAny>>(bytes);
    let one = measured.map(|measured| measured.study);
    let studies = match one.or_else(|_| serde_json::from_slice::<Study>(bytes)) {
        Ok(study) => vec![study],
        Err(_) => exported(bytes)?,
    };
    for study in &studies {
        let count = study.contestants.len();
        if let Some(run) = study.runs.iter().find(|run| run.contestant >= count) {
            return Err(Error::NoSuchContestant {
                title: study.title.clone(),
                contestant: run.contestant,
                count,
            });
        }
    }
    Ok(studies)
}

fn exported(bytes: &[u8]) -> Result<Vec<Study>, Error> {
    let found = serde_json::from_slice::<Versioned>(bytes)?.coldpress_history;
    if found != VERSION {
        return Err(Error::OtherVersion {
            found,
            known: VERSION,
        });
    }
    Ok(serde_json::from_slice::<Read>(bytes)?.studies)
}
