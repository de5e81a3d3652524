//! The archives of a source that a start reads, each in the order of the start.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Context as _;
use coldpress_archive::{Archive, Storing};
use coldpress_report::failure::sentence;
use coldpress_session::ui::Ui;
use coldpress_trace::{FileAccess, Trace};
use coldpress_writer::Source;
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::{Asked, Opened, Ordered};

/// Longer archives are left as they are: they are in memory for a moment.
pub(super) const ARCHIVE_BYTES_MAX: u64 = 1 << 30;

/// Orders the archives of a source that a start reads; returns the trace of the same start from it,
/// and what was done.
///
/// What is refused or damaged stays as it is, with a note.
///
/// * `directory`: of temporary files without names.
///
/// # Errors
///
/// If the source cannot be read, the directory not be written, or the user interrupts.
///
/// # Cost
///
/// Space for two copies of each archive, one while it is ordered.
pub fn order_in(
    source: &mut Source,
    mut trace: Trace,
    directory: &Path,
    ui: &Ui,
) -> anyhow::Result<(Trace, Vec<Ordered>)> {
    let mut all = Vec::new();
    for file in trace.working_set().files {
        let node = source.tree.find(&file.path);
        let node = node.filter(|_| Archive::is_likely(&file.path));
        let size_bytes = node.and_then(|node| source.tree.file_size(node));
        let Some((node, len)) = node.zip(size_bytes.filter(|size| *size <= ARCHIVE_BYTES_MAX))
        else {
            continue;
        };
        let mut old = nameless(directory)?;
        let bytes = source.beginning(node, usize::try_from(len).unwrap_or(usize::MAX))?;
        old.write_all(&bytes).context("cannot copy an archive")?;
        drop(bytes);
        let path = Path::new(OsStr::from_bytes(&file.path));
        let new = nameless(directory)?;
        match ordered(path, old, &new, (&file, &trace), ui) {
            Ok(Some(ordered)) => {
                trace = ordered.placement.carry(&trace, &file.path);
                source.replace(node, path.to_owned(), new)?;
                ui.say(&ordered.sentence());
                ordered.prediction().iter().for_each(|text| ui.say(text));
                all.push(ordered);
            }
            Ok(None) => {}
            Err(error) if ui.interrupt.is_pending() => return Err(error),
            Err(error) => ui.note(&format!("left as it is: {}", sentence(&error))),
        }
    }
    Ok((trace, all))
}

/// Orders one archive; `None` if it is none after all, or only its index is read.
fn ordered(
    path: &Path,
    old: File,
    new: &File,
    (file, trace): (&FileAccess, &Trace),
    ui: &Ui,
) -> anyhow::Result<Option<Ordered>> {
    let Some(opened) = Opened::if_archive(path, old)? else {
        return Ok(None);
    };
    let hot = opened.archive.used_by_pages(file);
    if hot.is_empty() {
        return Ok(None);
    }
    let asked = Asked {
        layout: None,
        // Decompressed ones were measured to cost reads, and to spare no bytes.
        storing: Storing::Nothing,
        align_bytes: 0,
        takes_signed: false,
    };
    let mut ordered = Ordered::write(&opened, &hot, asked, new, ui)?;
    Ordered::verify(&opened, new)?;
    ordered.predict(&opened, new, Some((trace, &file.path)), &hot)?;
    Ok(Some(ordered))
}

/// A file that is gone when it is closed.
fn nameless(directory: &Path) -> anyhow::Result<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(CWD, directory, flags, Mode::RUSR | Mode::WUSR);
    Ok(File::from(file.context("cannot create a temporary file")?))
}
