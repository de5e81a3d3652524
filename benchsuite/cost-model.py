#!/usr/bin/env python3
"""Compares predicted starts with measured ones.

usage: cost-model.py STARTS.jsonl

Prints a table in Markdown of medians over turns with errors in percent, and sums: Spearman's correlation of predicted and measured times,
the median error of the times, and how many reads and bytes are within 5 %.
"""

import collections
import json
import statistics
import sys


def ranks(values):
    order = sorted(range(len(values)), key=lambda at: values[at])
    ranks = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for place in order[at:end + 1]:
            ranks[place] = (at + end) / 2
        at = end + 1
    return ranks


def spearman(one, other):
    return statistics.correlation(ranks(one), ranks(other)) if len(one) > 2 else float("nan")


def error(predicted, measured):
    return 100 * (predicted / measured - 1)


starts = collections.defaultdict(list)
for line in open(sys.argv[1]):
    start = json.loads(line)
    starts[start["app"], start["compressor"], start["block"], start["device"]].append(start)

print("| app | compressor | block | device | reads | predicted | MB | predicted | s | predicted | errors in % |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
rows = []
for key, turns in starts.items():
    measured = {name: statistics.median(turn["measured"][name] for turn in turns) for name in ("time_s", "reads", "read_bytes")}
    predicted = turns[0]["predicted"]
    errors = [error(predicted[name], measured[name]) for name in ("reads", "read_bytes", "time_s")]
    rows.append((key, predicted, measured, errors))
    print(f"| {' | '.join(key)} | {measured['reads']:.0f} | {predicted['reads']} | {measured['read_bytes'] / 1e6:.2f} "
          f"| {predicted['read_bytes'] / 1e6:.2f} | {measured['time_s']:.3f} | {predicted['time_s']:.3f} "
          f"| {' '.join(f'{error:+.1f}' for error in errors)} |")

print()
apps = sorted({row[0][0] for row in rows})
for app in apps + ["all"]:
    some = [row for row in rows if app in (row[0][0], "all")]
    rho = spearman([row[1]["time_s"] for row in some], [row[2]["time_s"] for row in some])
    near = [sum(abs(row[3][which]) <= 5 for row in some) for which in (0, 1)]
    middle = [statistics.median(abs(row[3][which]) for row in some) for which in range(3)]
    print(f"{app}: {len(some)} cases, Spearman {rho:.3f}, median error of time {middle[2]:.1f} %, of reads {middle[0]:.1f} %, of bytes "
          f"{middle[1]:.1f} %; within 5 %: reads {near[0]}, bytes {near[1]}")
