//! A process of its own that lets the kernel read pages through a mount of this process.
//!
//! Who answers for a mount must not use it: killed at a bad moment, the thread that waits for an
//! answer keeps the connection open, and waits forever. The process that reads has no connection,
//! so that the mount ends with the one who answers, and with the mount the waiting.
//!
//! It has a mount namespace of its own, in which the mount is another: the files that it opens do
//! not keep the one that people see from being unmounted.

use std::env;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use coldpress_host::{MountRoot, enter_own_namespaces};
use rustix::fs::{Advice, AtFlags, CWD, StatxFlags, fadvise, statx};

/// This program, also when its file was replaced meanwhile.
pub const ITSELF: &str = "/proc/self/exe";
/// Names the directory in the environment of the process that reads.
const MARK: &str = "_COLDPRESS_READ_PAGES_IN";
/// The answer when everything up to a mark was asked for.
const DONE: u8 = b'd';
/// The kernel reads no more at a time on advice, unless an administrator allows it.
const PIECE_BYTES: u64 = 128 << 10;
/// Longest path that the kernel takes.
const PATH_BYTES_MAX: u32 = 4096;

/// The process that reads, as its parent sees it; it ends on drop.
#[derive(Debug)]
pub struct PageReader {
    root: PathBuf,
    /// What was mounted there at first.
    mounted: Option<u64>,
    child: Child,
    ranges: BufWriter<ChildStdin>,
    answers: ChildStdout,
}

impl PageReader {
    /// Starts it.
    ///
    /// * `root`: where the mount is.
    ///
    /// # Errors
    ///
    /// If it cannot be started.
    pub fn start(root: &Path) -> io::Result<Self> {
        let mut child = Command::new(ITSELF)
            .env(MARK, root)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (ranges, answers) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self {
            mounted: mount_id(root),
            root: root.to_owned(),
            child,
            ranges: BufWriter::new(ranges),
            answers,
        })
    }

    /// Lets the kernel read ranges of files, by their paths from the root of the mount; returns
    /// when it was asked for all. What is not there is passed over.
    ///
    /// # Errors
    ///
    /// If the process has ended, as it does where it may have no mount namespace, or the mount is
    /// gone from where it was: the process has one of its own, which would keep the file system in
    /// use.
    pub fn read(&mut self, ranges: &[(PathBuf, Range<u64>)]) -> io::Result<()> {
        if mount_id(&self.root) != self.mounted {
            return Err(io::ErrorKind::NotFound.into());
        }
        let out = &mut self.ranges;
        for (path, range) in ranges {
            let path = path.as_os_str().as_bytes();
            let len = u32::try_from(path.len()).map_err(io::Error::other)?;
            out.write_all(&len.to_le_bytes())?;
            out.write_all(path)?;
            out.write_all(&range.start.to_le_bytes())?;
            out.write_all(&range.end.to_le_bytes())?;
        }
        out.write_all(&0_u32.to_le_bytes())?;
        out.flush()?;
        self.answers.read_exact(&mut [0])
    }
}

impl Drop for PageReader {
    fn drop(&mut self) {
        // What it was not told of yet it need not know.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What is mounted on a directory. The kernel answers it without asking who answers for the mount.
fn mount_id(root: &Path) -> Option<u64> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::SYMLINK_NOFOLLOW;
    let found = statx(CWD, root, flags, StatxFlags::MNT_ID).ok()?;
    Some(found.stx_mnt_id)
}

/// Does the work if this process was started for it; to be asked before any thread is started.
pub fn run_if_asked() -> Option<ExitCode> {
    let root = PathBuf::from(env::var_os(MARK)?);
    Some(match work(&root) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn work(root: &Path) -> io::Result<()> {
    enter_own_namespaces().map_err(io::Error::other)?;
    let root = MountRoot::open(root)?;
    let mut input = BufReader::new(io::stdin().lock());
    let mut open: Option<(Vec<u8>, Option<File>)> = None;
    while let Some(len) = next_len(&mut input)? {
        if len == 0 {
            open = None;
            let mut out = io::stdout().lock();
            out.write_all(&[DONE])?;
            out.flush()?;
            continue;
        }
        let mut path = vec![0; usize::try_from(len.min(PATH_BYTES_MAX)).unwrap_or(0)];
        input.read_exact(&mut path)?;
        let [start, end] = [number(&mut input)?, number(&mut input)?];
        if open.as_ref().is_none_or(|(opened, _)| *opened != path) {
            let file = root.open_file(&path).ok();
            open = Some((path, file));
        }
        if let Some((_, Some(file))) = &open {
            ask(file, start..end);
        }
    }
    Ok(())
}

/// Lets the kernel read; what it does not want to read it does not.
fn ask(file: &File, range: Range<u64>) {
    let mut start = range.start;
    while let Some(len) = NonZeroU64::new(range.end.saturating_sub(start).min(PIECE_BYTES)) {
        if fadvise(file, start, Some(len), Advice::WillNeed).is_err() {
            return;
        }
        start = start.saturating_add(len.get());
    }
}

/// The length of the next path; `None` at the end.
fn next_len(input: &mut impl Read) -> io::Result<Option<u32>> {
    let mut bytes = [0; 4];
    match input.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(u32::from_le_bytes(bytes))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn number(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
