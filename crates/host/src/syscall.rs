//! The system calls that no safe wrapper offers; all `unsafe` of the crate.

#![expect(
    unsafe_code,
    reason = "loop and file ioctls, leases, cachestat, wait4, mapped files, unshare, seccomp, the \
    memory of another \
              process and work between fork and exec have no safe wrapper"
)]

mod loop_device;
mod seccomp;

pub(crate) use loop_device::{
    LO_FLAGS_AUTOCLEAR, LO_FLAGS_DIRECT_IO, LO_FLAGS_READ_ONLY, loop_configure, loop_detach,
    loop_find_free, loop_flags,
};
pub(crate) use seccomp::{
    Instruction, ToldCall, let_go, listen, next_call, read_memory, take_turns,
};

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::ptr;

use rustix::io::Errno;
use rustix::ioctl::{Opcode, opcode};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::Stopwatch;
use crate::launch::Step;

/// `cachestat(2)` has this number on every architecture (Linux 6.5).
const SYS_CACHESTAT: libc::c_long = 451;

/// `struct cachestat_range` and `struct cachestat`.
#[repr(C)]
struct CacheRange {
    offset: u64,
    len: u64,
}

#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

// <linux/fs.h>
const FS_IOC_FIEMAP: Opcode = opcode::read_write::<FiemapHead>(b'f', 11);
const FS_IOC_FSGETXATTR: Opcode = opcode::read::<FsXattr>(b'X', 31);
const FS_IOC_FSSETXATTR: Opcode = opcode::write::<FsXattr>(b'X', 32);

/// The number of an ioctl as the C library takes it: a `long` of glibc, an `int` of musl.
#[allow(
    clippy::cast_lossless,
    clippy::cast_possible_wrap,
    reason = "each library has another one"
)]
const fn request(opcode: Opcode) -> libc::Ioctl {
    opcode as libc::Ioctl
}

/// Extents that the kernel tells at a time: 28 KiB of them.
const MAPPED_MAX: usize = 512;

/// `struct fiemap` without its extents.
#[repr(C)]
struct FiemapHead {
    start: u64,
    length: u64,
    flags: u32,
    mapped_count: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct MappedExtent {
    pub(crate) logical: u64,
    pub(crate) physical: u64,
    pub(crate) length: u64,
    reserved_long: [u64; 2],
    pub(crate) flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Fiemap {
    head: FiemapHead,
    extents: [MappedExtent; MAPPED_MAX],
}

/// `struct fsxattr`.
#[repr(C)]
struct FsXattr {
    flags: u32,
    extent_size: u32,
    extent_count: u32,
    project: u32,
    copy_on_write_extent_size: u32,
    padding: [u8; 8],
}

const _: () = {
    assert!(size_of::<FiemapHead>() == 32);
    assert!(size_of::<MappedExtent>() == 56);
    assert!(size_of::<Fiemap>() == 32 + 56 * MAPPED_MAX);
    assert!(size_of::<FsXattr>() == 28);
};

/// `fcntl(2)` command of <asm-generic/fcntl.h>.
const F_SETSIG: libc::c_int = 10;

fn check(answer: libc::c_int) -> io::Result<u32> {
    u32::try_from(answer).map_err(|_| io::Error::last_os_error())
}

/// Pages in the page cache, from the first to the last there is.
pub(crate) fn cachestat(file: BorrowedFd<'_>) -> io::Result<u64> {
    // A length of 0 is "to the end", which includes pages past the end of the file.
    let range = CacheRange { offset: 0, len: 0 };
    let mut stat = CacheStat::default();
    // SAFETY: the kernel reads one range and writes one stat, both laid out as in <linux/mman.h>.
    let answer = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut stat,
            0u32,
        )
    };
    if answer == 0 {
        Ok(stat.cached)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The first extents of a file that lie at byte `start` or behind it, at most [`MAPPED_MAX`].
pub(crate) fn fiemap(
    file: BorrowedFd<'_>,
    start: u64,
    flags: u32,
) -> io::Result<Vec<MappedExtent>> {
    // SAFETY: integers and arrays of integers may all be zero.
    let mut map: Box<Fiemap> = unsafe { Box::new_zeroed().assume_init() };
    map.head.start = start;
    map.head.length = u64::MAX - start;
    map.head.flags = flags;
    map.head.extent_count = u32::try_from(MAPPED_MAX).map_err(io::Error::other)?;
    // SAFETY: the kernel reads the head and writes at most `extent_count` extents behind it.
    check(unsafe { libc::ioctl(file.as_raw_fd(), request(FS_IOC_FIEMAP), &raw mut *map) })?;
    let mapped = usize::try_from(map.head.mapped_count).map_err(io::Error::other)?;
    Ok(map.extents.get(..mapped).unwrap_or_default().to_vec())
}

fn inode_attributes(file: BorrowedFd<'_>) -> io::Result<FsXattr> {
    // SAFETY: integers and arrays of integers may all be zero.
    let mut attributes: FsXattr = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes one `fsxattr`, whose size is checked above.
    check(unsafe {
        libc::ioctl(
            file.as_raw_fd(),
            request(FS_IOC_FSGETXATTR),
            &raw mut attributes,
        )
    })?;
    Ok(attributes)
}

/// The project that a file's space is counted for.
pub(crate) fn project(file: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(inode_attributes(file)?.project)
}

/// Counts a file's space for another project.
pub(crate) fn set_project(file: BorrowedFd<'_>, project: u32) -> io::Result<()> {
    let attributes = FsXattr {
        project,
        ..inode_attributes(file)?
    };
    // SAFETY: the kernel reads one `fsxattr`, whose size is checked above.
    check(unsafe {
        libc::ioctl(
            file.as_raw_fd(),
            request(FS_IOC_FSSETXATTR),
            &raw const attributes,
        )
    })?;
    Ok(())
}

/// Takes a write lease, which the kernel gives only if nobody else has the file open or mapped.
///
/// Whoever opens it later waits until the lease is given up, for `/proc/sys/fs/lease-break-time` at
/// most. The kernel tells it by a signal, by default SIGIO, which would end the process; SIGURG is
/// ignored unless somebody listens.
pub(crate) fn take_write_lease(file: BorrowedFd<'_>) -> Result<(), Errno> {
    let check = |answer: libc::c_int| match answer {
        -1 => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
        _ => Ok(()),
    };

    // SAFETY: the commands take integers.
    check(unsafe { libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG) })?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) })
}

/// Whether a write lease that was taken still holds: nobody waits to open the file.
pub(crate) fn has_write_lease(file: BorrowedFd<'_>) -> bool {
    // SAFETY: the command takes no argument.
    let kind = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLEASE) };
    kind == libc::F_WRLCK
}

/// How a child ended: exit code or signal, its user and system time, and the most memory it had.
pub(crate) struct Reaped {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) cpu_ns: u64,
    pub(crate) peak_memory_bytes: u64,
}

/// Waits for a child that has not been waited for.
pub(crate) fn reap(pid: u32) -> io::Result<Reaped> {
    let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: integers may all be zero.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    loop {
        // SAFETY: the kernel writes one status and one rusage.
        let answer = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if answer == pid {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let time_ns = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let micros = u64::try_from(time.tv_usec).unwrap_or(0);
        seconds * 1_000_000_000 + micros * 1_000
    };
    Ok(Reaped {
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        cpu_ns: time_ns(usage.ru_utime) + time_ns(usage.ru_stime),
        // In KiB on Linux.
        peak_memory_bytes: u64::try_from(usage.ru_maxrss)
            .unwrap_or(0)
            .saturating_mul(1024),
    })
}

/// What the first touch of all pages of a file took.
pub(crate) struct Touched {
    pub(crate) pages: u64,
    /// Faults that needed no reading.
    pub(crate) faults: u64,
    /// On a processor.
    pub(crate) time_s: f64,
}

/// Maps a file that is at least `len` bytes long and that nobody else can make shorter, and reads a
/// byte of each of its pages.
pub(crate) fn touch_pages(file: &File, len: usize) -> io::Result<Touched> {
    let page_bytes = rustix::param::page_size();
    // SAFETY: the kernel chooses where; nothing of this process is there.
    let start = unsafe {
        libc::mmap(
            ptr::null_mut(),
            len,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let before = minor_faults();
    let watch = Stopwatch::start();
    let places = (0..len).step_by(page_bytes);
    let pages = places.len() as u64;
    for place in places {
        // SAFETY: `place` is below `len`, all of which is mapped, readable and backed by the file.
        unsafe { start.cast::<u8>().add(place).read_volatile() };
    }
    let time_s = watch.elapsed().on_processor_s;
    let after = minor_faults();
    // SAFETY: it was mapped above with this length, and no reference into it is left.
    check(unsafe { libc::munmap(start, len) })?;
    Ok(Touched {
        pages,
        faults: after?.saturating_sub(before?),
        time_s,
    })
}

/// Faults of the calling thread so far that needed no reading.
fn minor_faults() -> io::Result<u64> {
    // SAFETY: integers may all be zero.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes one `rusage`.
    check(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) })?;
    u64::try_from(usage.ru_minflt).map_err(io::Error::other)
}

/// Gives the calling thread a mount namespace of its own.
pub(crate) fn unshare_mounts() -> io::Result<()> {
    // SAFETY: only unsharing the table of file descriptors is dangerous to other threads.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?)
}

/// Gives the calling thread a user namespace of its own. The process must have no other thread.
pub(crate) fn unshare_user() -> io::Result<()> {
    // SAFETY: only unsharing the table of file descriptors is dangerous to other threads.
    Ok(unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?)
}

/// Takes these steps in the child between fork and exec. The first that fails writes its index,
/// one byte, to `failed`, and `spawn` reports its error.
pub(crate) fn before_exec(command: &mut Command, steps: Vec<Step>, failed: Option<OwnedFd>) {
    let run = move || {
        for (index, step) in (0u8..).zip(&steps) {
            if let Err(errno) = step.take() {
                if let Some(failed) = &failed {
                    let _ = rustix::io::write(failed, &[index]);
                }
                return Err(errno.into());
            }
        }
        Ok(())
    };
    // SAFETY: other threads may hold locks at the fork, so the child must not allocate or lock.
    // `Step::take` only makes system calls on paths and descriptors that were prepared before.
    unsafe { command.pre_exec(run) };
}
