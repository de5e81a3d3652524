#!/usr/bin/env bash
# What a size budget buys: of the image that tune recommends with one compressor at 128K and 4 % to spend, and the same
# image with nothing spent, cold starts in turn, against what was predicted.
# usage: benchsuite/size-budget.sh [RUN-DIRECTORY [APPLICATION...]]
# COLDPRESS_BENCH_TURNS: cold starts of each image (8); COLDPRESS_BENCH_DEVICES: from where; COLDPRESS_BENCH_COMPRESSORS: of which.
# What is measured already stays.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
images=$work/size-budget
mkdir -p "$images"
read -ra devices <<<"${COLDPRESS_BENCH_DEVICES:-host usb2}"
read -ra compressors <<<"${COLDPRESS_BENCH_COMPRESSORS:-gzip xz zstd}"

# The image of a plan: planned PLAN IMAGE, by the command that tune printed with PLAN.
planned() {
    read -ra words < <(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["build"])' "$said")
    words=("${words[@]/#IMAGE/$2}")
    words=("${words[@]/#PLAN/$1}")
    "$coldpress" -q "${words[@]:1}" 2>"$work/errors" || [ $? = 1 ]
}

# Both images of a compressor on a device, and their starts: spend COMPRESSOR DEVICE
spend() {
    case=$name-$1-$2
    said=$run/$case.tune.json
    [ ! -e "$run/$case.json" ] || return 0
    echo "== $name, $1, $2" >&2
    budget=(--trace "$images/$name.trace" --device "$2" -c "$1" -b 128K --size-budget +4%)
    "$coldpress" -q tune "$source" "${budget[@]}" --plan-out "$images/plan" --json >"$said" 2>"$work/errors" || [ $? = 1 ]
    sed -i "s|--plan $images/plan|--plan PLAN|" "$said"
    grep -q '^\[packing\]' "$images/plan" || { echo '{"studies": []}' >"$run/$case.json"; return 0; }
    sed '/^\[packing\]/,$d' "$images/plan" >"$images/unspent"
    planned "$images/plan" "$images/spent.sqfs"
    planned "$images/unspent" "$images/unspent.sqfs"
    "$coldpress" -q bench launch "$source" --image "unspent=$images/unspent.sqfs" --image "spent=$images/spent.sqfs" --device "$2" \
        --runs "${COLDPRESS_BENCH_TURNS:-8}" --no-store --work-dir "$work" --samples "$work/samples.json" \
        "${start[@]}" -- "${command[@]}" >"$work/table" || [ $? = 1 ]
    mv "$work/samples.json" "$run/$case.json"
    rm "$images"/*.sqfs
}

calibrated "$work"
screen
applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(python3 git gnome-calculator libreoffice)
source=benchsuite
begin size-budget "${1:-}"
keep_calibration
sed -i '/^- source: /d' "$run/README.md"
for name in "${applications[@]}"; do
    recorded "$name"
    for device in "${devices[@]}"; do
        for compressor in "${compressors[@]}"; do spend "$compressor" "$device"; done
    done
done
python3 benchsuite/tuner.py spent "$run" | tee "$run/size-budget.txt"
finish
