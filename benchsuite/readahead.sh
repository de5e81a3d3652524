#!/usr/bin/env bash
# Large and small programs, each from one ordered image with several readaheads of the mount: predicted, and measured
# in turn. Says how far predicted reads and bytes are off.
# usage: benchsuite/readahead.sh [RUN-DIRECTORY [APPLICATION...]]
# COLDPRESS_BENCH_TURNS: cold starts with each (5). COLDPRESS_BENCH_DEVICES: where (usb2 host). Needs xvfb as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
images=$work/readahead
mkdir -p "$images"
readaheads=2560K,512K,128K,16K,0
read -ra devices <<<"${COLDPRESS_BENCH_DEVICES:-usb2 host}"

# One application: compare NAME
compare() {
    recorded "$1"
    local image=$images/$1.sqfs trace=$images/$1.trace
    [ -e "$image" ] || "$coldpress" -q build "$source" "$image" -c zstd -l 15 --profile "$trace" || [ $? = 1 ]
    for device in "${devices[@]}"; do
        echo "== $1, $device" >&2
        "$coldpress" predict "$image" --trace "$trace" --device "$device" --readahead "$readaheads" \
            --json >"$images/$1-$device.predicted.json"
        "$coldpress" bench launch "$source" --image "image=$image" --readahead "$readaheads" --device "$device" \
            --runs "${COLDPRESS_BENCH_TURNS:-5}" --no-store --samples "$run/$1-$device.json" "${start[@]}" \
            -- "${command[@]}" >/dev/null
        python3 benchsuite/readahead.py "$1, $device" "$images/$1-$device.predicted.json" "$run/$1-$device.json" \
            >>"$run/README.md"
    done
}

applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(chromium libreoffice gnome-calculator python3)
screen
source=benchsuite
begin readahead "${1:-}"
# Each start has its own.
sed -i '/^- source: /d' "$run/README.md"
for name in "${applications[@]}"; do compare "$name"; done
finish
