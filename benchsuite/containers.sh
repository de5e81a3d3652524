#!/usr/bin/env bash
# An image for enroot from a container image of some 2 GB, beside the steps of `enroot import`.
# usage: benchsuite/containers.sh [RUN-DIRECTORY [LAYOUT]]
# LAYOUT is an OCI layout of one image; without one, an image with LibreOffice and compilers is made.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}/containers
mkdir -p "$work/scratch"
layout=${2:-$(python3 - "$work/images" <<'PYTHON'
import pathlib, sys
sys.path.insert(0, "scripts/containers")
import images
print(images.Maker(pathlib.Path(sys.argv[1])).large())
PYTHON
)}
source=$layout
begin containers "${1:-}"
# The images come from a registry.
cargo build --release --quiet -p coldpress-cli --features http
# A file system of its own, so that what others write is not counted.
truncate -s 24G "$work/scratch.ext4"
mkfs.ext4 -q -F "$work/scratch.ext4"
mount -o loop "$work/scratch.ext4" "$work/scratch"
trap 'umount "$work/scratch"; rm -f "$work/scratch.ext4"' EXIT
for options in "-comp zstd -Xcompression-level 3 -b 1M" "-comp lzo -noD"; do
    printf '\nOptions of mksquashfs for both: `%s`\n\n' "$options"
    python3 benchsuite/containers.py "$layout" "$work" "${COLDPRESS_BENCH_TURNS:-3}" \
        "$run/containers$(echo "$options" | cut -d' ' -f2).json" "$coldpress" "$options"
done | tee -a "$run/README.md"
umount "$work/scratch"
trap - EXIT
rm -f "$work/scratch.ext4"
finish
