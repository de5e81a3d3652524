#!/usr/bin/env python3
"""Runs commands in turns and compares them.

usage: turns.py NAME TURNS RESULT.json [PREPARE] < contestants

Each line of the standard input is LABEL<tab>OUTPUT<tab>COMMAND. The first is the reference of the ratios. OUTPUT is the
file whose size is told, or a directory ("-" for none); it is removed before and after each run. A command that prints "SECONDS s" as its first
words is timed by that (a limit that leaves its preparation out). PREPARE is a command that is run before each, untimed. Prints a
table in Markdown.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time


def remove(output):
    if os.path.isdir(output):
        shutil.rmtree(output)
    elif output != "-" and os.path.exists(output):
        os.unlink(output)


def run(output, command, prepare):
    remove(output)
    if prepare:
        subprocess.run(["bash", "-c", prepare], check=True)
    os.sync()
    started = time.monotonic()
    child = subprocess.Popen(["bash", "-c", "exec " + command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - started
    # 1 is done with warnings, such as an ACL that no SquashFS can hold.
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"turns.py: failed: {command}\n{err.decode(errors='replace')}")
    words = out.split()
    if len(words) > 1 and words[1] == b"s":
        seconds = float(words[0])
    size = os.path.getsize(output) if os.path.isfile(output) else None
    # At once, so that every run finds the same memory free.
    remove(output)
    return {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_kib": usage.ru_maxrss,
        "bytes": size,
    }


def main():
    name, turns, result = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    prepare = sys.argv[4] if len(sys.argv) > 4 else None
    contestants = [line.rstrip("\n").split("\t") for line in sys.stdin if line.strip()]
    samples = {label: [] for label, _, _ in contestants}
    for turn in range(turns):
        # Each second turn backwards, so that nobody always follows the same one.
        order = contestants if turn % 2 == 0 else contestants[::-1]
        for label, output, command in order:
            print(f"{name} {turn + 1}/{turns}: {label}", file=sys.stderr)
            samples[label].append(run(output, command, prepare))
    with open(result, "w") as file:
        json.dump({"name": name, "commands": {label: command for label, _, command in contestants},
                   "samples": samples}, file, indent=1)
    reference = samples[contestants[0][0]]
    print(f"\n## {name}\n")
    print("| contestant | seconds | ratio (least, most) | cpu s | peak MiB | bytes | size ratio |")
    print("|---|---|---|---|---|---|---|")
    for label, _, _ in contestants:
        mine = samples[label]
        ratios = [a["seconds"] / b["seconds"] for a, b in zip(mine, reference)]
        median = lambda key: statistics.median(sample[key] for sample in mine)
        size = mine[0]["bytes"]
        sizes = ("", "") if size is None else (f"{size:,}", f"{size / (reference[0]['bytes'] or size):.4f}")
        print(f"| {label} | {median('seconds'):.2f} | {statistics.median(ratios):.3f} "
              f"({min(ratios):.3f}, {max(ratios):.3f}) | {median('cpu_seconds'):.1f} | {median('peak_kib') / 1024:.0f} "
              f"| {sizes[0]} | {sizes[1]} |")


main()
