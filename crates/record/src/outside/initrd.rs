//! A rule for the first root file system of a guest: read nothing ahead.
//!
//! All kinds of initrd with udev read its rules from `/etc`: those of initramfs-tools (live-boot,
//! casper), dracut and mkinitcpio. A device that is set keeps its value when the root changes.

use crate::cpio::Archive;

const RULE: &str = "etc/udev/rules.d/99-coldpress-record.rules";
/// Disks when they appear, and loop devices before they get their file: they exist from when their
/// module is loaded.
const TEXT: &[u8] = b"ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{DEVTYPE}==\"disk\", \
ATTR{queue/read_ahead_kb}=\"0\"\n";

/// An initrd that turns readahead off and then is `initrd`.
pub fn without_readahead(initrd: &[u8]) -> Vec<u8> {
    let mut archive = Archive::default();
    archive.file(RULE, 0o644, TEXT);
    let mut bytes = archive.finish();
    bytes.extend_from_slice(initrd);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_initrd_begins_where_the_kernel_finds_it() {
        let made = without_readahead(b"\x1f\x8b rest");
        assert_eq!((made.len() - 7) % 512, 0);
        assert!(made.starts_with(b"070701") && made.ends_with(b"\x1f\x8b rest"));
        let text = String::from_utf8_lossy(&made);
        assert!(text.contains(RULE) && text.contains("read_ahead_kb}=\"0\""));
        assert!(text.contains("etc/udev\0"));
    }
}
