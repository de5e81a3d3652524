#!/usr/bin/env bash
# The block-size study: zstd level x block size x threads on a Debian root file system, against mksquashfs, gensquashfs and what
# unpacks their images; images and trees lie in memory, where only the tools count.
# usage: benchsuite/block-size-study.sh [RUN-DIRECTORY [LAYOUT]]
# LAYOUT: an OCI layout of one container image, whose tree then takes the place of the root file system.
# COLDPRESS_BENCH_THREADS: numbers of threads (1 to as many as there are).
# COLDPRESS_BENCH_TURNS: runs of each (5); COLDPRESS_BENCH_PUBLISHED: a directory with the published tables, to stand in the
# report beside these figures.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-python
if [ -n "${2:-}" ]; then
    source=$work/container
    rm -rf "$source"
    "$coldpress" -q build "oci:$2" "$work/container.sqfs"
    "$coldpress" -q extract "$work/container.sqfs" "$source"
else
    rootfs "$source" python3
fi
begin block-size-study "${1:-}"
threads=${COLDPRESS_BENCH_THREADS:-$(seq -s, 1 "$(nproc)")}
words=(bench build "$source" --levels 2,3,12,15 --block-sizes 128K,256K,512K,1M --threads "$threads" --unpack-threads "$threads"
    --runs "${COLDPRESS_BENCH_TURNS:-5}" --work-dir /dev/shm --samples "$run/builds.json")
printf '\nCommand line:\n\n    coldpress %s\n' "${words[*]}" | sed "s|$run/||g" >>"$run/README.md"
"$coldpress" "${words[@]}" >"$run/builds.txt" || [ $? = 1 ]
page=(report --samples "$run/builds.json" --source "$source" -o "$run/builds.html")
for table in create export; do
    [ -z "${COLDPRESS_BENCH_PUBLISHED:-}" ] || page+=(--samples "$COLDPRESS_BENCH_PUBLISHED/enroot-blocksize-$table.csv")
done
"$coldpress" "${page[@]}"
finish
