#!/usr/bin/env python3
"""What tune recommends against what was measured.

usage: tuner.py candidates TUNED TRACE    what to build beside the recommended image, and that: the name and the options, a line for each
       tuner.py compare DIRECTORY         APPLICATION-DEVICE.tune.json there with the samples of APPLICATION-DEVICE.json
       tuner.py keep DIRECTORY            leaves in each APPLICATION-DEVICE.tune.json there what was recommended, measured, or is a tool's default
       tuner.py spent DIRECTORY           the same of APPLICATION-COMPRESSOR-DEVICE, of an image that spends a size budget and one that does not
"""

import collections
import glob
import json
import os
import statistics
import sys

# Images whose times differ by less are called equal, as tune does.
EQUAL = 1.03
TODAY = ("mksquashfs", "snap", "Tails", "enroot", "appimagetool")


def name(row):
    words = [row["compressor"] or "none"]
    if row["compressor"] and row["level"] is not None:
        words.append(str(row["level"]))
    words.append(f"{row['block_size_bytes'] >> 10}K")
    words += {"none": ["nofragments"], "all": ["alltails"]}.get(row["tails"], []) + ["unsorted"] * (row["order"] == "tree")
    return "-".join(words)


def options(row, trace):
    words = ["-c", row["compressor"] or "none", "-b", str(row["block_size_bytes"]), "--tails", row["tails"]]
    # The default of xz has no number.
    if row["compressor"] and row["level"] is not None and row["compressor"] != "xz":
        words += ["-l", str(row["level"])]
    if row["order"] != "tree":
        words += ["--profile", trace]
    return words


def images(tuned):
    """The recommended image, all that could be, and the defaults of tools."""
    said = json.load(open(tuned))
    ours = [row for row in said["images"] if not row["default_of"]]
    return said["images"][said["recommended"]], ours, [row for row in said["images"] if row["default_of"]]


def candidates(tuned, trace):
    chosen, ours, _ = images(tuned)
    best = {chosen["compressor"]: chosen}
    for row in sorted(ours, key=lambda row: (row["predicted_s"], row["level"] or 0)):
        best.setdefault(row["compressor"], row)
    others = (row for row in ours if row["compressor"] == chosen["compressor"] and row["block_size_bytes"] != chosen["block_size_bytes"])
    best["another block size"] = min(others, key=lambda row: row["predicted_s"])
    for row in best.values():
        print(name(row), *options(row, trace))


def compare(directory):
    near, total, errors, summary = 0, 0, [], []
    for path in sorted(glob.glob(os.path.join(directory, "*.tune.json"))):
        case = os.path.basename(path).removesuffix(".tune.json")
        if not os.path.exists(os.path.join(directory, f"{case}.json")):
            continue
        recommended, ours, defaults = images(path)
        chosen = name(recommended)
        predicted = {name(row): row["predicted_s"] for row in ours} | {row["default_of"]: row["predicted_s"] for row in defaults}
        expected = {name(row): row["predicted_size_bytes"] for row in ours}
        times, sizes = measured(os.path.join(directory, f"{case}.json"))
        errors += [abs(expected[image] / sizes[image] - 1) for image in times if image in expected]
        print(f"## {case}\n")
        print("| image | MB | cold start s | of the recommended | predicted s |")
        print("|---|---|---|---|---|")
        for image in sorted(times, key=times.get):
            mark = "**" if image == chosen else ""
            print(f"| {mark}{image}{mark} | {sizes[image] / 1e6:.1f} | {times[image]:.3f} | {times[image] / times[chosen]:.2f} "
                  f"| {predicted.get(image, float('nan')):.3f} |")
        best = min((image for image in times if image not in TODAY), key=times.get)
        is_near = times[chosen] <= 1.05 * times[best]
        near, total = near + is_near, total + 1
        fastest = min(TODAY, key=times.get)
        summary.append(f"| {', '.join(case.rsplit('-', 1))} | {chosen} | {times[chosen]:.3f} | {best} {times[best]:.3f} | {times[chosen] / times[best]:.2f} | "
                       f"{fastest} {times[fastest]:.3f} | {times['appimagetool'] / times[chosen]:.2f} | {sizes[chosen] / 1e6:.0f} | "
                       f"{100 * (expected[chosen] / sizes[chosen] - 1):+.1f} % |")
        equal = [sizes[image] for image in times if times[image] <= EQUAL * times[chosen]]
        slower = [image for image in TODAY if times[image] * EQUAL < times[chosen]]
        print(f"\nthe recommended one takes {times[chosen] / times[best]:.2f} of the best ({best}), {times[chosen] / times['appimagetool']:.2f} of "
              f"zstd 128K unsorted, is {100 * (sizes[chosen] / min(equal) - 1):+.1f} % larger than the smallest that is as fast; faster defaults: "
              f"{', '.join(slower) or 'none'}\n")
    print("| start | recommended | s | best of these s | ratio | fastest default s | zstd 128K unsorted takes | MB | predicted |")
    print("|---|---|---|---|---|---|---|---|---|")
    print("\n".join(summary))
    print(f"\nwithin 5 % of the best in {near} of {total} cases")
    print(f"sizes of {len(errors)} images are predicted within {100 * max(errors):.2f} %, in the median within "
          f"{100 * statistics.median(errors):.2f} %")


def keep(directory):
    """Of 213 candidates a search names, some 20 are ever built: the others can be searched for again."""
    for path in sorted(glob.glob(os.path.join(directory, "*.tune.json"))):
        case = os.path.basename(path).removesuffix(".tune.json")
        times, _ = measured(os.path.join(directory, f"{case}.json"))
        said = json.load(open(path))
        chosen = said["images"][said["recommended"]]
        rows = [row for row in said["images"] if row is chosen or row["default_of"] or name(row) in times]
        said["recommended"], said["images"] = rows.index(chosen), rows
        with open(path, "w") as file:
            json.dump(said, file, indent=2)


def spent(directory):
    print("| start | compressor | spent | predicted | start s | with it s | measured |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted(glob.glob(os.path.join(directory, "*.tune.json"))):
        case = os.path.basename(path).removesuffix(".tune.json")
        application, compressor, device = case.rsplit("-", 2)
        chosen, ours, _ = images(path)
        if not chosen["hot_blocks_stored"]:
            print(f"| {application}, {device} | {compressor} | nothing is worth it | | | | |")
            continue
        alike = ("compressor", "level", "block_size_bytes", "tails", "order")
        plain = next(row for row in ours if not row["hot_blocks_stored"] and all(row[key] == chosen[key] for key in alike))
        times, sizes = measured(os.path.join(directory, f"{case}.json"))
        percent = lambda more, less: f"{100 * (more / less - 1):+.1f} %"
        print(f"| {application}, {device} | {compressor} | {percent(sizes['spent'], sizes['unspent'])} | "
              f"{percent(chosen['predicted_s'], plain['predicted_s'])} | {times['unspent']:.3f} | {times['spent']:.3f} | "
              f"{percent(times['spent'], times['unspent'])} |")


def measured(path):
    """Median time of a cold start, and size, by image."""
    times, sizes = collections.defaultdict(list), {}
    for study in json.load(open(path))["studies"]:
        for start in study["runs"]:
            contestant = study["contestants"][start["contestant"]]
            sizes[contestant["name"]] = contestant["figures"]["size_bytes"]
            if not start["excluded"]:
                times[contestant["name"]].append(start["figures"]["cold_s"])
    return {image: statistics.median(some) for image, some in times.items()}, sizes


{"candidates": candidates, "compare": compare, "keep": keep, "spent": spent}[sys.argv[1]](*sys.argv[2:])
