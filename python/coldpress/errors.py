"""What goes wrong, as exceptions.

The text of an exception is what the command line prints. Its attributes say where the problem is.
All derive from `ColdpressError`; those about files also derive from the exceptions of Python that
other code expects, such as `FileNotFoundError`.
"""

from __future__ import annotations

__all__ = [
    "ColdpressError",
    "CommandError",
    "DamagedError",
    "IsADirectoryInImageError",
    "NotADirectoryInImageError",
    "NotAFileError",
    "NotAnImageError",
    "OpenError",
    "PathNotFoundError",
    "ReadError",
]


class ColdpressError(Exception):
    """An error of coldpress.

    Attributes:
        hint: What to do about it, if that is known.
        path: The path in the image that was read, if one was.
        position: The image byte at which the problem is, if it is in the image.
        part: The structure that is damaged, such as `data block`.
        rule: The rule of the format that it breaks, with what was found.
    """

    hint: str | None
    path: str | None
    position: int | None
    part: str | None
    rule: str | None

    def __init__(
        self,
        text: str,
        *,
        hint: str | None = None,
        path: str | None = None,
        position: int | None = None,
        part: str | None = None,
        rule: str | None = None,
    ) -> None:
        super().__init__(text)
        self.hint = hint
        self.path = path
        self.position = position
        self.part = part
        self.rule = rule

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class OpenError(ColdpressError, OSError):
    """The file or URL of an image cannot be opened."""


class NotAnImageError(ColdpressError, ValueError):
    """What was opened is not a SquashFS 4.0 image."""


class DamagedError(ColdpressError, OSError):
    """The image breaks a rule of the format: `part`, `position` and `rule` say which."""


class ReadError(ColdpressError, OSError):
    """The bytes of the image cannot be read: `position` says from where on."""


class PathNotFoundError(ColdpressError, FileNotFoundError):
    """The image has no such path."""


class NotAFileError(ColdpressError, OSError):
    """The path names neither a regular file nor a directory."""


class IsADirectoryInImageError(ColdpressError, IsADirectoryError):
    """The path names a directory, and a file is wanted."""


class NotADirectoryInImageError(ColdpressError, NotADirectoryError):
    """The path names no directory, and one is wanted."""


class CommandError(ColdpressError, RuntimeError):
    """The program `coldpress` ended with an error.

    Attributes:
        exit_code: 2 if it could not run; negative if a signal ended it.
    """

    exit_code: int

    def __init__(self, text: str, *, exit_code: int = 2, hint: str | None = None) -> None:
        super().__init__(text, hint=hint)
        self.exit_code = exit_code
