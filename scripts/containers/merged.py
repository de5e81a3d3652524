"""What the layers of an image are together, by the kernel's overlay and by umoci."""

import contextlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator

import images
from peers import run

PREFIX = b".wh."
OPAQUE = b".wh..wh..opq"
BOOKKEEPING = b".wh..wh."
# How GNU tar says that a hard link leads out of its layer.
NO_TARGET = re.compile(r"^tar: (.*): Cannot hard link to ", re.MULTILINE)
# What it cannot make of whiteouts below what the layer makes a file of, as umoci lists them. They
# mean nothing.
MEANINGLESS = re.compile(r"^tar: (.*/)?\.wh\.[^/]*: Cannot open: (Not a|No such file or) "
                         r"directory$\n?", re.MULTILINE)
LAST_WORD = "tar: Exiting with failure status due to previous errors"
DECOMPRESSORS = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd", b"\x50\x2a": "zstd"}


class Unpacked:
    """The layers of a layout, each unpacked by GNU tar with its whiteouts made an overlay's."""

    def __init__(self, layout: pathlib.Path, directory: pathlib.Path) -> None:
        self.directory = directory
        # By layer, from the lowest: what the archive has an entry for.
        self.described: list[set[bytes]] = []
        # What tar could not make.
        self.lost: set[bytes] = set()
        shutil.rmtree(directory, ignore_errors=True)
        manifest, _ = images.documents(layout)
        for number, layer in enumerate(manifest["layers"]):
            at = directory / str(number)
            at.mkdir(parents=True)
            self.unpack(images.blob_path(layout, layer["digest"]), at)
            convert(os.fsencode(at))

    def unpack(self, blob: pathlib.Path, at: pathlib.Path) -> None:
        with open(blob, "rb") as file:
            tool = DECOMPRESSORS.get(file.read(2), "cat")
        words = ["tar", "--numeric-owner", "--quoting-style=literal"]
        with subprocess.Popen([tool, *(["-dc"] if tool != "cat" else []), blob],
                              stdout=subprocess.PIPE) as plain:
            listed = subprocess.run([*words, "-tf", "-"], stdin=plain.stdout, capture_output=True,
                                    check=True)
        names = listed.stdout.split(b"\n")[:-1]
        self.described.append({os.path.normpath(name.lstrip(b"/") or b".") for name in names})
        with subprocess.Popen([tool, *(["-dc"] if tool != "cat" else []), blob],
                              stdout=subprocess.PIPE) as plain:
            done = subprocess.run([*words, "--xattrs", "--xattrs-include=*", "-xpf", "-",
                                   "-C", at], stdin=plain.stdout, capture_output=True, text=True,
                                  errors="surrogateescape")
        said = MEANINGLESS.sub("", done.stderr).splitlines()
        said = [line for line in said if not NO_TARGET.match(line) and line != LAST_WORD]
        if done.returncode != 0 and said:
            raise SystemExit("\n".join(said[-20:]))
        self.lost |= {os.fsencode(name) for name in NO_TARGET.findall(done.stderr)}

    @contextlib.contextmanager
    def mounted(self) -> Iterator[str]:
        """All of them as an overlay."""
        at, nothing = self.directory / "merged", self.directory / "nothing"
        at.mkdir()
        # An overlay has two layers at least.
        nothing.mkdir()
        layers = [str(self.directory / str(number)) for number in range(len(self.described))]
        lower = ":".join([*reversed(layers), str(nothing)])
        run("mount", "-t", "overlay", "overlay", "-o", f"ro,lowerdir={lower}", at)
        try:
            yield str(at)
        finally:
            run("umount", at)


def convert(top: bytes) -> None:
    """Makes of whiteouts in a tree what an overlay takes for them."""
    for directory, _, files in os.walk(top):
        marks = [name for name in files if name.startswith(PREFIX)]
        if not marks:
            continue
        status = os.stat(directory)
        for name in marks:
            os.unlink(os.path.join(directory, name))
            if name == OPAQUE:
                os.setxattr(directory, "trusted.overlay.opaque", b"y")
            elif not name.startswith(BOOKKEEPING):
                hide(os.path.join(directory, name[len(PREFIX):]))
        os.utime(directory, ns=(status.st_atime_ns, status.st_mtime_ns))


def hide(path: bytes) -> None:
    """Hides what lower layers have by a name, but not what the layer itself has."""
    try:
        os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))
    except FileExistsError:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            os.setxattr(path, "trusted.overlay.opaque", b"y")


def umoci(layout: pathlib.Path, directory: pathlib.Path) -> str:
    """The root that `umoci unpack` makes."""
    shutil.rmtree(directory, ignore_errors=True)
    run("umoci", "unpack", "--image", f"{layout}:app", directory)
    return str(directory / "rootfs")
