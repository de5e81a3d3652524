//! The files that a recorded start touches, where they lie now.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use coldpress_host::{Extents, Laid, seeks};
use coldpress_report::failure::{hint, sentence};
use coldpress_report::text::{plural, quoted};
use coldpress_session::ui::Ui;
use coldpress_trace::Trace;
use rustix::fs::{Mode, OFlags, ResolveFlags};

use super::report::{InStart, Report, Row};

/// A file that was touched and is there.
struct Touched {
    path: PathBuf,
    extents: Extents,
}

/// Looks at all of them; returns whether any could not be looked at.
///
/// # Errors
///
/// If a root is no directory, or none has any file of the trace.
pub fn look(trace: &Trace, roots: &[PathBuf], ui: &Ui) -> anyhow::Result<(Report, bool)> {
    let opened = roots.iter().map(|root| {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(root, flags, Mode::empty()).map_err(io::Error::from);
        let opened = opened.with_context(|| format!("cannot open {}", quoted(root)))?;
        Ok((root.as_path(), File::from(opened)))
    });
    let roots: Vec<(&Path, File)> = opened.collect::<anyhow::Result<_>>()?;
    let set = trace.working_set();
    let (mut touched, mut laid) = (Vec::new(), Vec::new());
    let mut is_wrong = false;
    for file in &set.files {
        let found = find(&roots, &file.path).transpose();
        let looked = found.map(|found| found.and_then(|(path, file)| lie(path, &file)));
        let looked = looked.transpose().unwrap_or_else(|error| {
            ui.error(&sentence(&error));
            is_wrong = true;
            None
        });
        let (one, place) = looked.unzip();
        touched.push(one);
        laid.push(place);
    }
    let missing = laid.iter().filter(|laid| laid.is_none()).count() as u64;
    if missing > 0 && missing == laid.len() as u64 && !is_wrong {
        let error = anyhow!("no file of the trace is below any --root");
        let advice = "paths of a trace begin at the root of the image that was recorded";
        return Err(hint(error, advice));
    }
    if missing > 0 {
        let files = plural(missing, "file", "files");
        ui.warn(&format!(
            "{files} of the trace could not be examined below any --root"
        ));
    }
    let seeks = seeks(&set, &laid);
    let places = places(&laid);
    let rows = touched.into_iter().enumerate().filter_map(|(index, one)| {
        let one = one?;
        let read = seeks.files.get(index).copied().unwrap_or_default();
        let start = InStart {
            access_rank: index as u64 + 1,
            disk_rank: places.get(index).copied().flatten(),
            seeks: read.count,
            read_bytes: read.read_bytes,
        };
        Some(Row::new(&one.path, &one.extents, Some(start)))
    });
    let report = Report::new(rows.collect()).with_start(&seeks, missing);
    Ok((report, is_wrong))
}

/// The file of a path of the trace in the first root that has it. Links are followed as from inside
/// the root, so that nothing outside is opened whatever the trace says; what is no regular file is
/// not opened either.
fn find(roots: &[(&Path, File)], path: &[u8]) -> anyhow::Result<Option<(PathBuf, File)>> {
    let relative = path.strip_prefix(b"/").unwrap_or(path);
    let relative = Path::new(OsStr::from_bytes(relative));
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    for (root, opened) in roots {
        let Ok(place) = rustix::fs::openat2(opened, relative, flags, Mode::empty(), resolve) else {
            continue;
        };
        let place = File::from(place);
        let path = root.join(relative);
        if place.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let file = File::open(format!("/proc/self/fd/{}", place.as_raw_fd()));
            let file = file.with_context(|| format!("cannot open {}", quoted(&path)))?;
            return Ok(Some((path, file)));
        }
    }
    Ok(None)
}

fn lie(path: PathBuf, file: &File) -> anyhow::Result<(Touched, Laid)> {
    let extents = Extents::of(file, &path)?;
    let laid = Laid::of(file, &path)?;
    Ok((Touched { path, extents }, laid))
}

/// For each file its place on the disk among the others, from 1.
fn places(laid: &[Option<Laid>]) -> Vec<Option<u64>> {
    let first = |laid: &Laid| Some((laid.device, laid.first_byte()?));
    let mut by_place: Vec<((u64, u64), usize)> = laid
        .iter()
        .enumerate()
        .filter_map(|(index, laid)| Some((first(laid.as_ref()?)?, index)))
        .collect();
    by_place.sort_unstable();
    let mut places = vec![None; laid.len()];
    for ((_, index), rank) in by_place.into_iter().zip(1..) {
        if let Some(place) = places.get_mut(index) {
            *place = Some(rank);
        }
    }
    places
}
