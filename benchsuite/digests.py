#!/usr/bin/env python3
"""Digests of images by one or more coldpress binaries, to show that a change of the code changes no
byte: trees, compressors, block sizes, tail ends, plans and command lines of squashfs-tools.

    python3 benchsuite/digests.py coldpress-old coldpress-new > digests.json

Prints a JSON object of case to digest, or to one digest for each binary if they differ; the exit
status is 1 then. Needs root, for devices and owners, and the trees take 40 MB in a temporary
directory.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TIME_S = 1_700_000_000
WORDS = [b"start", b"image", b"block", b"reader", b"kernel", b"table", b"page"]


def text(draw, size):
    """Words and numbers; long texts are a megabyte again and again, with a number before each."""
    words, length = [], 0
    while length < min(size, 1 << 20):
        words.append(draw.choice(WORDS) + b" %d\n" % draw.randrange(1000))
        length += len(words[-1])
    page = b"".join(words)
    pages = [b"%d\n" % number + page for number in range(size // max(length, 1) + 1)]
    return b"".join(pages)[:size]


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def mixed(root):
    """Every kind of inode, sizes around block borders, duplicates, holes, xattrs, a large directory."""
    draw = random.Random(18)
    sizes = [0, 1, 100, 4095, 4096, 4097, 70_000, 131071, 131072, 131073, 300_000]
    for number in range(120):
        size = draw.choice(sizes)
        content = draw.randbytes(size) if number % 5 == 0 else text(draw, size)
        write(root / f"d{number % 7}/e{number % 3}/file{number:03}", content)
    for number in range(40):
        write(root / f"twice/{number}", (root / f"d{number % 7}/e{number % 3}/file{number:03}").read_bytes())
    for number in range(3000):
        write(root / f"large/{number:05}-{'name' * (number % 12)}", b"%d" % number)
    with open(root / "sparse", "wb") as file:
        file.truncate(9_000_000)
        file.seek(3_000_000)
        file.write(text(draw, 300_000))
    os.link(root / "sparse", root / "d1/linked")
    os.link(root / "d0/e0/file000", root / "again")
    os.symlink("d0/e0/file000", root / "link")
    os.symlink("nowhere/" * 20, root / "dangling")
    os.mkfifo(root / "fifo")
    os.mknod(root / "null", 0o020666, os.makedev(1, 3))
    os.mknod(root / "loop", 0o060660, os.makedev(7, 300))
    (root / "empty").mkdir()
    for number in range(30):
        path = root / f"d{number % 7}/e{number % 3}/file{number:03}"
        os.setxattr(path, "user.mime", b"text/plain" if number % 2 else b"x" * 500)
        os.chown(path, number * 1000, 5)
        os.chmod(path, 0o4755 if number % 3 else 0o600)
    os.setxattr(root / "d2", "user.note", b"directory")


def many(root):
    """Thousands of short texts: tail ends, metadata blocks, directories with indexes."""
    draw = random.Random(19)
    for number in range(3000):
        write(root / f"{number % 90:02}/{number}.txt", text(draw, draw.randrange(3000)))


def long(root):
    """Few files of many blocks."""
    draw = random.Random(20)
    for number in range(2):
        write(root / f"{number}", text(draw, 4_000_000 + number) + draw.randbytes(700_000))


def settle(root):
    """One time for everything, deepest first."""
    for directory, names, files in os.walk(root, topdown=False):
        for name in files + names:
            path = os.path.join(directory, name)
            os.utime(path, (TIME_S, TIME_S + len(name)), follow_symlinks=False)
    os.utime(root, (TIME_S, TIME_S))


def archive(root, path):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        tar.add(root, ".")


def sort_file(root, path):
    draw = random.Random(21)
    files = sorted(str(it.relative_to(root)) for it in root.rglob("*") if it.is_file() and not it.is_symlink())
    lines = [f"{name} {draw.randrange(-100, 100)}" for name in draw.sample(files, len(files) // 3)]
    path.write_text("\n".join(lines) + "\n")


def cases():
    """Name, and command line; `{mixed}` and the like are paths, `{out}` is the image."""
    for compressor in ["gzip", "lzo", "lz4", "xz", "zstd", "none"]:
        yield f"build mixed {compressor}", f"build {{mixed}} {{out}} -c {compressor}"
    for size in ["4K", "16K", "64K", "256K", "1M"]:
        yield f"build mixed zstd {size}", f"build {{mixed}} {{out}} -b {size}"
    for tails in ["none", "small", "all"]:
        yield f"build many tails {tails}", f"build {{many}} {{out}} --tails {tails}"
        yield f"build mixed tails {tails} 16K", f"build {{mixed}} {{out}} --tails {tails} -b 16K"
    for compressor, level in [("gzip", 1), ("gzip", 9), ("zstd", 1), ("zstd", 19), ("lz4", 12), ("xz", 6)]:
        yield f"build long {compressor} {level}", f"build {{long}} {{out}} -c {compressor} -l {level}"
    for threads in [1, 2, 5]:
        yield f"build long threads {threads}", f"build {{long}} {{out}} -j {threads}"
    for words in ["--all-root", "--no-xattrs", "--no-export", "--no-duplicates", "--store inodes,data",
                  "--exclude *.txt --exclude large/", "--one-file-system", "--group extension",
                  "--group similar", "--xz-filters x86 -c xz", "--file-mode 0644 --dir-mode 0755"]:
        yield f"build mixed {words}", f"build {{mixed}} {{out}} {words}"
    yield "build many group similar", "build {many} {out} --group similar"
    yield "build tar", "build {mixed.tar} {out}"
    yield "build two sources", "build {many} {long} {out}"
    yield "build image again", "build {first} {out} -c gzip -b 64K"
    yield "build plan", "build {mixed} {out} --plan {plan}"
    yield "build plan none", "build {mixed} {out} --plan {plan} -c none -b 16K"
    yield "build sort file", "build {mixed} {out} --sort {sort}"
    line = "{mixed} {out} -noappend -no-progress -quiet -mkfs-time 1700000000"
    for words in ["", "-comp xz -b 1M", "-comp lzo", "-comp zstd -Xcompression-level 4", "-noI -noD",
                  "-noF -noX", "-all-root -no-xattrs", "-no-fragments", "-always-use-fragments",
                  "-no-duplicates", "-no-exports", "-sort {sort}", "-all-time 1600000000", "-nopad",
                  "-p", "-e large", "-wildcards -e d*", "-b 4K -processors 1",
                  "-force-uid 7 -force-gid 8", "-root-mode 0700", "-keep-as-directory"]:
        if words == "-p":
            # Blanks in a word.
            yield "mksquashfs -p", f"mksquashfs {line} -p pseudo\x01f\x01644\x010\x010\x01echo\x01text"
        else:
            yield f"mksquashfs {words}".strip(), f"mksquashfs {line} {words}"
    yield "mksquashfs two sources", line.replace("{mixed}", "mksquashfs {many} {long}")
    yield "sqfstar", "sqfstar -no-progress -quiet -mkfs-time 1700000000 {out} <{mixed.tar}"
    yield "sqfstar gzip", "sqfstar -no-progress -quiet -mkfs-time 1700000000 -comp gzip -b 256K {out} <{mixed.tar}"


def fill(word, paths, out):
    for name, path in [*paths.items(), ("out", out)]:
        word = word.replace("{" + name + "}", str(path))
    return word.replace("\x01", " ")


def digest(binary, command, paths, out, links):
    out.unlink(missing_ok=True)
    command, _, source = command.partition(" <")
    words = [fill(word, paths, out) for word in command.split(" ") if word]
    if words[0] in ("mksquashfs", "sqfstar"):
        words[0] = str(links / words[0])
    else:
        words = [str(binary), *words, "--quiet"]
    stdin = open(fill(source, paths, out), "rb") if source else subprocess.DEVNULL
    environment = {**os.environ, "COLDPRESS_HISTORY": "", "COLDPRESS_CALIBRATION": ""}
    if words[0] == str(binary):
        environment["SOURCE_DATE_EPOCH"] = str(TIME_S)
    else:
        environment.pop("SOURCE_DATE_EPOCH", None)
    run = subprocess.run(words, stdin=stdin, capture_output=True, env=environment)
    if run.returncode > 1 or not out.exists():
        return f"exit {run.returncode}: {run.stderr.decode(errors='replace').strip().splitlines()[-1:]}"
    found = hashlib.sha256(out.read_bytes()).hexdigest()
    out.unlink()
    return found


def main():
    binaries = [Path(it).resolve() for it in sys.argv[1:]]
    if not binaries:
        sys.exit(__doc__)
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = Path(scratch)
        paths = {}
        for make in [mixed, many, long]:
            root = scratch / make.__name__
            root.mkdir()
            make(root)
            settle(root)
            paths[make.__name__] = root
        archive(paths["mixed"], scratch / "mixed.tar")
        sort_file(paths["mixed"], scratch / "sort")
        paths |= {name: scratch / name for name in ["mixed.tar", "sort", "plan", "first"]}
        first = binaries[0]
        subprocess.run([first, "build", paths["mixed"], paths["first"], "--quiet"], check=True,
                       env={**os.environ, "COLDPRESS_HISTORY": "", "SOURCE_DATE_EPOCH": str(TIME_S)})
        subprocess.run([first, "plan", "convert", paths["sort"], "--from", "mksquashfs", "--to", "plan",
                        "--tree", paths["mixed"], "-o", paths["plan"], "--quiet"], check=True)
        found, differ = {}, []
        for number, binary in enumerate(binaries):
            links = scratch / f"links{number}"
            links.mkdir()
            for name in ["mksquashfs", "sqfstar"]:
                (links / name).symlink_to(binary)
            with ThreadPoolExecutor(8) as pool:
                made = [(name, pool.submit(digest, binary, command, paths, scratch / f"image{place}", links))
                        for place, (name, command) in enumerate(cases())]
            for name, made in made:
                found.setdefault(name, []).append(made.result())
        for name, made in found.items():
            if len(set(made)) == 1:
                found[name] = made[0]
            else:
                differ.append(name)
        json.dump(found, sys.stdout, indent=1)
        print()
        print(f"{len(found)} cases, {len(differ)} differ: {', '.join(differ)}", file=sys.stderr)
        sys.exit(bool(differ))


if __name__ == "__main__":
    main()
