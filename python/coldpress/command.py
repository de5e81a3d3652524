"""The verbs of the command line as functions.

They run the program `coldpress`, which the wheel brings along, and return what `--json` prints.
What the command line refuses is refused with the same words, as `CommandError`. Ctrl-C and
exceptions of a progress callback end the program, which then leaves nothing unfinished behind.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from coldpress.errors import CommandError

__all__ = [
    "BuildReport",
    "Candidate",
    "CheckReport",
    "Prediction",
    "PressReport",
    "Problem",
    "TuneReport",
    "build",
    "check",
    "explain",
    "predict",
    "press",
    "program",
    "record",
    "run",
    "table",
    "tune",
]

FilePath: TypeAlias = "str | os.PathLike[str]"
Progress: TypeAlias = "Callable[[str], object]"
"""Takes each line that the program tells while it works, without its line feed."""

_Report = TypeVar("_Report")


def program() -> str:
    """The path of the program `coldpress`.

    That of the environment variable `COLDPRESS_PROGRAM`, else the one that was installed with this
    package, else that of `PATH`.

    Raises:
        CommandError: There is none.
    """
    named = os.environ.get("COLDPRESS_PROGRAM")
    if named:
        return named
    for directory in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        beside = Path(directory) / "coldpress"
        if beside.is_file():
            return str(beside)
    found = shutil.which("coldpress")
    if found is None:
        raise CommandError(
            "the program `coldpress` is not installed",
            hint="install the wheel, which has it, or set COLDPRESS_PROGRAM to its path",
        )
    return found


def run(
    verb: str,
    *arguments: FilePath,
    progress: Progress | None = None,
    json_output: bool = True,
    **options: Any,
) -> Any:
    """Runs a verb and returns what it prints as JSON.

    Args:
        verb: Such as `build`.
        *arguments: What stands on the command line without a flag. A command to start comes last,
            behind `--`.
        progress: Called with each line that the program tells, while it works.
        json_output: Whether the verb has `--json`; else its output is returned as text.
        **options: The long flags, with `_` for `-`: `block_size="128K"` is `--block-size 128K`,
            `True` is the flag alone, a list is the flag again and again, `None` and `False` are
            nothing.

    Raises:
        CommandError: The program could not do it (exit status 2, or a signal). An exit status of 1,
            done with warnings, is no error: the result says what was wrong.
    """
    before, behind = list(arguments), []
    if "--" in before:
        at = before.index("--")
        before, behind = before[:at], before[at:]
    flags = _flags(options)
    if json_output:
        flags.append("--json")
    command = [program(), verb, *flags, *(os.fspath(each) for each in [*before, *behind])]
    status, output, told = _run(command, progress)
    if status not in (0, 1):
        raise _error(verb, status, told)
    if not json_output:
        return output
    try:
        return json.loads(output)
    except ValueError:
        raise _error(verb, status, told) from None


def _flags(options: Mapping[str, Any]) -> list[str]:
    flags: list[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is True:
                flags.append(flag)
            elif each is not None and each is not False:
                flags.append(f"{flag}={os.fspath(each) if isinstance(each, os.PathLike) else each}")
    return flags


def _run(command: Sequence[str], progress: Progress | None) -> tuple[int, str, list[str]]:
    # A file takes any amount of output, and a pipe only waits to be read.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogateescape") as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
        )
        told: list[str] = []
        try:
            assert child.stderr is not None
            with child.stderr:
                for line in child.stderr:
                    told = [*told[-200:], line.rstrip("\n")]
                    if progress is not None:
                        progress(told[-1])
            status = child.wait()
        except BaseException:
            _end(child)
            raise
        output.seek(0)
        return status, output.read(), told


def _end(child: subprocess.Popen[str]) -> None:
    """Lets the program remove what it has begun; it takes no second signal for that."""
    if child.poll() is None:
        # Not SIGINT, which is ignored in what a shell starts in the background.
        child.terminate()
        killer = threading.Timer(20, child.kill)
        killer.start()
        child.wait()
        killer.cancel()


def _error(verb: str, status: int, told: Sequence[str]) -> CommandError:
    text, hint = "", None
    for line in told:
        if line.startswith("error: "):
            text = line.removeprefix("error: ")
        elif line.startswith("hint: "):
            hint = line.removeprefix("hint: ")
    if status < 0:
        text = f"`coldpress {verb}` was ended by {signal.Signals(-status).name}"
    return CommandError(
        text or f"`coldpress {verb}` ended with exit status {status}", exit_code=status, hint=hint
    )


def _of(kind: type[_Report], data: Mapping[str, Any], **more: Any) -> _Report:
    """The fields of a dataclass that the program knows, and all it printed as `data`."""
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    values = {name: value for name, value in data.items() if name in known}
    return kind(**{**values, "data": dict(data), **more})


@dataclass(frozen=True)
class Problem:
    """Something wrong with an image.

    Attributes:
        severity: `error` or `notice`.
        text: The line that the command line prints.
        path: The path in the image.
        part: The structure, such as `inode`.
        byte: The image byte at which it begins.
    """

    severity: str
    text: str
    path: str | None = None
    part: str | None = None
    byte: int | None = None
    data: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class CheckReport:
    """What `check` found.

    Attributes:
        sound: Whether the image has no errors.
        errors: How many it has.
        notices: Things that readers take and writers do not do.
        problems: Each of them.
        data: All that `coldpress check --json` prints.
    """

    sound: bool
    errors: int
    notices: int
    problems: tuple[Problem, ...]
    data: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class BuildReport:
    """What `build` wrote.

    Attributes:
        image: The image.
        image_bytes: Its size.
        content_bytes: What its files hold.
        inodes: How many it has.
        warnings: What could not be stored.
        time_s: How long it took.
        data: All that `coldpress build --json` prints.
    """

    image: str
    image_bytes: int
    content_bytes: int
    inodes: int
    warnings: Sequence[Any]
    time_s: float
    data: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Prediction:
    """What a cold start from an image will take.

    Attributes:
        time_s: How long it takes.
        reads: Requests to the device.
        read_bytes: What they read.
        decompressed_bytes: What is decompressed.
        page_cache_bytes: What then is in memory.
        data: All that `coldpress predict --json` prints.
    """

    time_s: float
    reads: int
    read_bytes: int
    decompressed_bytes: int
    page_cache_bytes: int
    data: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Candidate:
    """A way to build an image that `tune` considered.

    Attributes:
        name: Its settings in words.
        compressor: Such as `zstd`.
        block_size_bytes: Bytes of a data block.
        predicted_s: How long a cold start takes.
        predicted_size_bytes: Bytes of the image.
        is_front: Whether no other candidate beats it in everything.
        data: All that is known of it.
    """

    name: str
    compressor: str
    block_size_bytes: int
    predicted_s: float
    predicted_size_bytes: int
    is_front: bool
    data: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class TuneReport:
    """What `tune` recommends.

    Attributes:
        images: The candidates.
        recommended: The one to build.
        build: The command that builds it.
        data: All that `coldpress tune --json` prints.
    """

    images: tuple[Candidate, ...]
    recommended: Candidate | None
    build: str
    data: Mapping[str, Any] = field(repr=False, compare=False)


@dataclass(frozen=True)
class PressReport:
    """What `press` measured.

    Attributes:
        data: The study: all that `coldpress press --json` prints.
        image: The image that was written.
    """

    image: str
    data: Mapping[str, Any] = field(repr=False, compare=False)


def build(
    source: FilePath | Sequence[FilePath],
    image: FilePath,
    *,
    progress: Progress | None = None,
    **options: Any,
) -> BuildReport:
    """Builds an image of directories, archives or images, as `coldpress build` does.

    Args:
        source: What to build it of, one or several.
        image: The file to write.
        progress: Called with each line that the program tells.
        **options: The flags of `coldpress build`, such as `compressor="zstd"`, `level=15`,
            `block_size="128K"`, `profile="app.trace"`.

    Raises:
        CommandError: It cannot be built; an image that was there before stays as it was.
    """
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    return _of(BuildReport, run("build", *sources, image, progress=progress, **options))


def check(image: FilePath, *, progress: Progress | None = None, **options: Any) -> CheckReport:
    """Checks every structure and block of an image, as `coldpress check` does.

    Raises:
        CommandError: It is no image, or cannot be read.
    """
    data = run("check", image, progress=progress, **options)
    problems = tuple(_of(Problem, problem) for problem in data["problems"])
    return _of(CheckReport, data, problems=problems)


def predict(image: FilePath, *, progress: Progress | None = None, **options: Any) -> Prediction:
    """Predicts a cold start from an image, as `coldpress predict` does.

    Args:
        image: The image.
        progress: Called with each line that the program tells.
        **options: `trace` or `profile` says which start; `device`, `warm` and others as on the
            command line.
    """
    return _of(Prediction, run("predict", image, progress=progress, **options))


def tune(
    source: FilePath,
    command: Sequence[str] = (),
    *,
    progress: Progress | None = None,
    **options: Any,
) -> TuneReport:
    """Chooses how to build an image of a directory, without building any, as `coldpress tune` does.

    Args:
        source: The directory or image.
        command: The program to start, unless `trace` or `profile` say what a start reads.
        progress: Called with each line that the program tells.
        **options: The flags of `coldpress tune`.
    """
    behind = ["--", *command] if command else []
    data = run("tune", source, *behind, progress=progress, **options)
    images = tuple(_of(Candidate, image) for image in data["images"])
    chosen = data.get("recommended")
    recommended = images[chosen] if isinstance(chosen, int) else None
    return _of(TuneReport, data, images=images, recommended=recommended)


def record(
    source: FilePath,
    trace: FilePath,
    command: Sequence[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Path:
    """Records what a start of a command reads, as `coldpress record` does.

    Returns:
        The path of the trace.
    """
    arguments = [source, "--", *command]
    run("record", *arguments, progress=progress, json_output=False, output=trace, **options)
    return Path(trace)


def press(
    source: FilePath,
    image: FilePath,
    command: Sequence[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> PressReport:
    """Records a start, builds an image in its order and measures the gain, as the verb does."""
    arguments = [source, "--", *command]
    data = run("press", *arguments, progress=progress, output=image, **options)
    return PressReport(image=os.fspath(image), data=data)


def explain(
    image: FilePath,
    command: Sequence[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Mapping[str, Any]:
    """What a cold start reads from an image and waits for: what `--json` of the verb prints."""
    explained: Mapping[str, Any] = run(
        "explain", image, "--", *command, progress=progress, **options
    )
    return explained


def table(rows: Sequence[Any]) -> Any:
    """Reports of one kind as a `pyarrow.Table`: a column for each field but `data`.

    Args:
        rows: Such as `TuneReport.images` or `CheckReport.problems`.

    Raises:
        ImportError: pyarrow is not installed.
    """
    import pyarrow

    columns = [each.name for each in fields(rows[0]) if each.name != "data"] if rows else []
    return pyarrow.table({name: [getattr(row, name) for row in rows] for name in columns})
