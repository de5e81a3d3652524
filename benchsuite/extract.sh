#!/usr/bin/env bash
# Extracting a Debian root file system with Chromium, and 100,000 small files: against unsquashfs and rdsquashfs.
# usage: benchsuite/extract.sh [RUN-DIRECTORY]
# UNSQUASHFS_NEWER names a second unsquashfs, COLDPRESS_BENCH_BLOCKS the block sizes of the first image,
# COLDPRESS_BENCH_TURNS the turns (5). The images are in the page cache. Each is extracted to memory, where only the tools
# count, and to a disk: a new ext4 for each run, in a file in COLDPRESS_BENCH_DIR. In a used one the kernel does not give out
# an inode again for minutes after its file was removed, and to look for others took ten times as long as the extraction.
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
disk=$work/disk
mkdir -p "$disk"
trap 'umount "$disk" 2>/dev/null; rm -rf "$memory" "$disk" "$disk.ext4"' EXIT
# A virtual machine's memory is slow at its first touch, whoever comes first.
touch_memory="head -c 2G /dev/zero >$memory/touched; rm $memory/touched"
new_disk="umount $disk 2>/dev/null; rm -f $disk.ext4; truncate -s 4G $disk.ext4 &&
    mkfs.ext4 -q -N 300000 -E lazy_itable_init=0,lazy_journal_init=0 $disk.ext4 && mount -o loop $disk.ext4 $disk"

# compare NAME IMAGE
compare() {
    # The image is read once, so that nobody pays for that.
    cat "$2" >/dev/null
    turns_into "$1-to-memory" "$2" "$memory" "$touch_memory"
    turns_into "$1-to-disk" "$2" "$disk" "$new_disk"
}

# turns_into NAME IMAGE DIRECTORY [PREPARE]
turns_into() {
    {
        printf 'unsquashfs\t%s\t%s\n' "$3/peer" "unsquashfs -n -q -d $3/peer $2"
        if [ -n "${UNSQUASHFS_NEWER:-}" ]; then
            printf 'newer unsquashfs\t%s\t%s\n' "$3/newer" "$UNSQUASHFS_NEWER -n -q -d $3/newer $2"
        fi
        printf 'rdsquashfs\t%s\t%s\n' "$3/other" "rdsquashfs -q -C -O -T -X -u / -p $3/other $2"
        printf 'coldpress\t%s\t%s\n' "$3/ours" "$coldpress -q extract $2 $3/ours"
    } | python3 benchsuite/turns.py "$1" "$turns" "$run/$1.json" "${@:4}" | tee -a "$run/README.md"
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
