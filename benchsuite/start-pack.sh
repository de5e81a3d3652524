#!/usr/bin/env bash
# Cold starts with a start pack through `coldpress mount`, without a pack, through squashfuse_ll, and unpacked, of
# server and program on the same slowed disk; a start that was not recorded; and the sizes.
# usage: benchsuite/start-pack.sh [RUN-DIRECTORY [APPLICATION...]]
# Applications: chromium python libreoffice qutebrowser firefox. COLDPRESS_BENCH_TURNS: turns (5).
# Needs squashfuse as well.
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
    {
        printf '\n## %s\n\n' "$name"
        "$coldpress" build "$image.sqfs" "$image-pack.sqfs" --profile "$image.trace" --start-pack +15% 2>&1 |
            sed -n "s|^|    |; s|$work/||p"
    } >>"$run/README.md"
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

# What is installed, and what is started: application NAME
application() {
    source=$work/rootfs-$1
    case $1 in
    chromium)
        packages=chromium
        local chromium='exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
            --disable-background-networking --disable-component-update --disable-sync --user-data-dir=/tmp/profile'
        recorded="$chromium --dump-dom 'data:text/html,<p>started'"
        other="$chromium --screenshot=/tmp/picture.png 'data:text/html,<svg><circle r=50></svg><form><input type=date></form>'"
        media=(usb2 hdd host)
        ;;
    python)
        packages=python3
        recorded="exec python3 -c 'import json, asyncio, email.parser, http.client, sqlite3, xml.etree, unittest, ssl'"
        other="exec python3 -c 'import json, decimal, multiprocessing, csv, logging.config, zipfile, tarfile'"
        media=(slow host)
        ;;
    libreoffice)
        packages=libreoffice-writer-nogui,fonts-dejavu-core
        local office='HOME=/tmp soffice --headless --convert-to'
        recorded="cp /etc/os-release /tmp/a.txt && $office pdf --outdir /tmp /tmp/a.txt && test -s /tmp/a.pdf"
        other="cp /etc/os-release /tmp/a.txt && $office docx --outdir /tmp /tmp/a.txt && test -s /tmp/a.docx"
        media=(usb2)
        ;;
    qutebrowser)
        # Qt WebEngine, without a screen.
        packages=qutebrowser,fonts-dejavu-core
        local browser='export HOME=/tmp QT_QPA_PLATFORM=offscreen QT_QUICK_BACKEND=software XDG_RUNTIME_DIR=/tmp
            QTWEBENGINE_DISABLE_SANDBOX=1 QTWEBENGINE_CHROMIUM_FLAGS=--disable-gpu;
            exec qutebrowser --temp-basedir -s qt.force_software_rendering qt-quick'
        recorded="$browser 'data:text/html,<p>started' ':later 1 quit'"
        other="$browser 'qute://version' ':later 1 quit'"
        media=(usb2)
        ;;
    firefox)
        packages=firefox-esr
        local browser='export HOME=/tmp; exec firefox-esr --headless --screenshot /tmp/picture.png'
        recorded="$browser 'data:text/html,<p>started'"
        other="$browser 'data:text/html,<svg><circle r=50></svg><form><input type=date></form>'"
        media=(usb2)
        ;;
    *) die "no such application: $1" ;;
    esac
    # A command is one line.
    recorded=${recorded//$'\n'/ } other=${other//$'\n'/ }
}

applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(chromium python libreoffice qutebrowser firefox)
source=benchsuite
begin start-pack "${1:-}"
# Each start has its own.
sed -i '/^- source: /d' "$run/README.md"
printf '\nMedians of %s runs in turn.\n' "$turns" >>"$run/README.md"
for name in "${applications[@]}"; do
    application "$name"
    rootfs "$source" "$packages"
    contest "$name" "$recorded" "$other" "${media[@]}"
done
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
