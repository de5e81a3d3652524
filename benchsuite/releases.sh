#!/usr/bin/env bash
# Updates between two Debian versions of five programs: what each updater transfers, against the predicted start.
# usage: benchsuite/releases.sh [RUN-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
for tool in apt-get xdelta3 zsync casync bsdiff; do
    command -v "$tool" >/dev/null || die "install $tool"
done
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}/releases
mkdir -p "$work"
source=$work
begin releases "${1:-}"
python3 benchsuite/releases.py "$coldpress" "$work" "$run" python openjdk libreoffice
COLDPRESS_BENCH_LEVEL=3 python3 benchsuite/releases.py "$coldpress" "$work" "$run" debian firefox-esr chromium
finish
