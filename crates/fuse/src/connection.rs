//! What is agreed with the kernel when a mount begins.

use fuser::{InitFlags, KernelConfig};

/// What the kernel may read ahead; it takes the least of this and its own setting for FUSE, 128 KiB
/// unless the administrator has raised it.
const READ_AHEAD_MAX_BYTES: u32 = 1 << 20;
/// No page: the least number that can be said is less than one.
const NO_READ_AHEAD_BYTES: u32 = 1;
/// Requests that nobody waits for, such as read-ahead, at a time.
const BACKGROUND_MAX: u16 = 64;

/// Lookups in one directory at a time; targets of links kept.
const ALWAYS: InitFlags = InitFlags::FUSE_PARALLEL_DIROPS.union(InitFlags::FUSE_CACHE_SYMLINKS);
/// Metadata along with names, if the program asked for metadata of the names before.
const WITH_METADATA: InitFlags =
    InitFlags::FUSE_DO_READDIRPLUS.union(InitFlags::FUSE_READDIRPLUS_AUTO);
/// Opening and closing need no request: nothing belongs to an open file.
const OPENS: [InitFlags; 2] = [
    InitFlags::FUSE_NO_OPEN_SUPPORT,
    InitFlags::FUSE_NO_OPENDIR_SUPPORT,
];

/// What the kernel does by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Agreed {
    /// Files are opened without asking.
    pub(super) opens_files: bool,
    /// Directories are.
    pub(super) opens_directories: bool,
}

/// Asks the kernel for all that spares requests; for a recording, for what spares none.
pub(super) fn agree(kernel: &mut KernelConfig, for_recording: bool) -> Agreed {
    let mut wanted = ALWAYS;
    let mut read_ahead_bytes = NO_READ_AHEAD_BYTES;
    if !for_recording {
        wanted |= WITH_METADATA;
        read_ahead_bytes = READ_AHEAD_MAX_BYTES;
    }
    let offered = kernel.capabilities();
    let [opens_files, opens_directories] = OPENS.map(|flag| offered.contains(flag));
    wanted |= OPENS[0] | OPENS[1];
    // None of these calls fails: what is not offered is not asked for, and numbers are in bounds.
    let _ = kernel.add_capabilities(wanted & offered);
    let _ = kernel
        .set_max_readahead(read_ahead_bytes)
        .or_else(|most| kernel.set_max_readahead(most));
    let _ = kernel.set_max_background(BACKGROUND_MAX);
    Agreed {
        opens_files,
        opens_directories,
    }
}
