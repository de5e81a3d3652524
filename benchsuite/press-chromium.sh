#!/usr/bin/env bash
# A Debian root file system with Chromium, which dumps a page without a display.
# usage: benchsuite/press-chromium.sh [RUN-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-chromium
rootfs "$source" chromium
begin press-chromium "${1:-}"
turns=${COLDPRESS_BENCH_TURNS:-7}
start=(--chroot -- chromium --headless --no-sandbox --disable-gpu --disable-quic
    --no-first-run --disable-background-networking --disable-component-update --disable-sync
    --user-data-dir=/tmp/profile --dump-dom 'data:text/html,<p>started')

plan "${start[@]}"
measure usb2 --device usb2 --runs "$turns" "${start[@]}"
measure host --device host --runs "$turns" "${start[@]}"
finish
