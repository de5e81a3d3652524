#!/usr/bin/env python3
"""What working-set.sh computes.

usage: working_set.py placed SOURCE PLAN...
       working_set.py order KERNEL-LIST... -- FUSE-LIST...
       working_set.py counters EXPLAIN.json

`placed` reads plans for a source and prints how much of what any of them places all of them do, in percent: bytes of data, inodes and
listings.

`order` reads lists of paths, each before a NUL, in the order of their first access, and prints the least and the median rank
correlation (Spearman) of those of one recorder with those of the other, and the least among those of the first: what is drawn
anew with each start. Paths that one of two lists lacks do not count.

`counters` prints how far reads and bytes by the events are from those that the device counted, in percent, and both counts.
"""

import itertools
import json
import os
import re
import statistics
import sys

BLOCK_BYTES = 128 << 10


def placed(source, names):
    plans = [Plan(source, name) for name in names]
    shares = []
    for part in ("data", "inodes", "directories"):
        parts = [getattr(plan, part) for plan in plans]
        weights = {}
        for part in parts:
            weights.update(part)
        common = set.intersection(*(set(part) for part in parts))
        shares.append(sum(weights[thing] for thing in common) / max(sum(weights.values()), 1))
    # Rounded down, as coldpress does.
    print(*(f"{int(share * 1000) / 10}" for share in shares))


class Plan:
    """What a plan places, each thing with its weight."""

    def __init__(self, source, name):
        self.data, self.inodes, self.directories = {}, {}, {}
        section = None
        with open(name, "rb") as file:
            lines = [line.rstrip(b"\n") for line in file][1:]
        for line in filter(None, lines):
            if line.startswith(b"["):
                section = line.strip(b"[]").decode()
            elif section in ("inodes", "directories"):
                getattr(self, section)[line] = 1
            elif line.startswith((b"blocks ", b" ")):
                path = line.partition(b" ")[2].lstrip(b" ")
                size = os.lstat(os.fsencode(source) + unescaped(path)).st_size
                tail = size % BLOCK_BYTES
                if line.startswith(b"blocks "):
                    self.data[path, "blocks"] = size - tail
                # A tail end that no fragment block has follows the blocks.
                self.data[path, "tail"] = tail


def unescaped(path):
    known = {b"n": b"\n", b"t": b"\t", b"r": b"\r"}
    return re.sub(
        rb"\\(x[0-9a-f]{2}|.)",
        lambda found: bytes.fromhex(found[1][1:].decode()) if len(found[1]) == 3 else known.get(found[1], found[1]),
        path,
    )


def read(name):
    with open(name, "rb") as file:
        return file.read().split(b"\0")[:-1]


def correlation(one, other):
    """Of the ranks of what both lists have; nothing is twice in a list."""
    common = set(one) & set(other)
    ranks = [{path: rank for rank, path in enumerate(path for path in paths if path in common)} for paths in (one, other)]
    count = len(common)
    if count < 2:
        return 1.0
    squares = sum((rank - ranks[1][path]) ** 2 for path, rank in ranks[0].items())
    return 1 - 6 * squares / (count * (count * count - 1))


def order(names):
    middle = names.index("--")
    ours, others = ([read(name) for name in part] for part in (names[:middle], names[middle + 1 :]))
    between = [correlation(one, other) for one in ours for other in others]
    among = [correlation(one, other) for one, other in itertools.combinations(ours, 2)]
    print(f"{min(between):.4f} {statistics.median(between):.4f} {min(among, default=1.0):.4f}")


def counters(name):
    with open(name, encoding="utf-8") as file:
        totals = json.load(file)["totals"]
    apart = max(
        abs(totals[told] - totals[counted]) / totals[counted]
        for told, counted in (("reads", "device_reads"), ("read_bytes", "device_bytes"))
    )
    print(f"{apart * 100:.2f} {totals['reads']} {totals['device_reads']} {totals['read_bytes']} {totals['device_bytes']}")


if sys.argv[1:2] == ["placed"] and len(sys.argv) > 3:
    placed(sys.argv[2], sys.argv[3:])
elif sys.argv[1:2] == ["order"] and "--" in sys.argv:
    order(sys.argv[2:])
elif sys.argv[1:2] == ["counters"] and len(sys.argv) == 3:
    counters(sys.argv[2])
else:
    sys.exit(__doc__)
