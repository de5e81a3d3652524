//! What the program in an initrd does.

use std::fmt;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{ExtentList, Limits, Pace, Verdict};

/// The word of the kernel's command line that switches it off.
const OFF: &str = "coldpress.prefetch=0";

/// A list has some KiB; what is longer is damaged.
const LIST_BYTES_MAX: u64 = 4 << 20;

/// The largest read, after which it asks whether to go on.
const READ_BYTES: usize = 256 << 10;

/// What became of it, in the words of the kernel's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// Switched off: nothing was read.
    Off,
    /// So many bytes were read, and why not all, if not.
    Read {
        /// Bytes.
        bytes: u64,
        /// How long it took.
        took: Duration,
        /// Why it ended before all was read.
        given_up: Option<String>,
    },
    /// Nothing was read, for this reason.
    Refused(String),
}

impl fmt::Display for Done {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => write!(formatter, "switched off by {OFF}"),
            Self::Refused(why) => write!(formatter, "read nothing ahead: {why}"),
            Self::Read {
                bytes,
                took,
                given_up,
            } => {
                let (kib, ms) = (bytes >> 10, took.as_millis());
                write!(formatter, "read {kib} KiB ahead in {ms} ms")?;
                match given_up {
                    Some(why) => write!(formatter, ", then gave up: {why}"),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Reads what a list names of an image into the memory of the machine.
///
/// Whatever is wrong ends it: a boot needs nothing of this.
///
/// * `command_line`: of the kernel.
pub fn read_ahead(command_line: &str, list: &Path, image: &Path) -> Done {
    if command_line
        .split_ascii_whitespace()
        .any(|word| word == OFF)
    {
        return Done::Off;
    }
    match opened(list, image) {
        Ok((list, file)) => read(&list, &file),
        Err(why) => Done::Refused(why),
    }
}

fn opened(list: &Path, image: &Path) -> Result<(ExtentList, File), String> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error| format!("{path}: {error}")
    };
    let mut text = String::new();
    let file = File::open(list).map_err(failed(list))?;
    let read = file.take(LIST_BYTES_MAX).read_to_string(&mut text);
    read.map_err(failed(list))?;
    let parsed = ExtentList::parse(&text);
    let parsed = parsed.map_err(|refused| format!("{}: {refused}", list.display()))?;
    let about = fs::metadata(image).map_err(failed(image))?;
    // The kernel's SquashFS reads a disk past the memory that this would fill.
    if !about.is_file() {
        return Err(format!("{} is no file", image.display()));
    }
    let file = File::open(image).map_err(failed(image))?;
    if !parsed.is_of(&file).map_err(failed(image))? {
        return Err(format!("{} is not the image of the list", image.display()));
    }
    Ok((parsed, file))
}

fn read(list: &ExtentList, file: &File) -> Done {
    let ExtentList {
        limits, extents, ..
    } = list;
    let limits = Limits {
        bytes: limits.bytes.min(Limits::new(None, None, limits.time).bytes),
        ..*limits
    };
    let began = Instant::now();
    let mut pace = Pace::new(limits);
    let mut buffer = vec![0; READ_BYTES];
    let mut bytes = 0;
    let mut given_up = None;
    'all: for extent in extents {
        let mut start = extent.start;
        while start < extent.end {
            let len = usize::try_from(extent.end - start).unwrap_or(READ_BYTES);
            let room = buffer.get_mut(..len.min(READ_BYTES)).unwrap_or_default();
            let asked = Instant::now();
            let got = match file.read_at(room, start) {
                Ok(0) => break,
                Ok(got) => got as u64,
                // Whoever needs it meets the bad sector; a disk with one is left alone.
                Err(error) => {
                    given_up = Some(error.to_string());
                    break 'all;
                }
            };
            start += got;
            bytes += got;
            match pace.after(got, asked.elapsed(), began.elapsed()) {
                Verdict::Go => {}
                Verdict::Wait(pause) => sleep(pause),
                Verdict::GiveUp(why) => {
                    given_up = Some(why.to_string());
                    break 'all;
                }
            }
        }
    }
    Done::Read {
        bytes,
        took: began.elapsed(),
        given_up,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SUPERBLOCK_BYTES;

    fn done(command_line: &str, change: impl FnOnce(&mut ExtentList, &mut Vec<u8>)) -> Done {
        let directory = tempfile::tempdir().expect("a directory");
        let (list, image) = (
            directory.path().join("list"),
            directory.path().join("image"),
        );
        let mut bytes = vec![7; 1 << 20];
        let mut it = ExtentList {
            image_bytes: 1 << 20,
            superblock: [7; SUPERBLOCK_BYTES],
            limits: Limits {
                bytes: 1 << 20,
                bytes_per_s: None,
                time: Duration::from_mins(1),
            },
            extents: vec![0..600_000, 700_000..700_001],
        };
        change(&mut it, &mut bytes);
        fs::write(&list, it.text()).expect("a list");
        fs::write(&image, bytes).expect("an image");
        read_ahead(command_line, &list, &image)
    }

    #[test]
    fn the_list_is_read_unless_it_is_of_another_image_or_switched_off() {
        let read = done("quiet coldpress.prefetch=1", |_, _| {});
        assert!(
            matches!(
                read,
                Done::Read {
                    bytes: 600_001,
                    given_up: None,
                    ..
                }
            ),
            "{read}"
        );
        assert_eq!(done("quiet coldpress.prefetch=0", |_, _| {}), Done::Off);
        let other = done("", |_, bytes| bytes[5] = 8);
        assert!(matches!(other, Done::Refused(_)), "{other}");
        let short = done("", |_, bytes| bytes.truncate(1 << 19));
        assert!(matches!(short, Done::Refused(_)), "{short}");
        let limited = done("", |list, _| list.limits.bytes = 300_000);
        assert!(
            matches!(&limited, Done::Read { bytes, given_up: Some(_), .. } if *bytes < 600_000),
            "{limited}"
        );
    }

    #[test]
    fn what_is_not_there_is_a_reason_and_no_more() {
        let nowhere = Path::new("/no/such/file");
        assert!(matches!(read_ahead("", nowhere, nowhere), Done::Refused(_)));
    }
}
