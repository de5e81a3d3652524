"""Differences that the documents explain, each with the sentence that explains it."""

import re

# (pattern of a difference, what the commands must hold for it to count, document and reason)
EXPLAINED: list[tuple[str, str, str]] = [
    (r"^b'(\.|old(/old)*)': time: ", r"mksquashfs|sqfstar",
     "docs/mksquashfs.md: a root that no source has gets the newest time, not the clock's"),
    (r": time: ours \d+, theirs \d+$", r"-repro-time",
     "docs/mksquashfs.md: -repro-time sets all times, as the manual says; 4.7 lowers later ones"),
    (r": time: ours \d+, theirs \d+$", r" -p /",
     "docs/mksquashfs.md: what a definition without a time makes gets the newest time"),
    (r"^exit status: ours 0 .*(Tar header checksum|tar pathname|tar ?file|pax header)",
     r"sqfstar|-tar", "docs/mksquashfs.md: streams that 4.7 refuses, such as bsdtar's, are read"),
    (r": xattrs: .*user\.sp ace", r"sqfstar|-tar",
     "docs/mksquashfs.md: names of xattrs that bsdtar escapes are unescaped"),
    (r"^superblock: only (ours|theirs): \tDictionary size (4096|8192)", r"-comp xz",
     "docs/mksquashfs.md: xz with blocks of 4K has a dictionary of 8K"),
    (r"^superblock: only (ours|theirs): Number of ids", r"(?s)mksquashfs.*\nmksquashfs",
     "docs/mksquashfs.md: an appended image's id table holds what the tree needs"),
    (r"standard output: .*(259,300|4355, 44|4095,1048575| -1,255)", r"unsquashfs",
     "docs/unsquashfs.md: minor numbers over 255 are printed as they are"),
    (r"", r"unsquashfs .* \.$",
     "docs/unsquashfs.md: `.` is the root; 4.7 passes it over beside other paths"),
    (r"(\d+ inodes|created \d+|only ours|only in ours|links: |is the same file as)",
     r"unsquashfs .*-(follow|match).*in\.img .* ",
     "docs/unsquashfs.md: `.` is the root, also where a link that is followed leads there"),
    (r"", r"unsquashfs .*in\.img .*\.\./a",
     "docs/unsquashfs.md: `..` above the root leads nowhere; in 4.7 it stands for everything"),
    (r"(created \d+ symlink|inodes \(|only in ours|only ours: )", r"unsquashfs.* \*/a",
     "docs/unsquashfs.md: a link on the way to a path is followed and taken"),
    (r"(created \d+ director|only in theirs|only theirs: )", r"unsquashfs.* \*/a",
     "docs/unsquashfs.md: 4.7 creates empty directories on the way of a pattern"),
]


def reason(difference: str, commands: list[list[str]]) -> str | None:
    """Why a difference is meant, or nothing."""
    words = "\n".join(" ".join(command) for command in commands)
    for pattern, needed, why in EXPLAINED:
        if re.search(pattern, difference) and re.search(needed, words):
            return why
    return None
