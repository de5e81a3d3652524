//! What may stand behind `-o`: options of squashfuse and of libfuse, each with its treatment.

use std::fmt;

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// It means what it means to the programs.
    Supported,
    /// It is accepted, and there is nothing to do for it.
    NoEffect,
    /// It is refused by name.
    Refused,
}

impl fmt::Display for Treatment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Supported => "supported",
            Self::NoEffect => "no effect",
            Self::Refused => "refused",
        })
    }
}

/// Its names, with `=` if a value follows; what becomes of it; what it does, or why not.
pub(super) type Row = (&'static str, Treatment, &'static str);

use Treatment::{NoEffect, Refused, Supported};

/// Facts: manual pages of squashfuse 0.6.2, and help and manual page of libfuse 3.16.
const ROWS: &[Row] = &[
    (
        "offset=",
        Supported,
        "byte at which the image begins; `auto` looks for it, as in an AppImage or a SIF container",
    ),
    (
        "subdir=",
        Supported,
        "directory of the image that becomes the root",
    ),
    (
        "timeout=",
        Supported,
        "idle seconds until it is unmounted; 0 is never",
    ),
    (
        "uid=|gid=",
        Supported,
        "whom everything belongs to; 0 leaves the owners of the image",
    ),
    (
        "notify_pipe=",
        Supported,
        "named pipe that gets `s` when the image is mounted, `f` if it cannot be",
    ),
    (
        "notify_fd=",
        Supported,
        "the same for a pipe that is open as this descriptor",
    ),
    (
        "allow_other",
        Supported,
        "others may use it; owners and modes count",
    ),
    ("default_permissions", Supported, "owners and modes count"),
    (
        "debug",
        Supported,
        "stays in the foreground; requests are not printed",
    ),
    ("ro|nodev|nosuid", Supported, "always so"),
    (
        "rw|async|sync|dirsync|atime|noatime",
        NoEffect,
        "nothing is written",
    ),
    (
        "hard_remove|big_writes|max_write=",
        NoEffect,
        "nothing is written",
    ),
    (
        "exec|async_read|kernel_cache|noauto_cache",
        NoEffect,
        "always so",
    ),
    (
        "auto_cache|remember=|noforget",
        NoEffect,
        "an image does not change",
    ),
    (
        "entry_timeout=|negative_timeout=",
        NoEffect,
        "the kernel keeps names: an image does not change",
    ),
    (
        "attr_timeout=|ac_attr_timeout=",
        NoEffect,
        "the kernel keeps metadata: an image does not change",
    ),
    (
        "use_ino|readdir_ino",
        NoEffect,
        "inode numbers are those of the image",
    ),
    ("fsname=", NoEffect, "the table of mounts names the image"),
    ("subtype=", NoEffect, "the type is `fuse.coldpress`"),
    ("nonempty", NoEffect, "any directory may be mounted on"),
    (
        "auto_unmount",
        NoEffect,
        "a process that ends unmounts; of one that was killed, `fusermount3 -u` does",
    ),
    (
        "clone_fd",
        NoEffect,
        "each thread has a queue of its own where that is possible",
    ),
    (
        "max_threads=|max_idle_threads=",
        NoEffect,
        "as many threads as processors; `-s` is one",
    ),
    (
        "intr|nointr|sync_read",
        NoEffect,
        "requests are short, and answered in parallel",
    ),
    (
        "max_read=|max_readahead=|max_background=|congestion_threshold=",
        NoEffect,
        "agreed with the kernel",
    ),
    (
        "splice_read|splice_write|splice_move",
        NoEffect,
        "agreed with the kernel",
    ),
    (
        "no_splice_read|no_splice_write|no_splice_move",
        NoEffect,
        "agreed with the kernel",
    ),
    (
        "allow_root",
        Refused,
        "libfuse lets all in and turns all but root away; use `allow_other`",
    ),
    (
        "dev|suid|blkdev",
        Refused,
        "devices and set-user-ID programs of an image never work in user space",
    ),
    (
        "noexec",
        Refused,
        "programs can be run; afterwards, `mount -o remount,bind,noexec` forbids it",
    ),
    ("umask=", Refused, "modes are those of the image"),
    (
        "modules=",
        Refused,
        "the modules of libfuse do not exist here",
    ),
];

/// The row of an option, and by which of its names it was found.
pub(super) fn find(option: &[u8]) -> Option<(&'static str, &'static Row)> {
    let rows = ROWS.iter();
    let mut names = rows.flat_map(|row| row.0.split('|').map(move |name| (name, row)));
    names.find(|(name, _)| {
        if name.ends_with('=') {
            option.starts_with(name.as_bytes())
        } else {
            option == name.as_bytes()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_lists_every_option_once_with_its_treatment() {
        let document = include_str!("../../../../docs/squashfuse.md");
        let mut lines = document.lines().filter(|line| line.starts_with("| `"));
        for (names, treatment, remark) in ROWS {
            let names = names.replace('|', "`, `");
            let line = format!("| `{names}` | {treatment} | {remark} |");
            assert_eq!(lines.next(), Some(line.as_str()));
        }
        assert_eq!(lines.next(), None);
    }
}
