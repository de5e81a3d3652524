"""Reads and bytes of predicted and measured starts with several readaheads, as a table of Markdown.

usage: readahead.py TITLE PREDICTED.json STUDY.json, of `predict --readahead --json` and `bench launch
--samples`.
"""

import json
import statistics
import sys


def medians(study):
    """For each contestant, in order, the medians of seconds, reads and bytes."""
    for place in range(len(study["contestants"])):
        runs = [run["figures"] for run in study["runs"] if run["contestant"] == place and not run["excluded"]]
        yield [statistics.median(run[name] for run in runs) for name in ("cold_s", "reads", "read_bytes")]


title, predicted, measured = sys.argv[1:]
with open(predicted) as file:
    rows = json.load(file)["by_readahead"]
with open(measured) as file:
    (study,) = json.load(file)["studies"]
print(f"\n## {title}\n\n| readahead | start | reads | MB | predicted | reads | MB |\n|---|---|---|---|---|---|---|")
errors = []
for row, (cold_s, reads, size_bytes) in zip(rows, medians(study), strict=True):
    told = [row["reads"], row["read_bytes"]]
    errors.append([told[0] / reads - 1, told[1] / size_bytes - 1])
    print(
        f"| {row['readahead']} | {cold_s:.2f} s | {reads:.0f} | {size_bytes / 1e6:.1f}"
        f" | {row['time_s']:.2f} s | {told[0]} | {told[1] / 1e6:.1f} |"
    )
print()
for name, column in zip(("reads", "bytes"), zip(*errors)):
    percents = [abs(error) * 100 for error in column]
    print(f"Error of {name}: median {statistics.median(percents):.1f} %, largest {max(percents):.1f} %.")
