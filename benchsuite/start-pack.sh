#!/usr/bin/env bash
# Cold starts with a start pack: Chromium and python3 through `coldpress mount` with and without a pack, and
# through squashfuse_ll, on three devices; a start that was not recorded; and the sizes.
# usage: benchsuite/start-pack.sh [RUN-DIRECTORY]
# COLDPRESS_BENCH_TURNS: turns (5). Needs squashfuse as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
command -v squashfuse_ll >/dev/null || die "install squashfuse"
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
turns=${COLDPRESS_BENCH_TURNS:-5}
# The devices: bytes and reads in a second.
usb2="30000000 1500"
hdd="100000000 120"
slow="5000000 100"
host="100000000000 1000000"

# Images and starts: contest NAME RECORDED-START OTHER-START DEVICE...
contest() {
    local name=$1 recorded=$2 other=$3 image=$work/start-pack-$1 medium bytes reads
    shift 3
    [ -e "$image-default.sqfs" ] || mksquashfs "$source" "$image-default.sqfs" -no-progress -quiet
    "$coldpress" -q record "$source" -o "$image.trace" --recorder fuse --chroot -- sh -c "$recorded" || [ $? = 1 ]
    "$coldpress" -q build "$source" "$image.sqfs" -c zstd -l 15 --profile "$image.trace" || [ $? = 1 ]
    "$coldpress" build "$image.sqfs" "$image-pack.sqfs" --profile "$image.trace" --start-pack +15% 2>&1 |
        sed -n "s|^|    |; s|$work/||p" >>"$run/README.md"
    local ordered="coldpress, ordered=$image.sqfs=$coldpress mount -f -q"
    local packed="coldpress, start pack=$image-pack.sqfs=$coldpress mount -f -q"
    for medium; do
        read -r bytes reads <<<"${!medium}"
        echo "== $name, $medium" >&2
        python3 benchsuite/cold_mount.py "$work" "$turns" "$bytes" "$reads" "$recorded" \
            "squashfuse_ll, default=$image-default.sqfs=squashfuse_ll -f" "$ordered" "$packed" \
            "unpacked=$source" >"$run/$name-$medium.json"
        python3 benchsuite/cold_mount.py "$work" "$turns" "$bytes" "$reads" "$other" \
            "$ordered" "$packed" >"$run/$name-$medium-other-start.json"
    done
}

source=$work/rootfs-chromium
rootfs "$source" chromium
begin start-pack "${1:-}"
printf '\nMedians of %s runs in turn.\n\n' "$turns" >>"$run/README.md"
chromium='exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --user-data-dir=/tmp/profile'
chromium=${chromium//$'\n'/ }
contest chromium "$chromium --dump-dom 'data:text/html,<p>started'" \
    "$chromium --screenshot=/tmp/picture.png 'data:text/html,<svg><circle r=50></svg><form><input type=date></form>'" \
    usb2 hdd host
source=$work/rootfs-python
rootfs "$source" python3
contest python "exec python3 -c 'import json, asyncio, email.parser, http.client, sqlite3, xml.etree, unittest, ssl'" \
    "exec python3 -c 'import json, decimal, multiprocessing, csv, logging.config, zipfile, tarfile'" slow host
python3 - "$run" >>"$run/README.md" <<'PYTHON'
import json, statistics, sys
from pathlib import Path

for path in sorted(Path(sys.argv[1]).glob("*.json")):
    print(f"\n## {path.stem}\n\n| contestant | s | MB | reads |\n|---|---|---|---|")
    for name, runs in json.loads(path.read_text()).items():
        seconds, size_bytes, reads = (statistics.median(column) for column in zip(*runs))
        print(f"| {name} | {seconds:.2f} | {size_bytes / 1e6:.0f} | {reads:.0f} |")
PYTHON
finish
