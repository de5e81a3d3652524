//! System calls of other threads, told by the kernel.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::check;

/// One instruction of a filter: `struct sock_filter`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) if_true: u8,
    pub(crate) if_false: u8,
    pub(crate) value: u32,
}

/// `struct sock_fprog`.
#[repr(C)]
struct Program {
    len: u16,
    instructions: *const Instruction,
}

const _: () = {
    assert!(size_of::<Instruction>() == size_of::<libc::sock_filter>());
    assert!(size_of::<Program>() == size_of::<libc::sock_fprog>());
};

/// Has the system calls told that the filter picks, of the calling thread and of all that it
/// starts; returns where they are told. Only makes system calls.
pub(crate) fn listen(filter: &[Instruction]) -> io::Result<OwnedFd> {
    let program = Program {
        len: u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        instructions: filter.as_ptr(),
    };
    let install = |flags: libc::c_ulong| {
        // SAFETY: the kernel reads the program, which is alive; what it returns is checked.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program,
            )
        };
        check(libc::c_int::try_from(answer).unwrap_or(-1))
    };
    let listener = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Since Linux 5.19: a signal does not make the program tell a call twice.
    let patient = listener | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let mut answer = install(patient);
    if is_errno(&answer, libc::EACCES) {
        // Who is not root promises first never to become it.
        // SAFETY: takes and returns integers.
        check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
        answer = install(patient);
    }
    if is_errno(&answer, libc::EINVAL) {
        answer = install(listener);
    }
    let descriptor = libc::c_int::try_from(answer?).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the kernel has just made it for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn is_errno<T>(answer: &io::Result<T>, errno: libc::c_int) -> bool {
    answer
        .as_ref()
        .is_err_and(|error| error.raw_os_error() == Some(errno))
}

/// A system call that a thread waits to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToldCall {
    /// Names this call.
    pub(crate) id: u64,
    /// The thread, as this process numbers it.
    pub(crate) thread: u32,
    pub(crate) number: libc::c_int,
    pub(crate) args: [u64; 6],
}

/// Lets thread and listener take turns on one processor, since one waits for the other; before
/// Linux 6.6 they do not.
pub(crate) fn take_turns(listener: BorrowedFd<'_>) {
    /// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`.
    const SYNC_WAKE_UP: libc::c_ulong = 1;
    // SAFETY: the argument is a number. It is a favor: without it things take longer.
    let _ = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS,
            SYNC_WAKE_UP,
        )
    };
}

/// The next call that is told; waits for it. [`io::ErrorKind::NotFound`] if its thread was killed
/// meanwhile.
pub(crate) fn next_call(listener: BorrowedFd<'_>) -> io::Result<ToldCall> {
    // SAFETY: integers and arrays of integers may all be zero, as the kernel demands it.
    let mut told: libc::seccomp_notif = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes one `seccomp_notif`.
    check(unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_RECV,
            &raw mut told,
        )
    })?;
    Ok(ToldCall {
        id: told.id,
        thread: told.pid,
        number: told.data.nr,
        args: told.data.args,
    })
}

/// Lets a call happen as if it had not been told. [`io::ErrorKind::NotFound`] if its thread was
/// killed meanwhile.
pub(crate) fn let_go(listener: BorrowedFd<'_>, id: u64) -> io::Result<()> {
    // SAFETY: integers may all be zero.
    let mut response: libc::seccomp_notif_resp = unsafe { mem::zeroed() };
    response.id = id;
    response.flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1);
    // SAFETY: the kernel reads one `seccomp_notif_resp`.
    check(unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            &raw const response,
        )
    })?;
    Ok(())
}

/// Reads memory of another process into `buffer`; returns how much there was.
pub(crate) fn read_memory(thread: u32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let thread = libc::pid_t::try_from(thread).map_err(io::Error::other)?;
    let local = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(
            usize::try_from(address).map_err(io::Error::other)?,
        ),
        iov_len: buffer.len(),
    };
    // SAFETY: the kernel writes at most `buffer.len()` bytes to `buffer`, and only reads the memory
    // of the other process.
    let len =
        unsafe { libc::process_vm_readv(thread, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(len).map_err(|_| io::Error::last_os_error())
}
