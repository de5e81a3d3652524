#!/usr/bin/env bash
# What `coldpress pick` takes beside the best of the measured starts of cost-model.sh: for each start, device and reader.
# usage: benchsuite/pick.sh [RUN-DIRECTORY [RUN-OF-COST-MODEL]]
# Makes the images of cost-model.sh again from the same packages, and an index of each application's, then removes the images.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
images=$work/pick
measured=${2:-$(ls -d benchsuite/runs/*-cost-model | tail -n 1)}
mkdir -p "$images"
screen
source=$work
begin pick "${1:-}"
# The levels of the measured images. Those of python3, and some of git, are from before cost-model.sh named levels.
level() {
    case $1-$2-$3 in
    python3-* | git-lz4-* | git-lzo-16K | git-lzo-128K | *-none-*) ;;
    *-gzip-*) echo -l 5 ;;
    *-xz-*) echo -l 1 ;;
    *-zstd-*) echo -l 3 ;;
    *) echo -l 0 ;;
    esac
}
for name in python3 git gnome-calculator libreoffice chromium; do
    [ ! -e "$images/$name.json" ] || continue
    recorded "$name"
    for compressor in gzip lzo lz4 xz zstd none; do
        for block in 16K 128K 1M; do
            # shellcheck disable=SC2046
            "$coldpress" -q build "$source" "$images/$name-$compressor-$block.sqfs" -c "$compressor" -b "$block" \
                $(level "$name" "$compressor" "$block") 2>"$work/errors" || [ $? = 1 ]
        done
    done
    warm_s=$(python3 benchsuite/cost-model.py warm "$measured/$name"-*.json)
    "$coldpress" -q variants index "$images/$name"-*.sqfs -o "$images/$name.json" --trace "$images/$name.trace" --warm "$warm_s"
    rm "$images/$name"-*.sqfs
done
python3 benchsuite/pick.py "$coldpress" "$measured" "$images" | tee -a "$run/README.md"
finish
