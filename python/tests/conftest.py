"""Images that mksquashfs makes, and what they hold."""

from __future__ import annotations

import functools
import os
import random
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Made:
    """An image and the directory that it was made of."""

    image: Path
    tree: Path

    @functools.cached_property
    def content(self) -> dict[str, bytes]:
        """Every regular file by its path in the image."""
        found = {}
        for directory, _, names in os.walk(self.tree):
            for name in names:
                path = Path(directory) / name
                if path.is_file() and not path.is_symlink():
                    found["/" + str(path.relative_to(self.tree))] = path.read_bytes()
        return found


def mksquashfs(tree: Path, image: Path, *options: str) -> None:
    if shutil.which("mksquashfs") is None:
        if "peers" in os.environ.get("COLDPRESS_REQUIRE", ""):
            pytest.fail("mksquashfs is missing")
        pytest.skip("mksquashfs is missing")
    command = ["mksquashfs", str(tree), str(image), "-noappend", "-quiet", "-no-progress"]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Text and noise of many lengths, many small files, a sparse file, links, odd names."""
    base = tmp_path_factory.mktemp("made")
    tree = base / "tree"
    dice = random.Random(25)
    for length in (0, 1, 4096, 100_000, 131_072, 131_073, 700_000):
        path = tree / "sizes" / f"text-{length}"
        path.parent.mkdir(parents=True, exist_ok=True)
        words = b" ".join(b"%d" % dice.randrange(1000) for _ in range(length // 3 + 1))
        path.write_bytes(words[:length])
        (path.parent / f"noise-{length}").write_bytes(dice.randbytes(length))
    for number in range(400):
        path = tree / "many" / f"{number % 7}" / f"{number:04}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"number {number}\n" * (number % 50 + 1))
    with open(tree / "sparse", "wb") as sparse:
        sparse.write(b"begin")
        sparse.seek(3 << 20)
        sparse.write(b"end")
    (tree / "link").symlink_to("many/1/0001.txt")
    (tree / "up").symlink_to("/many/1")
    (tree / "lost").symlink_to("nowhere")
    os.link(tree / "many/1/0001.txt", tree / "hard")
    (tree / "ünï cödé").write_text("text")
    with open(os.fsencode(tree) + b"/not\xffutf8", "wb") as odd:
        odd.write(b"odd")
    image = base / "made.sqfs"
    mksquashfs(tree, image, "-comp", "zstd")
    return Made(image, tree)
