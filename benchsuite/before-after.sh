#!/usr/bin/env bash
# Two coldpress binaries in turns, the older one first: building, extracting, reading a mount, and
# the search of tune. Processor time counts, which other work on the machine changes less than time.
# usage: benchsuite/before-after.sh OLD NEW SOURCE [RUN-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
old=$(realpath "$1") new=$(realpath "$2") source=$(realpath "$3")
run=${4:-benchsuite/runs/$(date -u +%Y-%m-%d)-before-after}
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}/before-after
turns=${COLDPRESS_BENCH_TURNS:-3}
mkdir -p "$run" "$work/mount"
export COLDPRESS_HISTORY='' COLDPRESS_CALIBRATION=''

# Every file of a mounted image: read COLDPRESS IMAGE
cat >"$work/read" <<'SH'
set -e
"$1" -q mount --foreground "$2" "$3" &
until mountpoint -q "$3"; do sleep 0.01; done
find "$3" -type f -print0 | xargs -0 cat >/dev/null
umount "$3"
wait
SH
for compressor in zstd gzip; do
    "$new" -q build "$source" "$work/$compressor.sqfs" -c "$compressor" -b 128K
done

# NAME OUTPUT ARGUMENTS: the same command line with both.
pair() {
    local name=$1 output=$2
    shift 2
    printf 'before\t%s\t%s\nafter\t%s\t%s\n' "$output" "$old -q $*" "$output" "$new -q $*" |
        python3 benchsuite/turns.py "$name" "$turns" "$run/$name.json" | tee -a "$run/README.md"
}
pair build-zstd "$work/out.sqfs" build "$source" "$work/out.sqfs" -c zstd -b 128K
pair build-gzip "$work/out.sqfs" build "$source" "$work/out.sqfs" -c gzip -b 128K
pair extract "$work/out" extract "$work/zstd.sqfs" "$work/out"
printf 'before\t-\t%s\nafter\t-\t%s\n' \
    "bash $work/read $old $work/zstd.sqfs $work/mount" \
    "bash $work/read $new $work/zstd.sqfs $work/mount" |
    python3 benchsuite/turns.py mount "$turns" "$run/mount.json" | tee -a "$run/README.md"
pair tune - tune "$source" --device usb2 --fast --json
