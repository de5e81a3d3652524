#!/usr/bin/env python3
"""Which image `coldpress pick` takes, beside the one that measured starts say is best.

usage: pick.py COLDPRESS RUN INDEX-DIRECTORY [APPLICATION...]
RUN holds the samples of cost-model.sh, INDEX-DIRECTORY an index for each application, APPLICATION.json.

A case is an application, a device and a reader: any kernel, and each target of `coldpress doctor`. For each, pick chooses among
the images that were measured on the device; the choice is good if its measured start is within 5 % of the best of those
that the reader reads. Prints a table in Markdown.
"""

import collections
import glob
import json
import os
import statistics
import subprocess
import sys

DEVICES = ("host", "emmc", "usb2", "hdd")
ANY = "any Linux"
coldpress, run, indexes, *APPS = sys.argv[1:]


def call(*words):
    done = subprocess.run([coldpress, "-q", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if not done.stdout or "another machine" in done.stderr:
        sys.exit(f"pick.py: {words}: {done.stderr}")
    return done.returncode, json.loads(done.stdout)


def measured():
    """Median starts in s by application, device and image, and sizes by application and image."""
    starts, sizes = collections.defaultdict(list), {}
    for path in glob.glob(os.path.join(run, "*-*.json")):
        app, _, device = os.path.basename(path).removesuffix(".json").rpartition("-")
        for study in json.load(open(path))["studies"]:
            names = [contestant["name"] for contestant in study["contestants"]]
            for contestant in study["contestants"]:
                sizes[app, contestant["name"]] = contestant["figures"]["size_bytes"]
            for start in study["runs"]:
                if not start["excluded"]:
                    starts[app, device, names[start["contestant"]]].append(start["figures"]["cold_s"])
    return {key: statistics.median(some) for key, some in starts.items()}, sizes


def readers():
    """What each target reads, and a reader that reads all."""
    found = {ANY: {"gzip", "lzo", "lz4", "xz", "zstd"}}
    for target in call("doctor", "--target", "list", "--json")[1]:
        found[target["name"]] = {name for name, known in target["compressors"].items() if known == "yes"}
    return found


def compressor(image):
    # An image without compression names gzip.
    return image.split("-")[0].replace("none", "gzip")


def pick(index, device, reader):
    """What pick says, with the speeds of the machine that was measured."""
    target = os.path.join(indexes, "everything.config") if reader == ANY else reader
    return call("pick", index, "--device", device, "--json", "--target", target)[1]


def fitted(points):
    """Slope and intercept of the line through points, neither below 0."""
    slope = statistics.linear_regression(*zip(*points))
    if slope.intercept >= 0 and slope.slope >= 0:
        return slope.slope, slope.intercept
    return sum(x * y for x, y in points) / sum(x * x for x, _ in points), 0.0


def calibration():
    """What `calibrate` found on the machine that was measured. The run did not keep it, but predictions were made with it: their
    times by cause tell the speeds. Says that it is of the machine that this runs on, for others would not be used."""
    rows = [json.loads(line) for line in open(os.path.join(run, "predicted.jsonl"))]
    rows = [(row["image"].split("-"), row["predicted"]) for row in rows if row["device"] == "host"]
    copy = 4e9
    stored = [found for (compressor, _), found in rows if compressor == "none"]
    fill_page_s = sum(found["by_cause"]["decompress_s"] for found in stored) / sum(found["page_cache_bytes"] for found in stored) * 4096
    page_s = fill_page_s - 4096 / copy
    decompression = []
    for compressor in ("gzip", "lzo", "lz4", "xz", "zstd"):
        blocks = []
        for block, block_bytes in (("16K", 16 << 10), ("128K", 128 << 10), ("1M", 1 << 20)):
            some = [found for name, found in rows if name == [compressor, block]]
            filling_s = sum(found["page_cache_bytes"] for found in some) / 4096 * page_s
            whole_s = sum(found["by_cause"]["decompress_s"] for found in some) - filling_s
            time_s = whole_s / sum(found["decompressed_bytes"] for found in some) * block_bytes
            blocks.append({"block_bytes": block_bytes, "time_s": max(time_s - block_bytes / copy, 1e-7), "ratio": 0.5})
        slope, block_s = fitted([(block["block_bytes"], block["time_s"]) for block in blocks])
        decompression.append({"compressor": compressor, "block_s": block_s, "bytes_per_s": 1 / max(slope, 1e-12), "blocks": blocks})
    waits = [((found["read_bytes"] - found["metadata_bytes"]) / (found["reads"] - found["metadata_reads"]),
              found["by_cause"]["data_wait_s"] / (found["reads"] - found["metadata_reads"])) for _, found in rows]
    per_byte_s, request_s = fitted(waits)
    here = call("doctor", "--json")[1][0]["here"]
    model = next(line.split(": ")[1] for line in open("/proc/cpuinfo") if line.startswith("model name"))
    return {
        "version": 1,
        "machine": {"kernel": here["kernel"], "architecture": here["architecture"], "cpu_model": model.strip(),
                    "cores": os.cpu_count(), "squashfs_decompressor": here["decompressor"]},
        "media": {"calibrated": {
            "made_unix_ms": 0, "path": run, "request_s": request_s + 4096 * per_byte_s,
            "large_request_s": request_s + (128 << 10) * per_byte_s, "huge_request_s": request_s + (1 << 20) * per_byte_s,
            "bandwidth_bytes_per_s": 1 / per_byte_s, "reads_per_s": 1 / request_s, "reads_in_flight": 8,
            "read_ahead_bytes": 131072}},
        "memory": {"made_unix_ms": 0, "copy_bytes_per_s": copy, "fault_s": 5e-6, "pages_per_fault": 16.0},
        "reader": {
            "made_unix_ms": 0, "is_kernel": True, "fill_page_s": fill_page_s, "stored_block_s": 5e-6, "lookup_s": 5.5e-6,
            "lookup_reads": None, "threads": 2, "threads_gain": 1.0, "decompression": decompression},
    }


def everything():
    """The configuration of a kernel with all compressors."""
    names = ["SQUASHFS", "SQUASHFS_XATTR", *("SQUASHFS_" + name for name in ("ZLIB", "LZO", "LZ4", "XZ", "ZSTD"))]
    text = "".join(f"CONFIG_{name}=y\n" for name in names)
    open(os.path.join(indexes, "everything.config"), "w").write(text + "CONFIG_X86_64=y\nCONFIG_X86=y\n")


def main():
    starts, sizes = measured()
    everything()
    kept = os.path.abspath(os.path.join(indexes, "calibration"))
    json.dump(calibration(), open(kept, "w"))
    os.environ["COLDPRESS_CALIBRATION"] = kept
    abilities = readers()
    total, good, unread, alone = collections.Counter(), collections.Counter(), 0, []
    for app in sorted(APPS or {key[0] for key in starts}):
        index = os.path.join(indexes, f"{app}.json")
        differ = [image["size_bytes"] / sizes[app, os.path.splitext(image["file"])[0].removeprefix(f"{app}-")] - 1
                  for image in json.load(open(index))["images"]]
        print(f"{app}: sizes of the images beside those that were measured: {min(differ):+.2%} to {max(differ):+.2%}")
        for device in DEVICES:
            names = [image for one, at, image in starts if (one, at) == (app, device)]
            part = os.path.join(indexes, f"{app}-{device}.json")
            document = json.load(open(index))
            document["images"] = [image for image in document["images"]
                                  if os.path.splitext(image["file"])[0].removeprefix(f"{app}-") in names]
            json.dump(document, open(part, "w"))
            for reader, compressors in abilities.items():
                readable = [name for name in names if compressor(name) in compressors]
                choice = pick(part, device, reader)
                taken = choice["taken"]
                if taken is None:
                    assert not readable, (app, device, reader)
                    continue
                taken = os.path.splitext(choice["options"][taken]["file"])[0].removeprefix(f"{app}-")
                unread += taken not in readable
                best = min(readable, key=lambda name: starts[app, device, name])
                ratio = starts[app, device, taken] / starts[app, device, best]
                total[reader] += 1
                good[reader] += ratio <= 1.05
                if reader == ANY:
                    alone.append((app, device, taken, starts[app, device, taken], best, starts[app, device, best], ratio))
    print("\n| start | device | pick takes | s | best measured | s | ratio |\n|---|---|---|---|---|---|---|")
    for app, device, taken, taken_s, best, best_s, ratio in alone:
        print(f"| {app} | {device} | {taken} | {taken_s:.3f} | {best} | {best_s:.3f} | {ratio:.2f} |")
    print("\n| reader | reads | cases | within 5 % |\n|---|---|---|---|")
    for reader in total:
        print(f"| {reader} | {' '.join(sorted(abilities[reader]))} | {total[reader]} | {good[reader]} |")
    print(f"| all | | {sum(total.values())} | {sum(good.values())}, {sum(good.values()) / sum(total.values()):.1%} |")
    print(f"\n{len(starts)} measured images; images that the reader does not read were taken {unread} times")


main()
