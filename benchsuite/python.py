#!/usr/bin/env python3
"""Reading images in Python against other readers and other containers, in turns.

    benchsuite/python.py SCRATCH OUTPUT.json --icons DIR [--samples N] [--text-mib N] [--rounds N]

Walks the tree DIR, reads made JPEGs one after the other, in random order with 1 and 7 processes,
and larger files in ranges of 64 KiB. Needs root (kernel mount), mksquashfs, squashfuse_ll, and from
PyPI: coldpress, pillow, PySquashfsImage, squashfsspec, ratarmount, lmdb, h5py. Each figure is the
best of some rounds, in which the readers take turns: of a machine that others use, the least
disturbed one counts.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import tarfile
import time
import zipfile
from pathlib import Path

SAMPLE_VARIANTS = 40
RANGE_BYTES = 64 << 10


def make_samples(directory: Path, count: int) -> list[str]:
    """JPEGs of 160 by 160 pixels, 40 of one picture with a comment each that makes them differ.

    Encoding each would take longer than reading all. What a reader sees is the same: bytes that do
    not compress, in files of some kilobytes of which no two are equal.
    """
    from PIL import Image

    dice = random.Random(25)
    paths = []
    for picture in range(-(-count // SAMPLE_VARIANTS)):
        rough = Image.frombytes("RGB", (40, 40), dice.randbytes(4800))
        encoded = io.BytesIO()
        rough.resize((160, 160), Image.Resampling.BICUBIC).save(encoded, "JPEG", quality=92)
        data = encoded.getvalue()
        for variant in range(SAMPLE_VARIANTS):
            name = f"{variant:03}/{picture:06}.jpg"
            comment = dice.randbytes(30)
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data[:2] + b"\xff\xfe\x00\x20" + comment + data[2:])
            paths.append(name)
    return sorted(paths[:count])


def make_large(directory: Path, size: int) -> list[str]:
    """Eight files of `size` bytes of numbers in text, which compress."""
    dice = random.Random(7)
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(8):
        words = [f"{dice.randrange(10**6)}\n".encode() for _ in range(20_000)]
        with open(directory / f"{number}.txt", "wb") as file:
            while file.tell() < size:
                dice.shuffle(words)
                file.write(b"".join(words[:9000]))
            file.truncate(size)
    return [f"{number}.txt" for number in range(8)]


def run(*command: object) -> None:
    subprocess.run([str(each) for each in command], check=True, stdout=subprocess.DEVNULL)


def squash(tree: Path, image: Path, *options: str) -> Path:
    run("mksquashfs", tree, image, "-noappend", "-quiet", "-no-progress", *options)
    return image


def make_containers(tree: Path, paths: list[str], into: Path) -> None:
    """The same samples as LMDB, HDF5, ZIP and tar."""
    import h5py
    import lmdb
    import numpy

    database = lmdb.open(str(into / "lmdb"), map_size=4 << 30)
    with database.begin(write=True) as transaction:
        for path in paths:
            transaction.put(path.encode(), (tree / path).read_bytes())
    database.close()
    with h5py.File(into / "samples.h5", "w") as file:
        for path in paths:
            file[path] = numpy.frombuffer((tree / path).read_bytes(), numpy.uint8)
    with zipfile.ZipFile(into / "samples.zip", "w") as file:
        for path in paths:
            file.write(tree / path, path)
    with tarfile.open(into / "samples.tar", "w") as file:
        for path in paths:
            file.add(tree / path, path)


# Readers: a class with `read(path) -> bytes`; some read many at once, some walk.


class Coldpress:
    def __init__(self, image: Path) -> None:
        import coldpress

        self.image = coldpress.Image(image)

    def read(self, path: str) -> bytes:
        return self.image.read(path)

    def many(self, paths: list[str]) -> list[bytes]:
        return self.image.read_many(paths)

    def part(self, path: str, start: int, stop: int) -> bytes:
        return self.image.read(path, start, stop)

    def parts(self, requests: list[tuple[str, int, int]]) -> list[bytes]:
        return self.image.read_many(requests)

    def walk(self) -> int:
        return sum(1 for entry in self.image.walk() if entry.path and entry.size_bytes >= 0)


class PySquashfs:
    def __init__(self, image: Path) -> None:
        from PySquashfsImage import SquashFsImage

        self.image = SquashFsImage.from_file(str(image))

    def read(self, path: str) -> bytes:
        return self.image.select("/" + path).read_bytes()

    def part(self, path: str, start: int, stop: int) -> bytes:
        return self.image.select("/" + path).read_bytes()[start:stop]

    def walk(self) -> int:
        return sum(1 for entry in self.image if entry.path and entry.size >= 0)


class Fsspec:
    """A file system of fsspec: dissect.squashfs through squashfsspec, zip, tar."""

    def __init__(self, kind: str, file: Path) -> None:
        if kind == "squashfsspec":
            from squashfsspec import SquashFSFileSystem

            self.fs = SquashFSFileSystem(str(file))
        else:
            import fsspec

            self.fs = fsspec.filesystem(kind, fo=str(file))

    def read(self, path: str) -> bytes:
        return self.fs.cat_file(path)

    def part(self, path: str, start: int, stop: int) -> bytes:
        return self.fs.cat_file(path, start, stop)

    def walk(self) -> int:
        return len(self.fs.find("", withdirs=True, detail=True))


class Mount:
    """A directory: a mount, or the files themselves."""

    def __init__(self, directory: Path) -> None:
        self.directory = str(directory) + "/"

    def read(self, path: str) -> bytes:
        with open(self.directory + path, "rb") as file:
            return file.read()

    def part(self, path: str, start: int, stop: int) -> bytes:
        with open(self.directory + path, "rb") as file:
            return os.pread(file.fileno(), stop - start, start)

    def walk(self) -> int:
        count, left = 1, [self.directory]
        while left:
            with os.scandir(left.pop()) as entries:
                for entry in entries:
                    entry.stat(follow_symlinks=False)
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        left.append(entry.path)
        return count


class Lmdb:
    def __init__(self, directory: Path) -> None:
        import lmdb

        self.database = lmdb.open(str(directory), readonly=True, lock=False, readahead=False)
        self.transaction = self.database.begin()

    def read(self, path: str) -> bytes:
        return self.transaction.get(path.encode())


class Hdf5:
    def __init__(self, file: Path) -> None:
        import h5py

        self.file = h5py.File(file)

    def read(self, path: str) -> bytes:
        return self.file[path][()].tobytes()


READERS = {
    "coldpress": (Coldpress, "samples.sqfs"),
    "coldpress, no fragments": (Coldpress, "samples-nf.sqfs"),
    "PySquashfsImage": (PySquashfs, "samples.sqfs"),
    "squashfsspec": (lambda file: Fsspec("squashfsspec", file), "samples.sqfs"),
    "kernel mount": (Mount, "kernel"),
    "squashfuse_ll": (Mount, "fuse"),
    "ratarmount": (Mount, "ratar"),
    "zip fsspec": (lambda file: Fsspec("zip", file), "samples.zip"),
    "tar fsspec": (lambda file: Fsspec("tar", file), "samples.tar"),
    "LMDB": (Lmdb, "lmdb"),
    "HDF5": (Hdf5, "samples.h5"),
}
SLOW = ("PySquashfsImage", "squashfsspec", "ratarmount", "tar fsspec", "zip fsspec")


def opened(name: str, base: Path) -> object:
    kind, file = READERS[name]
    return kind(base / file)


def worker(job: tuple[str, Path, list[str]]) -> int:
    name, base, paths = job
    reader = opened(name, base)
    return sum(len(reader.read(path)) for path in paths)


def batches(job: tuple[str, Path, list[str]]) -> int:
    name, base, paths = job
    reader = opened(name, base)
    starts = range(0, len(paths), 64)
    return sum(sum(map(len, reader.many(paths[start : start + 64]))) for start in starts)


def timed(action) -> dict[str, float]:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    began = time.perf_counter()
    count = action()
    wall = time.perf_counter() - began
    now = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        for before, after in zip(used, now, strict=True)
    )
    return {"count": count, "wall_s": wall, "processor_s": processor}


class Study:
    """Figures of each test and reader: the least time for one of what is counted."""

    def __init__(self) -> None:
        self.best: dict[str, dict[str, dict[str, float]]] = {}

    def note(self, test: str, reader: str, count: int, action) -> None:
        try:
            figures = timed(action)
        except Exception as error:  # A peer that cannot do it is named, and the others go on.
            self.best.setdefault(test, {})[reader] = {"error": f"{type(error).__name__}: {error}"}
            print(f"{test}: {reader}: {error!r}", flush=True)
            return
        each = {
            "wall_us": figures["wall_s"] / count * 1e6,
            "processor_us": figures["processor_s"] / count * 1e6,
        }
        before = self.best.setdefault(test, {}).get(reader)
        if before:
            each = {name: min(value, before[name]) for name, value in each.items()}
        self.best[test][reader] = each
        print(f"{test}: {reader}: {each}", flush=True)


@contextlib.contextmanager
def mounts(base: Path):
    for name in ("kernel", "fuse", "ratar", "icons-kernel", "icons-fuse"):
        (base / name).mkdir(exist_ok=True)
    run("mount", "-o", "ro,loop", base / "samples.sqfs", base / "kernel")
    run("mount", "-o", "ro,loop", base / "icons.sqfs", base / "icons-kernel")
    run("squashfuse_ll", base / "samples.sqfs", base / "fuse")
    run("squashfuse_ll", base / "icons.sqfs", base / "icons-fuse")
    ratar = shutil.which("ratarmount")
    if ratar:
        subprocess.run([ratar, base / "samples.sqfs", base / "ratar"], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        for name in ("kernel", "fuse", "ratar", "icons-kernel", "icons-fuse"):
            subprocess.run(["umount", base / name], stderr=subprocess.DEVNULL)


def prepare(base: Path, icons: Path, count: int, size: int) -> tuple[list[str], list[str]]:
    paths = make_samples(base / "samples", count)
    large = make_large(base / "large", size)
    squash(base / "samples", base / "samples.sqfs", "-comp", "zstd")
    squash(base / "samples", base / "samples-nf.sqfs", "-comp", "zstd", "-no-fragments")
    squash(base / "large", base / "large.sqfs", "-comp", "zstd")
    squash(icons, base / "icons.sqfs", "-comp", "zstd")
    make_containers(base / "samples", paths, base)
    return paths, large


def decompressor_limit(base: Path, names: list[str]) -> dict[str, float]:
    """Decompressing alone, in all processes at once: blocks of 128 KiB of the same text."""
    import zstandard

    text = b"".join((base / "large" / name).read_bytes() for name in names)
    blocks = [text[at : at + (128 << 10)] for at in range(0, len(text), 128 << 10)]
    packed = [zstandard.ZstdCompressor(level=15).compress(block) for block in blocks]

    def unpack(part: list[bytes]) -> int:
        decompressor = zstandard.ZstdDecompressor()
        return sum(len(decompressor.decompress(block)) for block in part)

    unpack(packed[:50])
    return {**timed(lambda: unpack(packed)), "bytes": len(text)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("scratch", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--icons", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--text-mib", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    base = arguments.scratch
    base.mkdir(parents=True, exist_ok=True)
    paths, large = prepare(base, arguments.icons, arguments.samples, arguments.text_mib << 20)
    shuffled = random.Random(1).sample(paths, len(paths))
    study = Study()
    with mounts(base):
        for _ in range(arguments.rounds):
            walks(study, base)
            samples(study, base, paths, shuffled)
            ranges(study, base, large, arguments.text_mib << 20)
    arguments.output.write_text(json.dumps(study.best, indent=1) + "\n")


def walks(study: Study, base: Path) -> None:
    icons = base / "icons.sqfs"
    kinds = {
        "coldpress": lambda: Coldpress(icons),
        "PySquashfsImage": lambda: PySquashfs(icons),
        "squashfsspec": lambda: Fsspec("squashfsspec", icons),
        "kernel mount": lambda: Mount(base / "icons-kernel"),
        "squashfuse_ll": lambda: Mount(base / "icons-fuse"),
    }
    expected = Coldpress(icons).walk()
    for name, kind in kinds.items():
        study.note("walk", name, expected, lambda kind=kind: kind().walk())


def samples(study: Study, base: Path, paths: list[str], shuffled: list[str]) -> None:
    few = len(paths) // 50
    for name in READERS:
        chosen = slice(0, few) if name in SLOW else slice(None)
        for test, order in (("sequential", paths), ("shuffled, 1 process", shuffled)):
            part = order[chosen]
            study.note(test, name, len(part), lambda n=name, p=part: worker((n, base, p)))
        part = shuffled[chosen]
        with multiprocessing.get_context("fork").Pool(7) as pool:
            jobs = [(name, base, part[at::7]) for at in range(7)]
            study.note(
                "shuffled, 7 processes",
                name,
                len(part),
                lambda j=jobs, p=pool: sum(p.map(worker, j)),
            )
        if name.startswith("coldpress"):
            many = f"{name}, batches of 64"
            study.note(
                "shuffled, 1 process", many, len(part), lambda n=name: batches((n, base, part))
            )
            whole = f"{name}, read_many"
            study.note(
                "sequential", whole, len(paths), lambda n=name: len(opened(n, base).many(paths))
            )


def ranges(study: Study, base: Path, large: list[str], size: int) -> None:
    image = base / "large.sqfs"
    dice = random.Random(3)
    starts = [(dice.choice(large), dice.randrange(size - RANGE_BYTES)) for _ in range(600)]
    wanted = [(path, start, start + RANGE_BYTES) for path, start in starts]

    def one_by_one(reader, part):
        return sum(len(reader.part(*each)) for each in part)

    kinds = {
        "coldpress": (lambda: Coldpress(image), 600),
        "squashfsspec": (lambda: Fsspec("squashfsspec", image), 60),
        "PySquashfsImage": (lambda: PySquashfs(image), 8),
        "files": (lambda: Mount(base / "large"), 600),
    }
    for name, (kind, count) in kinds.items():
        part = wanted[:count]
        study.note("64 KiB ranges", name, count, lambda k=kind, p=part: one_by_one(k(), p))
    study.note(
        "64 KiB ranges", "coldpress, read_many", 600, lambda: len(Coldpress(image).parts(wanted))
    )
    # Each block once, on all processors, against the decompressor alone, per byte.
    total = len(large) * size
    study.note("text, per MiB", "read_many", total >> 20, lambda: len(Coldpress(image).many(large)))
    with contextlib.suppress(ImportError):
        limit = decompressor_limit(base, large)
        study.best["text, per MiB"]["zstd alone, one thread"] = {
            "wall_us": limit["wall_s"] / (total >> 20) * 1e6,
            "processor_us": limit["processor_s"] / (total >> 20) * 1e6,
        }


if __name__ == "__main__":
    main()
