#!/usr/bin/env bash
# Extracting a Debian root file system with Chromium, and 100,000 small files: against unsquashfs and rdsquashfs.
# usage: benchsuite/extract.sh [RUN-DIRECTORY]
# UNSQUASHFS_NEWER names a second unsquashfs, COLDPRESS_BENCH_BLOCKS the block sizes of the first image,
# COLDPRESS_BENCH_TURNS the turns (5). Destinations are removed and written back between the runs, and the images are in the page
# cache. Each image is extracted to memory, where only the tools count, and beside the images to the disk of COLDPRESS_BENCH_DIR,
# where the kernel's writing back counts as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
for tool in unsquashfs rdsquashfs; do
    command -v "$tool" >/dev/null || die "install $tool"
done
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
turns=${COLDPRESS_BENCH_TURNS:-5}
source=$work/rootfs-chromium
rootfs "$source" chromium
begin extract "${1:-}"
sed -i "s|^- mksquashfs: .*|- unsquashfs: $(unsquashfs -version | sed 1q)\n- rdsquashfs: $(rdsquashfs --version | sed 1q)|" \
    "$run/README.md"

# Unique texts of 100 to 6100 bytes, 100 to a directory, made once: small_files DIRECTORY COUNT
small_files() {
    python3 - "$1" "$2" <<'PYTHON'
import os, sys
directory, count = sys.argv[1], int(sys.argv[2])
if not os.path.isdir(directory):
    for number in range(count):
        parent = f"{directory}.part/{number // 100:04d}"
        if number % 100 == 0:
            os.makedirs(parent)
        with open(f"{parent}/file-{number:07d}", "wb") as file:
            line = f"line of file {number:09d}, number {{}}\n"
            text = "".join(line.format(part * number % 9973) for part in range(150)).encode()
            file.write(text[: 100 + number * 7919 % 6000])
    os.rename(f"{directory}.part", directory)
PYTHON
}

memory=$(mktemp -d /dev/shm/coldpress-bench.XXXXXX)
trap 'rm -rf "$memory"' EXIT

# compare NAME IMAGE
compare() {
    # The image is read once, so that nobody pays for that.
    cat "$2" >/dev/null
    turns_into "$1-to-memory" "$2" "$memory"
    turns_into "$1-to-disk" "$2" "$work"
}

# turns_into NAME IMAGE DIRECTORY
turns_into() {
    {
        printf 'unsquashfs\t%s\t%s\n' "$3/peer" "unsquashfs -n -q -d $3/peer $2"
        if [ -n "${UNSQUASHFS_NEWER:-}" ]; then
            printf 'newer unsquashfs\t%s\t%s\n' "$3/newer" "$UNSQUASHFS_NEWER -n -q -d $3/newer $2"
        fi
        printf 'rdsquashfs\t%s\t%s\n' "$3/other" "rdsquashfs -q -C -O -T -X -u / -p $3/other $2"
        printf 'coldpress\t%s\t%s\n' "$3/ours" "$coldpress -q extract $2 $3/ours"
    } | python3 benchsuite/turns.py "$1" "$turns" "$run/$1.json" | tee -a "$run/README.md"
    rm -rf "$3"/{peer,newer,other,ours}
}

for block in ${COLDPRESS_BENCH_BLOCKS:-128K 1M}; do
    image=$work/chromium-$block.sqfs
    [ -e "$image" ] || "$coldpress" -q build "$source" "$image" -c zstd -l 15 -b "$block" || [ $? = 1 ]
    compare "chromium-$block" "$image"
done
small_files "$work/small-texts" 100000
image=$work/small-texts.sqfs
[ -e "$image" ] || "$coldpress" -q build "$work/small-texts" "$image" -c zstd -l 15
compare small-texts "$image"
sed -i "s|$memory/||g" "$run"/*
finish
