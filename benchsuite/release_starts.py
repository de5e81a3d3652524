#!/usr/bin/env python3
"""Cold starts of the images of releases.py, measured in turn.

usage: release_starts.py COLDPRESS WORK RUN NAME...    NAME is a pair of releases.py whose images WORK has
Writes RUN/NAME-DEVICE-starts.json, the samples, and prints a table in Markdown.
COLDPRESS_BENCH_TURNS: cold starts of each image (5).
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

source = (pathlib.Path(__file__).parent / "releases.py").read_text()
releases = {"__name__": "releases"}
exec(compile(source.replace("\nmain()\n", "\n"), "releases.py", "exec"), releases)
coldpress, work, run = releases["coldpress"], releases["work"], releases["run"]
IMAGES = {"mksquashfs": "mksquashfs", "coldpress": "coldpress", "stability-0.2": "stable-0.2", "stability-0.5": "stable-0.5",
          "stability-1": "stable-1"}
SHELL = ('root=$1; program=$2; shift 2; lib=$root/usr/lib; '
         'export LD_LIBRARY_PATH=$lib/libreoffice/program:$lib/x86_64-linux-gnu; '
         'case $program in /*) ;; *) program=$root/$program ;; esac; exec "$program" "$@"')


def main():
    print("| pair | device | image | s | beside the best | reads | MB | predicted s |\n|---|---|---|---|---|---|---|---|")
    for name in sys.argv[4:]:
        command = releases["PAIRS"][name][3]
        at = work / f"{name}-new"
        for device in ("usb2", "host"):
            samples = run / f"{name}-{device}-starts.json"
            contestants = [word for label, file in IMAGES.items() for word in ("--image", f"{label}={at / file}.sqfs")]
            subprocess.run([coldpress, "-q", "bench", "launch", at / "root", *contestants, "--device", device, "--runs",
                            os.environ.get("COLDPRESS_BENCH_TURNS", "5"), "--no-store", "--work-dir", work, "--samples", samples,
                            "--", "/bin/sh", "-c", SHELL, "sh", "{root}", *command],
                           env={**os.environ, "HOME": str(at / "home")}, stdout=subprocess.DEVNULL, check=False)
            study = json.load(open(samples))["studies"][0]
            figures = {}
            for start in study["runs"]:
                if not start["excluded"]:
                    figures.setdefault(study["contestants"][start["contestant"]]["name"], []).append(start["figures"])
            median = lambda label, figure: statistics.median(found[figure] for found in figures[label])
            best_s = min(median(label, "cold_s") for label in figures)
            for label in figures:
                said = subprocess.run([coldpress, "-q", "predict", at / f"{IMAGES[label]}.sqfs", "--trace", at / "trace", "--device", device,
                                       "--warm", str(median(label, "warm_s")), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      check=False)
                print(f"| {name} | {device} | {label} | {median(label, 'cold_s'):.3f} | {median(label, 'cold_s') / best_s:.2f} "
                      f"| {median(label, 'reads'):.0f} | {median(label, 'read_bytes') / 1e6:.2f} | {json.loads(said.stdout)['time_s']:.3f} |",
                      flush=True)


main()
