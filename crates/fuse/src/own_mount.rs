//! Reading one's own mount, so that the kernel keeps what it did not ask for.

use std::io;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::{Path, PathBuf};

use coldpress_mount::ReadAhead;
use rustix::fs::{Advice, CWD, Mode, OFlags, ResolveFlags, fadvise, openat2};

/// Lets the kernel read ranges of files below the directory on which it is mounted.
///
/// The kernel could be handed the bytes themselves (`FUSE_NOTIFY_STORE`), at half the cost, but
/// waits for pages that were asked for, whatever signal comes: a process that was killed then
/// stayed forever, in one of thirty trials with six readers. Advice is not waited for: it makes
/// requests in the background, which others answer. Nor is opening by a path, if only names count
/// that the kernel knows (`RESOLVE_CACHED`): any other would be a request that the one who opens
/// waits for.
pub(super) fn reader_ahead(mounted_on: PathBuf) -> ReadAhead {
    Box::new(move |path, range| read_ahead(&mounted_on, path, range))
}

fn read_ahead(mounted_on: &Path, path: &Path, range: Range<u64>) -> io::Result<()> {
    let path = path.strip_prefix("/").unwrap_or(path);
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = openat2(
        CWD,
        mounted_on.join(path),
        flags,
        Mode::empty(),
        ResolveFlags::CACHED | ResolveFlags::NO_MAGICLINKS,
    )?;
    // No length would mean all that follows.
    let Some(len) = NonZeroU64::new(range.end.saturating_sub(range.start)) else {
        return Ok(());
    };
    Ok(fadvise(&file, range.start, Some(len), Advice::WillNeed)?)
}
