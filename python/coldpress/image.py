"""Reading a SquashFS image."""

from __future__ import annotations

import io
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Literal,
    Protocol,
    TypeAlias,
    overload,
    runtime_checkable,
)

from coldpress import _native
from coldpress._native import Entry
from coldpress.errors import ColdpressError, OpenError

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["Image", "ImageSource", "Path", "RangeSource", "Request"]

Path: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes]"
"""A path in an image. It is absolute; without a slash at its beginning, one is added."""

Request: TypeAlias = "Path | tuple[Path, int, int | None]"
"""A whole file, or a range of one: its path, the first byte, and the byte behind the last."""

ImageSource: TypeAlias = "Path | BinaryIO | RangeSource"
"""A path or URL; the bytes of an image begin with `hsqs`; an open binary file; or a source."""


@runtime_checkable
class RangeSource(Protocol):
    """What has the bytes of an image, for several threads at once.

    Attributes:
        size_bytes: How many bytes there are.
    """

    size_bytes: int

    def read_at(self, start: int, length: int) -> bytes:
        """Up to `length` bytes from byte `start` on; none behind the end."""


_BATCH_BYTES = 64 << 20

_open: weakref.WeakSet[Image] = weakref.WeakSet()


def _forked() -> None:
    # Locks of the parent's native image may be held by threads that the child does not have.
    for image in _open:
        image._forked()


os.register_at_fork(after_in_child=_forked)


def _image_path(path: Path) -> bytes:
    encoded = os.fsencode(path)
    return encoded if encoded.startswith(b"/") else b"/" + encoded


class Image:
    r"""A SquashFS 4.0 image, opened for reading.

    An image may be shared between threads, pickled, and used in both processes after a fork. The
    file must not change while it is open.

    Args:
        source: The path of a file or block device; an `http://` or `https://` URL; the bytes of an
            image; or an open binary file that can seek. Bytes are taken for the image itself if
            they begin with `hsqs`, else for a path.
        offset: The byte of the source at which the image begins. `"auto"` takes byte 0 if an image
            begins there, else finds the one inside an AppImage, a SIF container or a firmware.

    Raises:
        OpenError: The source cannot be opened.
        NotAnImageError: No SquashFS 4.0 image is there.
        DamagedError: The tables that are read first are damaged.

    Example:
        >>> import coldpress
        >>> image = coldpress.Image(coldpress.example_image())
        >>> image.read("/greeting")
        b'Hello, world!\n'
        >>> [entry.path for entry in image.walk() if entry.is_file]
        ['/greeting']
    """

    def __init__(self, source: ImageSource, *, offset: int | Literal["auto"] = "auto") -> None:
        self._source = source
        self._given_offset = offset
        self._lock = threading.Lock()
        self._stale: _native.Image | None = None
        kind, value = self._given(source)
        self._kind = kind
        if kind == "path":
            # Pickled, it is found from any directory.
            self._source = os.path.abspath(value)
        start = None if offset == "auto" else offset
        self._handle: _native.Image | None = _native.Image(kind, value, start)
        _open.add(self)

    def _given(self, source: ImageSource) -> tuple[str, Any]:
        if isinstance(source, bytes) and source.startswith(b"hsqs"):
            return "bytes", source
        if isinstance(source, str) and source.startswith(("http://", "https://")):
            return "url", source
        if isinstance(source, str | bytes | os.PathLike):
            return "path", os.fsencode(source)
        if isinstance(source, RangeSource):
            return "object", (source.read_at, source.size_bytes)
        if not (hasattr(source, "read") and hasattr(source, "seek")):
            raise TypeError(
                "an image is a path, a URL, bytes or a binary file that can seek, "
                f"not {type(source).__name__}"
            )
        size_bytes = source.seek(0, io.SEEK_END)

        def read(start: int, length: int) -> bytes:
            with self._lock:
                source.seek(start)
                return bytes(source.read(length))

        return "object", (read, size_bytes)

    def _forked(self) -> None:
        self._stale, self._handle = self._handle or self._stale, None
        self._lock = threading.Lock()

    @property
    def _image(self) -> _native.Image:
        handle = self._handle
        if handle is not None:
            return handle
        with self._lock:
            if self._handle is None:
                self._handle = self._renewed()
            return self._handle

    def _renewed(self) -> _native.Image:
        if self._stale is None:
            raise ValueError("the image is closed")
        if self._kind == "url":
            # A connection to a server is not shared by two processes.
            handle = _native.Image("url", self._source, self._stale.start)
        else:
            handle = self._stale.renewed()
        self._stale = None
        return handle

    def __getstate__(self) -> dict[str, Any]:
        native = self._image
        identity = (native.size_bytes, native.made_s, native.inode_count)
        return {"source": self._source, "start": native.start, "identity": identity}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Image.__init__(self, state["source"], offset=state["start"])
        native = self._image
        if (native.size_bytes, native.made_s, native.inode_count) != state["identity"]:
            raise OpenError(f"{self._name} is not the image that was pickled; it was written again")

    @property
    def _name(self) -> str:
        if self._kind == "bytes":
            return "<bytes>"
        if isinstance(self._source, str | bytes | os.PathLike):
            return os.fsdecode(self._source)
        return repr(self._source)

    def __repr__(self) -> str:
        return f"<coldpress.Image {self._name}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the source and of what is in memory. A file object stays open."""
        self._handle = self._stale = None
        _open.discard(self)

    @property
    def size_bytes(self) -> int:
        """Bytes of the image, without what lies before and behind it."""
        return self._image.size_bytes

    @property
    def start(self) -> int:
        """The byte of the source at which the image begins."""
        return self._image.start

    @property
    def block_bytes(self) -> int:
        """Bytes of a data block before compression: 4096 to 1048576."""
        return self._image.block_bytes

    @property
    def compressor(self) -> str:
        """`gzip`, `lzma`, `lzo`, `xz`, `lz4` or `zstd`."""
        return self._image.compressor

    @property
    def inode_count(self) -> int:
        """Files, directories and all else, each once whatever names it has."""
        return self._image.inode_count

    def walk(self, path: Path = "/") -> Iterator[Entry]:
        """Every path from `path` on, depth-first, names in byte order.

        Links are not followed. Memory does not grow with the number of files.

        Raises:
            PathNotFoundError: There is no such path.
            DamagedError: A part of the tree cannot be read; the paths before it came.
        """
        return self._image.walk(_image_path(path))

    def listdir(self, path: Path = "/") -> list[Entry]:
        """What is in a directory, in byte order of the names.

        Raises:
            PathNotFoundError: There is no such path.
            NotADirectoryInImageError: It is no directory.
        """
        return self._image.entries(_image_path(path))

    def stat(self, path: Path, *, follow_symlinks: bool = True) -> Entry:
        """What a path names. Links are followed inside the image.

        Raises:
            PathNotFoundError: There is no such path, or a link leads nowhere.
        """
        return self._image.find(_image_path(path), follow_symlinks)

    def exists(self, path: Path) -> bool:
        """Whether there is something at the path, behind links."""
        try:
            self.stat(path)
        except FileNotFoundError:
            return False
        return True

    def read(self, path: Path, start: int = 0, stop: int | None = None) -> bytes:
        """Bytes `start` to `stop` of a file, or what there is of them; holes are zeros.

        A range of more than 256 KiB is decompressed by all processors.

        Raises:
            PathNotFoundError: There is no such path.
            IsADirectoryInImageError: It is a directory.
            DamagedError: A block of the range is damaged.
            MemoryError: The range is larger than the memory of the machine.
        """
        return self._image.read(_image_path(path), start, stop)

    @overload
    def read_many(
        self, requests: Iterable[Request], *, errors: Literal["raise"] = "raise"
    ) -> list[bytes]: ...

    @overload
    def read_many(
        self, requests: Iterable[Request], *, errors: Literal["return"]
    ) -> list[bytes | ColdpressError]: ...

    def read_many(
        self, requests: Iterable[Request], *, errors: Literal["raise", "return"] = "raise"
    ) -> list[Any]:
        r"""The bytes of many files, or of ranges of them, in the order of `requests`.

        The requests are grouped by block. Each block is read and decompressed once, in the order of
        the image, by all processors. Other threads of Python run meanwhile.

        Args:
            requests: Paths, or tuples `(path, start, stop)`; a `stop` of `None` is the end.
            errors: `"raise"` raises the first problem. `"return"` puts the exception in the place
                of the bytes, so that a damaged block costs only the files that have a part of it.

        Returns:
            A list of `bytes` as long as `requests`.

        Raises:
            ColdpressError: As `read`, unless `errors` is `"return"`.
            MemoryError: The results are together larger than the memory of the machine;
                `iter_many` gives them one after the other.

        Example:
            >>> import coldpress
            >>> image = coldpress.Image(coldpress.example_image())
            >>> image.read_many(["/greeting", ("/greeting", 7, 12)])
            [b'Hello, world!\n', b'world']
        """
        if errors not in ("raise", "return"):
            raise ValueError(f'errors is "raise" or "return", not {errors!r}')
        return self._image.read_many(_listed(requests), errors == "raise")

    def iter_many(
        self, requests: Iterable[Request] | None = None, *, batch_bytes: int = _BATCH_BYTES
    ) -> Iterator[tuple[int, bytes]]:
        """The bytes of many files in the order in which the image has them, in bounded memory.

        Args:
            requests: As of `read_many`; without them, every regular file as `walk` finds them.
            batch_bytes: About how many bytes are read at once.

        Yields:
            The index of a request, and its bytes.

        Raises:
            ColdpressError: As `read`.
        """
        native = self._image
        if requests is None:
            requests = [entry.path_bytes for entry in self.walk() if entry.is_file]
        listed = _listed(requests)
        order = self._order(listed)
        batch: list[int] = []
        size = 0
        for index in order:
            length = self._length(listed[index])
            if batch and size + length > batch_bytes:
                yield from self._batch(native, listed, batch)
                batch, size = [], 0
            batch.append(index)
            size += length
        yield from self._batch(native, listed, batch)

    def _batch(
        self, native: _native.Image, listed: Sequence[Request], batch: list[int]
    ) -> Iterator[tuple[int, bytes]]:
        yield from zip(
            batch, native.read_many([listed[index] for index in batch], True), strict=True
        )

    def _length(self, request: Request) -> int:
        if isinstance(request, tuple):
            path, start, stop = request
            if stop is not None:
                return max(stop - start, 0)
            return max(self.stat(path).size_bytes - start, 0)
        return self.stat(request).size_bytes

    def image_order(self, requests: Iterable[Request]) -> list[int]:
        """Indices of `requests` in the order in which the image has their files.

        Who reads in this order, a block is not decompressed twice, and a disk reads forward.
        """
        return self._order(_listed(requests))

    def _order(self, listed: Sequence[Request]) -> list[int]:
        positions = self._image.positions(listed)
        return sorted(range(len(listed)), key=positions.__getitem__)

    def open(self, path: Path, *, buffer_bytes: int | None = None) -> io.BufferedReader:
        """Opens a file for reading in binary: it can seek, and is buffered.

        Args:
            path: The file.
            buffer_bytes: Bytes that are read at once: without it, a block of the image.

        Raises:
            PathNotFoundError: There is no such path.
            IsADirectoryInImageError: It is a directory.
        """
        raw = RawFile(self, path)
        return io.BufferedReader(raw, buffer_bytes or self.block_bytes)


def _listed(requests: Iterable[Request]) -> Sequence[Request]:
    if isinstance(requests, str | bytes):
        raise TypeError("requests are a list of paths, not one path")
    return requests if isinstance(requests, list) else list(requests)


class RawFile(io.RawIOBase):
    """A file of an image, without a buffer: `Image.open` gives it one."""

    def __init__(self, image: Image, path: Path) -> None:
        self._image = image
        self._path = _image_path(path)
        image._image.read(self._path, 0, 0)
        self._size = image.stat(path).size_bytes
        self._position = 0
        self.name = os.fsdecode(self._path)
        self.mode = "rb"

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The byte at which the next read begins."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Goes to a byte, which may be behind the end."""
        if self.closed:
            raise ValueError("the file is closed")
        bases = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}
        if whence not in bases:
            raise ValueError(f"whence is 0, 1 or 2, not {whence}")
        position = bases[whence] + offset
        if position < 0:
            raise ValueError(f"byte {position} is before the file")
        self._position = position
        return position

    def readinto(self, buffer: Any, /) -> int:
        """Reads into a buffer; returns how many bytes, 0 at the end."""
        if self.closed:
            raise ValueError("the file is closed")
        view = memoryview(buffer).cast("B")
        data = self._image._image.read(self._path, self._position, self._position + len(view))
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def readall(self) -> bytes:
        """Everything from here to the end."""
        if self.closed:
            raise ValueError("the file is closed")
        data = self._image._image.read(self._path, self._position, None)
        self._position += len(data)
        return data
