#!/usr/bin/env python3
"""Cold starts from images of SquashFS or ext4 on a disk that is slowed, with a readahead of 128 KiB.

usage: cold_archives.py DIR RUNS BYTES_PER_S READS_PER_S COMMAND CONTESTANT...

A CONTESTANT is NAME=IMAGE, mounted through the kernel from a loop device that is slowed (0: not). The
contestants take turns. Each start: what is in `DIR/home`, if it is there, is copied to /tmp of the image,
which is in memory; all caches are dropped; the clock starts; COMMAND runs in a chroot by `sh`; the
clock stops when COMMAND ends. Prints a JSON object: for each contestant its runs, as (seconds, bytes
read, reads). Needs root and the blkio cgroup controller, of version 1 or 2.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

V2 = Path("/sys/fs/cgroup/cgroup.controllers")


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Slowed:
    """A cgroup whose processes read from one device at a limited speed."""

    def __init__(self, device, bytes_per_s, reads_per_s):
        number = (Path("/sys/block") / Path(device).name / "dev").read_text().strip()
        is_v2 = V2.exists() and "io" in V2.read_text().split()
        root = Path("/sys/fs/cgroup" if is_v2 else "/sys/fs/cgroup/blkio")
        self.path = root / f"cold-archives-{os.getpid()}"
        self.path.mkdir()
        if bytes_per_s and is_v2:
            (self.path / "io.max").write_text(f"{number} rbps={bytes_per_s} riops={reads_per_s}")
        elif bytes_per_s:
            for name, limit in (("bps", bytes_per_s), ("iops", reads_per_s)):
                (self.path / f"blkio.throttle.read_{name}_device").write_text(f"{number} {limit}")

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        for _ in range(100):
            try:
                return self.path.rmdir()
            except OSError:
                time.sleep(0.1)


def counted(device):
    """Bytes and reads so far."""
    fields = (Path("/sys/block") / Path(device).name / "stat").read_text().split()
    return int(fields[2]) * 512, int(fields[0])


def start(at, home, image, limits, command):
    """One start; returns seconds, bytes read, reads."""
    device = run("losetup", "--find", "--show", "--read-only", "--direct-io=on", image)
    # That of a disk: a loop device takes it from its file system.
    (Path("/sys/block") / Path(device).name / "bdi/read_ahead_kb").write_text("128")
    run("mount", "-o", "ro", device, str(at))
    slowed = Slowed(device, *limits)
    try:
        run("mount", "-t", "tmpfs", "tmpfs", str(at / "tmp"))
        run("mount", "--bind", "/dev", str(at / "dev"))
        run("mount", "-t", "proc", "proc", str(at / "proc"))
        if home.exists():
            shutil.copytree(home, at / "tmp", dirs_exist_ok=True, symlinks=True)
        run("sync")
        Path("/proc/sys/vm/drop_caches").write_text("3")
        before, began = counted(device), time.monotonic()
        ran = subprocess.run(
            ["chroot", at, "sh", "-c", command],
            preexec_fn=slowed.enter,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        took, after = time.monotonic() - began, counted(device)
        if ran.returncode != 0:
            sys.exit(f"the command failed: {ran.stderr.decode(errors='replace')}")
    finally:
        for below in ("tmp", "dev", "proc", ""):
            subprocess.run(["umount", "-l", at / below], stderr=subprocess.DEVNULL, check=False)
        slowed.remove()
        subprocess.run(["losetup", "-d", device], check=False)
    return round(took, 3), after[0] - before[0], after[1] - before[1]


def main():
    directory, runs, bytes_per_s, reads_per_s, command, *contestants = sys.argv[1:]
    at = Path(directory) / "cold-archives"
    at.mkdir(exist_ok=True)
    results = {}
    for turn in range(int(runs)):
        for contestant in contestants:
            name, image = contestant.split("=", 1)
            limits = (int(bytes_per_s), int(reads_per_s))
            result = start(at, Path(directory) / "home", image, limits, command)
            results.setdefault(name, []).append(result)
            print(f"{turn + 1} {name}: {result}", file=sys.stderr)
    at.rmdir()
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
