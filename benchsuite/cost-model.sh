#!/usr/bin/env bash
# Predicted against measured: cold starts of python3, git and Chromium from images of several compressors and block sizes, on several
# devices: reads, bytes and time, their errors, and how well the order of the times is foretold.
# usage: benchsuite/cost-model.sh [RUN-DIRECTORY]
# COLDPRESS_BENCH_TURNS: starts of each (3); COLDPRESS_BENCH_APPS, COMPRESSORS, BLOCKS, DEVICES with the same beginning: what is tried.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
turns=${COLDPRESS_BENCH_TURNS:-3}
apps=${COLDPRESS_BENCH_APPS:-python git chromium}
compressors=${COLDPRESS_BENCH_COMPRESSORS:-gzip lzo lz4 xz zstd none}
blocks=${COLDPRESS_BENCH_BLOCKS:-16K 128K 1M}
devices=${COLDPRESS_BENCH_DEVICES:-host emmc usb2 hdd}

# The command of an app: start NAME
start() {
    case $1 in
    python) command=(python3 -c 'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config') ;;
    git) command=(sh -c 'git init -q /tmp/r && cd /tmp/r && git -c user.name=a -c user.email=a@example.org
        commit -q --allow-empty -m a && git log -p') ;;
    chromium) command=(chromium --headless --no-sandbox --disable-gpu --disable-quic
        --no-first-run --disable-background-networking --disable-component-update --disable-sync
        --user-data-dir=/tmp/profile --dump-dom 'data:text/html,<p>started') ;;
    *) die "no app named $1" ;;
    esac
}

# Starts from an image and foretells it, a line of JSON for each start: measure APP COMPRESSOR BLOCK DEVICE
measure() {
    "$coldpress" -q predict "$image" --trace "$run/$1.trace" --device "$4" --json >"$work/predicted.json"
    for turn in $(seq "$turns"); do
        "$coldpress" -q explain "$image" --chroot --device "$4" --json -- "${command[@]}" >"$work/measured.json"
        python3 - "$@" "$turn" "$work/predicted.json" "$work/measured.json" >>"$run/starts.jsonl" <<'PYTHON'
import json
import sys

app, compressor, block, device, turn, predicted, measured = sys.argv[1:]
predicted, totals = json.load(open(predicted)), json.load(open(measured))["totals"]
print(json.dumps({
    "app": app, "compressor": compressor, "block": block, "device": device, "turn": int(turn),
    "predicted": {name: predicted[name] for name in ("time_s", "reads", "read_bytes", "metadata_reads", "by_cause")},
    "measured": {"time_s": totals["wall_us"] / 1e6, "reads": totals["device_reads"], "read_bytes": totals["device_bytes"],
                 "metadata_bytes": totals["metadata_bytes"]},
}))
PYTHON
    done
}

source=$work/rootfs-python
begin cost-model "${1:-}"
: >"$run/starts.jsonl"
for app in $apps; do
    source=$work/rootfs-$app
    rootfs "$source" "${app/python/python3}"
    start "$app"
    "$coldpress" -q record "$source" -o "$run/$app.trace" --chroot -- "${command[@]}"
    for compressor in $compressors; do
        for block in $blocks; do
            echo "== $app, $compressor, $block" >&2
            image=$work/cost-model.sqfs
            "$coldpress" -q build "$source" "$image" --compressor "$compressor" --block-size "$block" || [ $? = 1 ]
            for device in $devices; do
                measure "$app" "$compressor" "$block" "$device"
            done
            rm -f "$image"
        done
    done
done
python3 benchsuite/cost-model.py "$run/starts.jsonl" >"$run/cost-model.txt"
finish
