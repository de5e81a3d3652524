"""SquashFS images in Python: read with all processors, and made to be read fast.

`Image` reads an image. `coldpress.fsspec` is the file system `squashfs://` for fsspec. `build`,
`check`, `predict`, `tune`, `record`, `press` and `explain` do what the verbs of the command line
do. `docs/python.md` of the repository explains all of it.
"""

from importlib import resources as _resources

from coldpress._native import Entry, __version__
from coldpress.command import build, check, explain, predict, press, record, table, tune
from coldpress.errors import (
    ColdpressError,
    CommandError,
    DamagedError,
    NotAnImageError,
    OpenError,
    PathNotFoundError,
    ReadError,
)
from coldpress.image import Image

__all__ = [
    "ColdpressError",
    "CommandError",
    "DamagedError",
    "Entry",
    "Image",
    "NotAnImageError",
    "OpenError",
    "PathNotFoundError",
    "ReadError",
    "__version__",
    "build",
    "check",
    "example_image",
    "explain",
    "predict",
    "press",
    "record",
    "table",
    "tune",
]


def example_image() -> bytes:
    """The bytes of a small image with one file, `/greeting`, for examples and tests."""
    return _resources.files(__name__).joinpath("example.sqfs").read_bytes()
