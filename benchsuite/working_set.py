#!/usr/bin/env python3
"""What working-set.sh computes.

usage: working_set.py order KERNEL-LIST... -- FUSE-LIST...
       working_set.py counters EXPLAIN.json

`order` reads lists of paths, each before a NUL, in the order of their first access, and prints the least and the median rank
correlation (Spearman) of those of one recorder with those of the other, and the least among those of the first: what is drawn
anew with each start. Paths that one of two lists lacks do not count.

`counters` prints how far reads and bytes by the events are from those that the device counted, in percent, and both counts.
"""

import itertools
import json
import statistics
import sys


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


if sys.argv[1:2] == ["order"] and "--" in sys.argv:
    order(sys.argv[2:])
elif sys.argv[1:2] == ["counters"] and len(sys.argv) == 3:
    counters(sys.argv[2])
else:
    sys.exit(__doc__)
