#!/usr/bin/env python3
"""Cold starts through a mount in user space, on a disk that is slowed for server and program alike.

usage: cold_mount.py DIR RUNS BYTES_PER_S READS_PER_S COMMAND CONTESTANT...

A CONTESTANT is NAME=IMAGE=SERVER, as `pack=app.sqfs=coldpress mount -f -q`; without a server, IMAGE
is a directory, whose files are on the disk. A SERVER with `{image}` and `{command}` mounts and starts
by itself, as `coldpress run --chroot {image} -- sh -c {command}`. The contestants take turns. Each start: all caches are
dropped; the clock starts; the server starts, and when its mount is there, COMMAND in it, by `sh` in
a chroot; the clock stops when COMMAND ends. So what a server reads ahead is not free. DIR must be on
the disk that is slowed. Prints a JSON object: for each contestant its runs, as (seconds, bytes read,
reads). Needs root, and a cgroup controller of either version that limits reads.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

V2 = Path("/sys/fs/cgroup/cgroup.controllers")


class Throttle:
    """A cgroup whose processes read from one disk at a limited speed; counts what they read."""

    def __init__(self, directory, bytes_per_s, reads_per_s):
        number = os.stat(directory).st_dev
        device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
        # The limit is that of the disk, not of a partition.
        disk = device if not (device / "partition").exists() else device.resolve().parent
        self.disk = (disk / "dev").read_text().strip()
        self.is_v2 = V2.exists() and "io" in V2.read_text().split()
        root = Path("/sys/fs/cgroup" if self.is_v2 else "/sys/fs/cgroup/blkio")
        if self.is_v2:
            (root / "cgroup.subtree_control").write_text("+io")
        self.path = root / f"cold-mount-{os.getpid()}"
        self.path.mkdir()
        if self.is_v2:
            limits = f"{self.disk} rbps={bytes_per_s} riops={reads_per_s}"
            (self.path / "io.max").write_text(limits)
        else:
            for name, limit in (("bps", bytes_per_s), ("iops", reads_per_s)):
                file = self.path / f"blkio.throttle.read_{name}_device"
                file.write_text(f"{self.disk} {limit}")

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def read(self):
        """Bytes and reads so far."""
        if self.is_v2:
            for line in (self.path / "io.stat").read_text().splitlines():
                disk, *pairs = line.split()
                if disk == self.disk:
                    stat = dict(pair.split("=") for pair in pairs)
                    return int(stat["rbytes"]), int(stat["rios"])
            return 0, 0
        return tuple(self.read_v1(name) for name in ("io_service_bytes", "io_serviced"))

    def read_v1(self, name):
        for line in (self.path / f"blkio.throttle.{name}").read_text().splitlines():
            if line.startswith(f"{self.disk} Read"):
                return int(line.split()[2])
        return 0

    def remove(self):
        self.path.rmdir()


def unmount(at):
    for below in ("tmp", "dev", "proc", ""):
        subprocess.run(["umount", "-l", at / below], stderr=subprocess.DEVNULL, check=False)


def run_alone(throttle, words, command):
    """Runs to the end what mounts by itself; returns what it took."""
    began = time.monotonic()
    ran = subprocess.run(
        words,
        preexec_fn=throttle.enter,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if ran.returncode != 0:
        sys.exit(f"{command} failed: {ran.stderr.decode(errors='replace')}")
    return time.monotonic() - began


def start(throttle, at, image, server, command):
    """One start; returns seconds, bytes read, reads."""
    subprocess.run(["sync"], check=True)
    Path("/proc/sys/vm/drop_caches").write_text("3")
    before, began = throttle.read(), time.monotonic()
    if "{command}" in server:
        words = [word.format(image=image, command=command) for word in shlex.split(server)]
        took, after = run_alone(throttle, words, command), throttle.read()
        return round(took, 3), after[0] - before[0], after[1] - before[1]
    if server:
        words = [*shlex.split(server), image, str(at)]
        answering = subprocess.Popen(words, preexec_fn=throttle.enter)
        while not os.path.ismount(at):
            if answering.poll() is not None:
                sys.exit(f"{server} did not mount {image}")
            time.sleep(0.001)
    else:
        subprocess.run(["mount", "--bind", image, at], check=True)
    try:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", at / "tmp"], check=True)
        subprocess.run(["mount", "--bind", "/dev", at / "dev"], check=True)
        subprocess.run(["mount", "-t", "proc", "proc", at / "proc"], check=True)
        ran = subprocess.run(
            ["chroot", at, "sh", "-c", command],
            preexec_fn=throttle.enter,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        took = time.monotonic() - began
        if ran.returncode != 0:
            sys.exit(f"the command failed: {ran.stderr.decode(errors='replace')}")
        after = throttle.read()
    finally:
        unmount(at)
        if server:
            answering.wait()
    return round(took, 3), after[0] - before[0], after[1] - before[1]


def main():
    directory, runs, bytes_per_s, reads_per_s, command, *contestants = sys.argv[1:]
    at = Path(directory) / "cold-mount"
    at.mkdir(exist_ok=True)
    throttle = Throttle(directory, bytes_per_s, reads_per_s)
    results = {}
    try:
        for turn in range(int(runs)):
            for contestant in contestants:
                name, image, server = (contestant.split("=", 2) + [""])[:3]
                result = start(throttle, at, image, server, command)
                results.setdefault(name, []).append(result)
                print(f"{turn + 1} {name}: {result}", file=sys.stderr)
    finally:
        throttle.remove()
        at.rmdir()
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
