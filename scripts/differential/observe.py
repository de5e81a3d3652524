"""What an image holds, as the kernel and the original unsquashfs see it."""

import contextlib
import errno
import hashlib
import os
import re
import stat
import subprocess
from collections.abc import Iterator

# Figures that depend on how blocks are compressed and ordered, which is each tool's own affair.
OWN_AFFAIR = re.compile(
    r"^(Filesystem size|Number of fragments|Creation or last append|Found a valid|Parallel|"
    r"\t*[0-9.]+% of|Inode table|Directory table|Number of xattr ids)")

# What the kernel cannot read of an image.
UNREADABLE = "unreadable"


@contextlib.contextmanager
def mounted(image: str, at: str) -> Iterator[str]:
    """The image mounted read-only by the kernel, unmounted on every way out."""
    os.makedirs(at, exist_ok=True)
    subprocess.run(["mount", "-t", "squashfs", "-o", "ro,loop,nodev", image, at], check=True,
                   capture_output=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", at], check=True)


def tree(root: str) -> dict[bytes, tuple]:
    """For each path: type, mode, owner, size, time, device, links, target, xattrs, content.

    Names of one inode are told by the first of them.
    """
    top = os.fsencode(root)
    first_names: dict[tuple[int, int], bytes] = {}
    found = {}
    paths = [top]
    for directory, directories, files in os.walk(top):
        paths += [os.path.join(directory, name) for name in sorted(directories + files)]
    for path in sorted(paths):
        name = os.path.relpath(path, top)
        status = os.lstat(path)
        kind = stat.S_IFMT(status.st_mode)
        first = first_names.setdefault((status.st_dev, status.st_ino), name)
        size = status.st_size if kind in (stat.S_IFREG, stat.S_IFLNK) else None
        links = status.st_nlink if kind != stat.S_IFDIR else None
        found[name] = (
            ("type and mode", oct(status.st_mode)),
            ("owner", (status.st_uid, status.st_gid)),
            ("size", size),
            ("time", int(status.st_mtime)),
            ("device", status.st_rdev),
            ("links", links),
            ("is the same file as", first),
            ("target", os.readlink(path) if kind == stat.S_IFLNK else None),
            ("xattrs", xattrs(path)),
            ("content", digest(path) if kind == stat.S_IFREG else None),
        )
    return found


def xattrs(path: bytes) -> tuple | str:
    try:
        names = os.listxattr(path, follow_symlinks=False)
        values = [os.getxattr(path, name, follow_symlinks=False) for name in names]
    except OSError as error:
        # Of an image without xattrs the kernel says that it does not support them.
        return () if error.errno == errno.EOPNOTSUPP else UNREADABLE
    return tuple(sorted(zip(names, values)))


def is_damaged(found: dict[bytes, tuple]) -> bool:
    """Whether the kernel could not read all of an image."""
    return any(("xattrs", UNREADABLE) in properties for properties in found.values())


def digest(path: bytes) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()[:16]


def superblock(image: str, unsquashfs: str) -> list[str]:
    """The lines of `unsquashfs -s` that state what was asked for."""
    shown = subprocess.run([unsquashfs, "-s", image], capture_output=True, text=True, check=False)
    lines = (shown.stdout + shown.stderr).replace(image, "IMAGE").splitlines()
    return [line for line in lines if not OWN_AFFAIR.match(line)]


def tree_differences(ours: dict[bytes, tuple], theirs: dict[bytes, tuple]) -> list[str]:
    """A line for each path and property that is not the same, at most 20."""
    lines = []
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in ours or name not in theirs:
            lines.append(f"{name!r}: only in {'theirs' if name in theirs else 'ours'}")
            continue
        for (what, mine), (_, other) in zip(ours[name], theirs[name]):
            if mine != other:
                lines.append(f"{name!r}: {what}: ours {mine!r}, theirs {other!r}")
    return lines[:20]
