#!/usr/bin/env python3
"""Compares predicted starts with measured ones.

usage: cost-model.py warm SAMPLES...      the median time of a warm start
       cost-model.py compare DIRECTORY    predicted.jsonl there with the samples of APPLICATION-DEVICE.json

Prints a table in Markdown of medians over starts with errors in percent, and sums: Spearman's correlation of predicted and measured
times, the median error of the times, how many reads and bytes are within 5 %, and how often the image that is predicted to start
fastest is within 5 % of the one that does.
"""

import collections
import glob
import json
import os
import statistics
import sys

FIGURES = ("cold_s", "reads", "read_bytes")
PREDICTED = ("time_s", "reads", "read_bytes")


def runs(path):
    """Name of the contestant and figures of each start that counts."""
    for study in json.load(open(path))["studies"]:
        for start in study["runs"]:
            if not start["excluded"]:
                yield study["contestants"][start["contestant"]]["name"], start["figures"]


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


def measured(directory):
    """Medians of FIGURES by application, device and image."""
    starts = collections.defaultdict(list)
    for path in glob.glob(os.path.join(directory, "*-*.json")):
        app, _, device = os.path.basename(path).removesuffix(".json").rpartition("-")
        for image, figures in runs(path):
            starts[app, device, image].append(figures)
    return {key: [statistics.median(start[name] for start in some) for name in FIGURES] for key, some in starts.items()}


def compare(directory):
    found = measured(directory)
    rows = []
    print("| app | device | image | s | predicted | reads | predicted | MB | predicted | errors in % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for line in open(os.path.join(directory, "predicted.jsonl")):
        case = json.loads(line)
        key = case["app"], case["device"], case["image"]
        if key not in found:
            continue
        predicted = [case["predicted"][name] for name in PREDICTED]
        errors = [100 * (one / other - 1) for one, other in zip(predicted, found[key])]
        rows.append((key, predicted, found[key], errors))
        (time_s, reads, read_bytes), (p_time_s, p_reads, p_bytes) = found[key], predicted
        print(f"| {' | '.join(key)} | {time_s:.3f} | {p_time_s:.3f} | {reads:.0f} | {p_reads} | {read_bytes / 1e6:.2f} "
              f"| {p_bytes / 1e6:.2f} | {' '.join(f'{error:+.1f}' for error in errors)} |")
    print()
    for at, name in ((0, "app"), (1, "device"), (None, "all")):
        for one in sorted({row[0][at] for row in rows}) if at is not None else ["all"]:
            summary(one, [row for row in rows if at is None or row[0][at] == one])
    choices(rows)


def summary(name, rows):
    middle = [statistics.median(abs(row[3][which]) for row in rows) for which in range(3)]
    near = [sum(abs(row[3][which]) <= 5 for row in rows) for which in (1, 2)]
    rho = spearman([row[1][0] for row in rows], [row[2][0] for row in rows])
    print(f"{name}: {len(rows)} cases, Spearman {rho:.3f}, median error of time {middle[0]:.1f} %, of reads {middle[1]:.1f} %, "
          f"of bytes {middle[2]:.1f} %; within 5 %: reads {near[0]}, bytes {near[1]}")


def choices(rows):
    cases = collections.defaultdict(list)
    for key, predicted, found, _ in rows:
        cases[key[:2]].append((predicted[0], found[0], key[2]))
    good = 0
    for case, images in sorted(cases.items()):
        chosen, best = min(images), min(images, key=lambda image: image[1])
        good += chosen[1] <= 1.05 * best[1]
        print(f"{' '.join(case)}: chosen {chosen[2]} {chosen[1]:.3f} s, best {best[2]} {best[1]:.3f} s, {100 * (chosen[1] / best[1] - 1):+.1f} %")
    print(f"the choice is within 5 % of the best in {good} of {len(cases)} cases")


if sys.argv[1] == "warm":
    print(statistics.median(figures["warm_s"] for path in sys.argv[2:] for _, figures in runs(path)))
else:
    compare(sys.argv[2])
