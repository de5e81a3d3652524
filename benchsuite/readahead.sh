#!/usr/bin/env bash
# Chromium from one ordered image with several readaheads: predicted, and measured in turn.
# usage: benchsuite/readahead.sh [RUN-DIRECTORY]
# COLDPRESS_BENCH_TURNS: cold starts with each (5).
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-chromium
rootfs "$source" chromium
begin readahead "${1:-}"
command=(/bin/sh -c "exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir=/tmp/profile
    --dump-dom 'data:text/html,<p>started'")
command[2]=${command[2]//$'\n'/ }
[ -e "$work/readahead.trace" ] ||
    "$coldpress" -q record "$source" -o "$work/readahead.trace" --chroot -- "${command[@]}"
image=$work/readahead.sqfs
"$coldpress" -q build "$source" "$image" -c zstd -l 15 --profile "$work/readahead.trace" || [ $? = 1 ]
for device in usb2 host hdd; do
    {
        printf '\n## %s\n\nPredicted:\n\n' "$device"
        "$coldpress" predict "$image" --trace "$work/readahead.trace" --device "$device" \
            --readahead kernel,disk,128K,16K,0 | sed -n '/^readahead/s/^/    /p'
        printf '\nMeasured:\n\n'
        "$coldpress" bench launch "$source" --image "image=$image" --readahead kernel,disk,128K,16K,0 \
            --device "$device" --runs "${COLDPRESS_BENCH_TURNS:-5}" --no-store \
            --samples "$run/$device.json" --chroot -- "${command[@]}" | sed 's/^/    /'
    } >>"$run/README.md"
done
