#!/usr/bin/env python3
"""Cold starts from an image as `bench launch` measures them, by a loop of its own: a fresh loop device
with direct I/O, whose reads are limited; all caches dropped; a command in a chroot.

usage: judge.py IMAGE RUNS BYTES_PER_S READS_PER_S READ_AHEAD_KIB COMMAND

Prints a JSON object: the medians of seconds, bytes read and reads. The readahead is set after the
mount. Needs root, and cgroup v1's blkio.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.decode().strip()


def start(image, limits, read_ahead_kib, command):
    run("sync")
    Path("/proc/sys/vm/drop_caches").write_text("3")
    loop = Path(run("losetup", "--find", "--show", "--read-only", "--direct-io=on", image))
    at, cgroup = tempfile.mkdtemp(), Path(tempfile.mkdtemp(dir="/sys/fs/cgroup/blkio"))
    sys_loop = Path("/sys/block") / loop.name
    disk = (sys_loop / "dev").read_text().strip()
    for name, limit in zip(("bps", "iops"), limits):
        (cgroup / f"blkio.throttle.read_{name}_device").write_text(f"{disk} {limit}")
    run("mount", "-t", "squashfs", "-o", "ro", loop, at)
    (sys_loop / "queue/read_ahead_kb").write_text(read_ahead_kib)
    for kind, below in (("tmpfs", "tmp"), ("proc", "proc")):
        run("mount", "-t", kind, kind, f"{at}/{below}")
    run("mount", "--bind", "/dev", f"{at}/dev")
    before = (sys_loop / "stat").read_text().split()
    enter = lambda: (cgroup / "cgroup.procs").write_text(str(os.getpid()))
    began = time.monotonic()
    subprocess.run(["chroot", at, *shlex.split(command)], check=True, preexec_fn=enter, stdout=subprocess.DEVNULL)
    took = time.monotonic() - began
    after = (sys_loop / "stat").read_text().split()
    for below in ("dev", "proc", "tmp", "."):
        run("umount", f"{at}/{below}")
    run("losetup", "--detach", loop)
    cgroup.rmdir()
    Path(at).rmdir()
    return took, (int(after[2]) - int(before[2])) * 512, int(after[0]) - int(before[0])


image, runs, *limits, read_ahead_kib, command = sys.argv[1:]
columns = zip(*(start(image, limits, read_ahead_kib, command) for _ in range(int(runs))))
print(json.dumps(dict(zip(("cold_s", "read_bytes", "reads"), map(statistics.median, columns)))))
