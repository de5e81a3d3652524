#!/usr/bin/env bash
# Building images of many small files of equal size: time against mksquashfs, and growth up to a million files.
# usage: benchsuite/build-small-files.sh [RUN-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
turns=${COLDPRESS_BENCH_TURNS:-3}

# Unique files of 4 KiB, 1000 to a directory, made once: small-files COUNT
small_files() {
    python3 - "$work/small-files-$1" "$1" <<'PYTHON'
import os, sys
directory, count = sys.argv[1], int(sys.argv[2])
if not os.path.isdir(directory):
    for number in range(count):
        parent = f"{directory}.part/{number // 1000:04d}"
        if number % 1000 == 0:
            os.makedirs(parent)
        with open(f"{parent}/file-{number:07d}", "wb") as file:
            file.write((f"unique {number:09d} ".encode() * 400)[:4096])
    os.rename(f"{directory}.part", directory)
PYTHON
}

small_files 40000
source=$work/small-files-40000
begin build-small-files "${1:-}"
build() { printf 'coldpress, %s\t%s\t%s\n' "$2" "$work/ours.sqfs" "$coldpress -q build $1 $work/ours.sqfs -c lz4 -l 0"; }
peer() { printf '%s\t%s\t%s\n' "$1" "$work/peer.sqfs" "$2 $source $work/peer.sqfs -comp lz4 -noappend -no-progress -quiet $3"; }
{
    peer mksquashfs mksquashfs ""
    peer "mksquashfs without duplicate search" mksquashfs -no-duplicates
    [ -z "${MKSQUASHFS_NEWER:-}" ] || peer "newer mksquashfs" "$MKSQUASHFS_NEWER" ""
    build "$source" "40,000 files"
} | python3 benchsuite/turns.py small-files "$turns" "$run/small-files.json" | tee -a "$run/README.md"

for count in 125000 250000 500000 1000000; do
    small_files "$count"
    build "$work/small-files-$count" "$count files"
done | python3 benchsuite/turns.py growth "$turns" "$run/growth.json" | tee -a "$run/README.md"
rm -f "$work"/{peer,ours}.sqfs
finish
