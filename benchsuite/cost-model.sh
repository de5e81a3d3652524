#!/usr/bin/env bash
# Predicted against measured: cold starts of five applications from images of several compressors and block sizes, on several devices:
# reads, bytes and time, their errors, and how well the order of the times is foretold.
# usage: benchsuite/cost-model.sh measure|predict [RUN-DIRECTORY [APPLICATION...]]
# `measure` needs a machine that does nothing else; what is measured already stays. `predict` may be called again with another model,
# as the images and traces stay in COLDPRESS_BENCH_DIR.
# COLDPRESS_BENCH_TURNS: cold starts of each image (3 on host, 1 elsewhere, where it is the throttle that takes the time);
# COLDPRESS_BENCH_DEVICES: what is tried. LibreOffice and Chromium do not start from blocks of 16K on hdd: that would take minutes each.
# Images are made at low levels, which change sizes and not what a start does.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
images=$work/cost-model
mkdir -p "$images"
compressors=(gzip lzo lz4 xz zstd none)
blocks=(16K 128K 1M)
declare -A levels=([gzip]="-l 5" [lzo]="-l 0" [lz4]="-l 0" [xz]="-l 1" [zstd]="-l 3" [none]="")
read -ra devices <<<"${COLDPRESS_BENCH_DEVICES:-host emmc usb2 hdd}"

# The images of an application, made once: images NAME
images() {
    for compressor in "${compressors[@]}"; do
        for block in "${blocks[@]}"; do
            image=$images/$1-$compressor-$block.sqfs
            # shellcheck disable=SC2086
            [ -e "$image" ] || "$coldpress" -q build "$source" "$image" -c "$compressor" ${levels[$compressor]} -b "$block" \
                2>"$work/errors" || [ $? = 1 ]
        done
    done
}

# Those that start on a device: contestants NAME DEVICE
contestants() {
    contestants=()
    for compressor in "${compressors[@]}"; do
        for block in "${blocks[@]}"; do
            case $1-$2-$block in
            libreoffice-hdd-16K | chromium-hdd-16K) ;;
            *) contestants+=(--image "$compressor-$block=$images/$1-$compressor-$block.sqfs") ;;
            esac
        done
    done
}

# Cold and warm starts of an application from all its images, in turn: measure NAME
measure() {
    recorded "$1"
    images "$1"
    for device in "${devices[@]}"; do
        [ ! -e "$run/$1-$device.json" ] || continue
        echo "== $1, $device" >&2
        turns=1
        [ "$device" != host ] || turns=3
        contestants "$1" "$device"
        "$coldpress" -q bench launch "$source" "${contestants[@]}" --device "$device" --runs "${COLDPRESS_BENCH_TURNS:-$turns}" \
            --no-store --work-dir "$work" --samples "$work/samples.json" "${start[@]}" -- "${command[@]}" >"$work/table" || [ $? = 1 ]
        mv "$work/samples.json" "$run/$1-$device.json"
    done
}

# What the model says of every start that was measured, told what a warm start took: predict NAME
predict() {
    warm_s=$(python3 benchsuite/cost-model.py warm "$run/$1"-*.json)
    for device in "${devices[@]}"; do
        for compressor in "${compressors[@]}"; do
            for block in "${blocks[@]}"; do
                printf '{"app": "%s", "device": "%s", "image": "%s", "predicted": ' "$1" "$device" "$compressor-$block"
                "$coldpress" -q predict "$images/$1-$compressor-$block.sqfs" --trace "$images/$1.trace" --device "$device" \
                    --warm "$warm_s" --json | tr -d '\n'
                echo '}'
            done
        done
    done
}

deed=${1:-}
run=${2:-}
applications=("${@:3}")
[ ${#applications[@]} -gt 0 ] || applications=(python3 git gnome-calculator libreoffice chromium)
source=benchsuite
case $deed in
measure)
    calibrated "$work"
    screen
    begin cost-model "$run"
    keep_calibration
    # Each start has its own.
    sed -i '/^- source: /d' "$run/README.md"
    for name in "${applications[@]}"; do measure "$name"; done
    ;;
predict)
    calibrated "$work"
    run=${run:-$(ls -d benchsuite/runs/*-cost-model | tail -n 1)}
    for name in "${applications[@]}"; do predict "$name"; done >"$run/predicted.jsonl"
    python3 benchsuite/cost-model.py compare "$run" | tee "$run/cost-model.txt" | sed -n '/^$/,$p'
    ;;
*) die "measure or predict?" ;;
esac
finish
