#!/usr/bin/env bash
# Sampling against building: what images of a Debian root file system are predicted to be, and are, with every compressor at
# two levels and three block sizes; and the time that sampling many candidates takes, against one image of zstd 15.
# usage: benchsuite/sampling.sh [RUN-DIRECTORY]
# COLDPRESS_BENCH_LARGE: 0 leaves out the root file system with Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
cargo build --release --quiet -p coldpress-writer --example sampling
sampling=$PWD/target/release/examples/sampling
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-python
rootfs "$source" python3
begin sampling "${1:-}"

# The candidates: every word of the first list with every word of the second.
candidates() {
    for compressor in $1; do
        for shape in $2; do
            echo "$compressor:$shape"
        done
    done
}

# Samples a directory in one go, and builds what was sampled: judge NAME DIRECTORY CANDIDATE...
judge() {
    name=$1 directory=$2
    shift 2
    echo "== $name" >&2
    {
        printf '\n## %s\n\nfrom %s, %s candidates\n\n' "$name" "$(basename "$directory")" $#
        printf '| candidate | bytes | standard error | cpu s | build s | decompress s | MiB |'
        printf ' built | off by | tables | cpu s | s |\n'
        printf '|---|---|---|---|---|---|---|---|---|---|---|---|\n'
        "$sampling" "$directory" --build "$@" 2>"$work/time" | sed 's/\t/ | /g; s/^/| /; s/$/ |/'
        printf '\n%s\n' "$(cat "$work/time")"
    } | tee -a "$run/README.md"
}

every="gzip:1 gzip:9 lzo:0 lzo:8 lz4:0 lz4:12 xz:1 xz:6 zstd:3 zstd:15 none:-"
# shellcheck disable=SC2046
judge "Every compressor" "$source" $(candidates "$every" "16:small 128:small 1024:none")

if [ "${COLDPRESS_BENCH_LARGE:-1}" = 1 ]; then
    large=$work/rootfs-chromium
    rootfs "$large" chromium
    judge "A few of a large one" "$large" gzip:9:128:small xz:6:1024:none zstd:15:128:small zstd:22:1024:small lz4:12:16:none
    echo "== the whole search" >&2
    search="gzip:9 lzo:8 lz4:0 lz4:12 xz:6 zstd:3 zstd:9 zstd:15 zstd:19 zstd:22"
    {
        printf '\n## The whole search\n\n'
        # shellcheck disable=SC2046
        set -- $(candidates "$search" "16:small 128:small 128:none 256:small 1024:small 1024:none")
        printf 'Of %s candidates: ' $#
        "$sampling" "$large" "$@" 2>&1 >"$run/search.tsv"
        printf 'One image of zstd 15 at 128K: '
        /usr/bin/time -f '%e s, %U s of processor time' "$coldpress" -q build "$large" "$work/ours.sqfs" -c zstd -l 15 -b 128K 2>&1
    } | tee -a "$run/README.md"
    rm -f "$work/ours.sqfs"
fi
finish
