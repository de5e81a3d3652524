//! Loop devices.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::check;

// <linux/loop.h>
const LOOP_CLR_FD: libc::Ioctl = 0x4C01;
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
pub(crate) const LO_FLAGS_READ_ONLY: u32 = 1;
pub(crate) const LO_FLAGS_AUTOCLEAR: u32 = 4;
pub(crate) const LO_FLAGS_DIRECT_IO: u32 = 16;

/// `struct loop_info64`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

const _: () = {
    assert!(size_of::<LoopInfo>() == 232);
    assert!(size_of::<LoopConfig>() == 304);
};

/// Number of a loop device that nobody uses at the moment.
pub(crate) fn loop_find_free(control: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: the request takes no argument.
    check(unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) })
}

/// Puts a file behind a loop device, from a byte on. The block size is left to the kernel, which
/// takes the one that direct I/O on the file asks for.
pub(crate) fn loop_configure(
    loop_device: BorrowedFd<'_>,
    image: BorrowedFd<'_>,
    start_byte: u64,
    flags: u32,
) -> io::Result<()> {
    // SAFETY: integers and arrays of integers may all be zero.
    let mut config: LoopConfig = unsafe { mem::zeroed() };
    config.fd = u32::try_from(image.as_raw_fd()).map_err(io::Error::other)?;
    config.info.offset = start_byte;
    config.info.flags = flags;
    // SAFETY: the kernel reads one `loop_config`, whose size is checked above.
    check(unsafe { libc::ioctl(loop_device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) })?;
    Ok(())
}

/// The flags that a loop device has in fact.
pub(crate) fn loop_flags(loop_device: BorrowedFd<'_>) -> io::Result<u32> {
    // SAFETY: integers and arrays of integers may all be zero.
    let mut info: LoopInfo = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes one `loop_info64`, whose size is checked above.
    check(unsafe { libc::ioctl(loop_device.as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) })?;
    Ok(info.flags)
}

/// Detaches a loop device, at once or with its last user.
pub(crate) fn loop_detach(loop_device: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the request takes no argument.
    check(unsafe { libc::ioctl(loop_device.as_raw_fd(), LOOP_CLR_FD) })?;
    Ok(())
}
