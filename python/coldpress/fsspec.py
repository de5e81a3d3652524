"""`squashfs://`, a read-only file system for fsspec.

    fsspec.open("squashfs://data/a.csv::file:///images/data.sqfs")
    fsspec.open("squashfs://data/a.csv::https://host/data.sqfs")

fsspec finds it by its entry point. If another package has registered `squashfs` too, fsspec takes
the first that it finds, and this module warns when it is the one; `coldpress://` always means this
module.
"""

from __future__ import annotations

import errno
import functools
import io
import os
import stat as stat_bits
import warnings
from importlib import metadata
from typing import Any, ClassVar, NoReturn

import fsspec
from fsspec.archive import AbstractArchiveFileSystem
from fsspec.implementations.local import LocalFileSystem

from coldpress._native import Entry
from coldpress.image import Image

__all__ = ["SquashfsFileSystem"]

_PIECE_BYTES = 256 << 10
_PIECES = 64


class RemoteFile:
    """An image on another file system of fsspec, read range by range.

    Small reads take pieces of 256 KiB, of which 16 MiB are kept: a request to a server costs as
    much as that. Several threads may read at once.
    """

    def __init__(self, fs: Any, path: str) -> None:
        self._fs = fs
        self._path = path
        self.size_bytes = int(fs.size(path))
        self._process = os.getpid()
        self._piece = functools.lru_cache(_PIECES)(self._fetched)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._fs, self._path))

    def _fetch(self, start: int, stop: int) -> bytes:
        if os.getpid() != self._process:
            # Connections and event loops are not shared by two processes.
            self._fs = type(self._fs)(*self._fs.storage_args, **self._fs.storage_options)
            self._process = os.getpid()
        return bytes(self._fs.cat_file(self._path, start, stop))

    def _fetched(self, number: int) -> bytes:
        start = number * _PIECE_BYTES
        return self._fetch(start, min(start + _PIECE_BYTES, self.size_bytes))

    def read_at(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from byte `start` on; none behind the end."""
        stop = min(start + length, self.size_bytes)
        if start >= stop:
            return b""
        if stop - start >= _PIECE_BYTES:
            return self._fetch(start, stop)
        number, offset = divmod(start, _PIECE_BYTES)
        return self._piece(number)[offset : offset + stop - start]


class SquashfsFileSystem(AbstractArchiveFileSystem):  # type: ignore[misc]
    """A SquashFS image as a read-only file system.

    Paths have no slash at their beginning, as in fsspec's other archives. Links are followed inside
    the image. `cat` and `cat_ranges` decompress each block once, with all processors.

    Args:
        fo: The image: a path or URL for fsspec, an open binary file, or a `coldpress.Image`.
        target_protocol: The protocol of `fo`, if its URL does not say.
        target_options: Arguments for the file system of `fo`.
        offset: Where in `fo` the image begins, as of `coldpress.Image`.

    Example:
        >>> import io, coldpress, fsspec
        >>> fs = fsspec.filesystem("coldpress", fo=io.BytesIO(coldpress.example_image()))
        >>> fs.ls("", detail=False)
        ['greeting']
        >>> fs.cat_file("greeting", -7, -1)
        b'world!'
    """

    root_marker = ""
    protocol: ClassVar[Any] = ("squashfs", "coldpress")
    cachable = False

    def __init__(
        self,
        fo: Any = "",
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        offset: Any = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(self, **kwargs)
        _warn_of_others()
        self.fo = fo
        if isinstance(fo, Image):
            self.image = fo
            return
        if isinstance(fo, str | os.PathLike):
            options = target_options or {}
            opened = fsspec.open(os.fspath(fo), "rb", protocol=target_protocol, **options)
            if isinstance(opened.fs, LocalFileSystem):
                fo = opened.path
            else:
                fo = RemoteFile(opened.fs, opened.path)
        self.image = Image(fo, offset=offset)

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return super()._strip_protocol(path).strip("/")

    def close(self) -> None:
        """Lets go of the image."""
        self.image.close()

    def _described(self, entry: Entry, name: str | None = None) -> dict[str, Any]:
        name = entry.path.strip("/") if name is None else name
        link: dict[str, Any] = {}
        if entry.is_symlink:
            link = {"islink": True, "destination": entry.target}
            try:
                entry = self.image.stat(entry.path_bytes)
            except FileNotFoundError:
                link["type"] = "link"
            if entry.is_dir:
                # Who walks does not follow it: it may lead to where the walk came from.
                link["type"] = "link"
        kinds = {"file": "file", "directory": "directory"}
        bits = {"file": stat_bits.S_IFREG, "directory": stat_bits.S_IFDIR}
        return {
            "name": name,
            "size": entry.size_bytes if entry.is_file else 0,
            "type": kinds.get(entry.kind, "other"),
            "mode": entry.mode | bits.get(entry.kind, 0),
            "uid": entry.uid,
            "gid": entry.gid,
            "mtime": entry.mtime_s,
            "ino": entry.inode,
            "nlink": entry.link_count,
            **link,
        }

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """What a path names: name, size in bytes, type, mode, owner, group, mtime in seconds."""
        name = self._strip_protocol(path)
        return self._described(self.image.stat(name, follow_symlinks=False), name)

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """What is in a directory, or a file itself."""
        name = self._strip_protocol(path)
        if self.image.stat(name).is_dir:
            above = name + "/" if name else ""
            found = [self._described(each, above + each.name) for each in self.image.listdir(name)]
        else:
            found = [self.info(name)]
        return found if detail else [each["name"] for each in found]

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Every file below a path; one walk over the tables of the image."""
        name = self._strip_protocol(path)
        if maxdepth is not None or not self.image.exists(name):
            return super().find(path, maxdepth=maxdepth, withdirs=withdirs, detail=detail, **kwargs)
        found = {}
        for entry in self.image.walk(name):
            if not entry.is_dir or (withdirs and entry.path.strip("/") != name):
                each = self._described(entry)
                if withdirs or each["type"] != "directory":
                    found[each["name"]] = each
        return found if detail else list(found)

    def isdir(self, path: str) -> bool:
        """Whether it is a directory, or a link to one."""
        name = self._strip_protocol(path)
        return self.image.exists(name) and self.image.stat(name).is_dir

    def modified(self, path: str) -> Any:
        """When a file was changed."""
        from datetime import datetime, timezone

        return datetime.fromtimestamp(self.info(path)["mtime"], tz=timezone.utc)

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> io.BufferedReader:
        if mode != "rb":
            self._refuse(path)
        return self.image.open(path, buffer_bytes=kwargs.get("block_size"))

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: Any = None,
        compression: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Opens a file for reading, in binary or as text."""
        if set(mode) - set("rbt"):
            self._refuse(path)
        return super().open(path, mode, block_size, cache_options, compression, **kwargs)

    def _range(self, path: str, start: int | None, end: int | None) -> tuple[str, int, int | None]:
        if (start or 0) < 0 or (end or 0) < 0:
            start, end, _ = slice(start, end).indices(self.image.stat(path).size_bytes)
        return path, start or 0, end

    def cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any
    ) -> bytes:
        """Bytes `start` to `end` of a file, counted as slices are."""
        return self.image.read(*self._range(self._strip_protocol(path), start, end))

    def cat_ranges(
        self,
        paths: list[str],
        starts: int | list[int | None] | None,
        ends: int | list[int | None] | None,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """Many ranges; each block is decompressed once. `max_gap` says nothing here."""
        if not isinstance(paths, list):
            raise TypeError("paths are a list")
        first = starts if isinstance(starts, list) else [starts] * len(paths)
        behind = ends if isinstance(ends, list) else [ends] * len(paths)
        if not len(paths) == len(first) == len(behind):
            raise ValueError("paths, starts and ends have different lengths")
        requests = []
        for path, start, end in zip(paths, first, behind, strict=True):
            name = self._strip_protocol(path)
            # What is not there is told in its place.
            exact = (name, start or 0, end)
            if (start or 0) < 0 or (end or 0) < 0:
                exact = self._range(name, start, end) if self.image.exists(name) else (name, 0, 0)
            requests.append(exact)
        if on_error == "return":
            return self.image.read_many(requests, errors="return")
        return self.image.read_many(requests)

    def cat(
        self, path: Any, recursive: bool = False, on_error: str = "raise", **kwargs: Any
    ) -> Any:
        """The content of one file, or of many as a dictionary."""
        paths = self.expand_path(path, recursive=recursive)
        single = len(paths) == 1 and not isinstance(path, list)
        if single and paths[0] == self._strip_protocol(path):
            return self.cat_file(paths[0], **kwargs)
        if kwargs:
            return super().cat(path, recursive=recursive, on_error=on_error, **kwargs)
        if recursive:
            paths = [each for each in paths if not self.isdir(each)]
        if on_error == "raise":
            return dict(zip(paths, self.image.read_many(paths), strict=True))
        read = zip(paths, self.image.read_many(paths, errors="return"), strict=True)
        return {
            name: data
            for name, data in read
            if on_error == "return" or not isinstance(data, Exception)
        }

    def _refuse(self, path: Any = "", *others: Any, **kwargs: Any) -> NoReturn:
        raise OSError(errno.EROFS, "a SquashFS image is read only", str(path))

    mkdir = makedirs = rmdir = rm = rm_file = _rm = cp_file = mv = touch = _refuse
    pipe_file = put_file = copy = pipe = put = _refuse


@functools.cache
def _other_providers() -> tuple[str, ...]:
    found = metadata.entry_points(group="fsspec.specs", name="squashfs")
    return tuple(each.value for each in found if not each.value.startswith(__name__))


def _warn_of_others() -> None:
    others = _other_providers()
    if others:
        warnings.warn(
            f"`squashfs://` is also provided by {', '.join(others)}, and fsspec takes the first "
            "that it finds; `coldpress://` names this one",
            stacklevel=3,
        )
