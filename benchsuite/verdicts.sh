#!/usr/bin/env bash
# Whether the verdicts of `bench launch` can be believed: cold starts of python3 from two identical images, and from two of which
# one has a slowdown of 5 % put into it.
# usage: benchsuite/verdicts.sh [RUN-DIRECTORY]
# COLDPRESS_BENCH_TRIALS: studies of each kind (20).
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
trials=${COLDPRESS_BENCH_TRIALS:-20}
mkdir -p "$work"
source=$work/rootfs-python
rootfs "$source" python3
begin verdicts "${1:-}"

# The start waits at its end for as long as a file says, whose length is always the same, so that the images differ in nothing else.
image() {
    printf '%s' "$2" >"$tree/slowdown"
    touch -d 2026-01-01 "$tree/slowdown" "$tree"
    "$coldpress" -q build "$tree" "$work/$1.sqfs"
}
tree=$work/rootfs-verdicts
rm -rf "$tree"
cp -al "$source" "$tree"
trap 'rm -rf "$tree" "$work"/{same,again,slow}.sqfs "$work/verdict"' EXIT
start=(--chroot -- /usr/bin/python3 -c
    'import json, email, http.client, asyncio, decimal, unittest, time; time.sleep(float(open("/slowdown").read()))')
# trial FILE SEED RUNS NAME=IMAGE...
trial() {
    study=(bench launch "$source" --work-dir "$work" --no-store --seed "$2" --runs "$3" --samples "$1")
    shift 3
    for image; do study+=(--image "$image"); done
    "$coldpress" -q "${study[@]}" "${start[@]}" || [ $? = 1 ]
}

image same 0.000000
cp "$work/same.sqfs" "$work/again.sqfs"
trial "$run/base.json" 1 12 "same=$work/same.sqfs" >"$run/base.txt"
slowdown_s=$(awk '$1 == "cold_s" {print ($5 == "ms" ? $4 / 1000 : $4) * 0.05}' "$run/base.txt")
image slow "$(printf '%.6f' "$slowdown_s")"
printf '\nSlowdown put into the start: %s s, 5 %% of its median.\n' "$slowdown_s" >>"$run/README.md"

# The verdicts of many studies: kind NAME RUNS IMAGE
kind() {
    for seed in $(seq "$trials"); do
        trial "$run/$1-$seed.json" "$seed" "$2" "same=$work/same.sqfs" "$1=$3" >"$work/verdict"
        grep "^ *cold_s  *$1 " "$work/verdict"
    done >"$run/$1.txt"
    sed 's/.*  //' "$run/$1.txt" | sort | uniq -c
}

# All starts of all studies as one table.
samples() {
    python3 - "$run" <<'PYTHON'
import csv, glob, json, os, re, sys
run = sys.argv[1]
with open(os.path.join(run, "samples.csv"), "w", newline="") as out:
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["study", "trial", "contestant", "turn", "excluded", "cold_s", "warm_s", "reads"])
    key = lambda path: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", os.path.basename(path))]
    for path in sorted(glob.glob(os.path.join(run, "*.json")), key=key):
        kind, _, trial = os.path.basename(path).removesuffix(".json").partition("-")
        study = json.load(open(path))["studies"][0]
        for start in study["runs"]:
            name = study["contestants"][start["contestant"]]["name"]
            figures = [start["figures"].get(figure, "") for figure in ("cold_s", "warm_s", "reads")]
            table.writerow([kind, trial, name, start["turn"] + 1, start["excluded"] or "", *figures])
        os.remove(path)
PYTHON
}
{
    printf '\nTwo identical images, 10 runs of each; verdicts of %s studies:\n\n' "$trials"
    kind again 10 "$work/again.sqfs"
    printf '\nOne with the slowdown, 30 runs of each; verdicts of %s studies:\n\n' "$trials"
    kind slow 30 "$work/slow.sqfs"
} | sed 's/^ /    /' >>"$run/README.md"
samples
tail -n 20 "$run/README.md"
finish
