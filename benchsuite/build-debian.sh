#!/usr/bin/env bash
# Building an image of a Debian root file system with Chromium: against mksquashfs, and against the compressor alone.
# usage: benchsuite/build-debian.sh [RUN-DIRECTORY]
# MKSQUASHFS_NEWER names a second mksquashfs, COLDPRESS_BENCH_COMPRESSORS and COLDPRESS_BENCH_BLOCKS a part of the
# comparisons, COLDPRESS_BENCH_TURNS the turns (3). All of them take about 25 minutes a turn on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-chromium
rootfs "$source" chromium
begin build-debian "${1:-}"
cargo build --release --quiet -p coldpress-writer --example compression-limit
limit=$PWD/target/release/examples/compression-limit
turns=${COLDPRESS_BENCH_TURNS:-3}

# compare COMPRESSOR LEVEL BLOCK-SIZE MKSQUASHFS-OPTIONS...
compare() {
    compressor=$1 level=$2 block=$3
    shift 3
    case " ${COLDPRESS_BENCH_COMPRESSORS:-zstd gzip xz lzo lz4} " in
        *" $compressor "*) ;;
        *) return ;;
    esac
    {
        printf 'mksquashfs\t%s\t%s\n' "$work/peer.sqfs" \
            "mksquashfs $source $work/peer.sqfs -comp $compressor $* -b $block -noappend -no-progress -quiet"
        if [ -n "${MKSQUASHFS_NEWER:-}" ]; then
            printf 'newer mksquashfs\t%s\t%s\n' "$work/newer.sqfs" \
                "$MKSQUASHFS_NEWER $source $work/newer.sqfs -comp $compressor $* -b $block -noappend -no-progress -quiet"
        fi
        printf 'coldpress\t%s\t%s\n' "$work/ours.sqfs" \
            "$coldpress -q build $source $work/ours.sqfs -c $compressor -l $level -b $block"
        printf 'compressor alone\t-\t%s\n' "$limit $work/ours.sqfs $level"
    } | python3 benchsuite/turns.py "$compressor-$block" "$turns" "$run/$compressor-$block.json" | tee -a "$run/README.md"
}

for block in ${COLDPRESS_BENCH_BLOCKS:-128K 1M}; do
    compare zstd 15 "$block" -Xcompression-level 15
    compare gzip 9 "$block"
    compare xz 6 "$block"
    compare lzo 8 "$block"
    compare lz4 0 "$block"
done
rm -f "$work"/{peer,newer,ours}.sqfs
finish
