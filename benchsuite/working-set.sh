#!/usr/bin/env bash
# Whether recordings can be relied on, with python3, git, LibreOffice, Chromium and gnome-calculator: whether five of one start are
# the same, whether an image of only what was recorded starts, whether two recorders agree on the order of files, and whether explain
# counts what the device counts.
# usage: benchsuite/working-set.sh [RUN-DIRECTORY [APPLICATION...]]
# COLDPRESS_BENCH_RECORDINGS: recordings by each recorder (5). Needs xvfb as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
recordings=${COLDPRESS_BENCH_RECORDINGS:-5}

say() { printf '%s\n' "$*" >>"$run/README.md"; }

# Several recordings by one recorder, their sentence, and lists of their files: record NAME RECORDER
record() {
    "$coldpress" record "$source" --recorder "$2" --runs "$recordings" -o "$traces/$2-{}" "${start[@]}" -- "${command[@]}" \
        2>"$work/errors" || { cat "$work/errors" >&2; exit 1; }
    same=$(grep '^in all ' "$work/errors")
    say "- \`$2\`, $same"
    for number in $(seq "$recordings"); do
        "$coldpress" -q profile export "$traces/$2-$number" --format list0 -o "$traces/$2-$number.files"
        "$coldpress" -q profile plan "$traces/$2-$number" --source "$source" -o "$traces/$2-$number.plan"
    done
    read -r bytes inodes listings < <(python3 benchsuite/working_set.py placed "$source" "$traces/$2"-*.plan)
    say "- \`$2\`, in all $recordings plans: $bytes % of the bytes, $inodes % of the inodes and $listings % of the listings that any places"
}

# Starts from an image; tells how far explain and the device are apart: explained IMAGE
explained() {
    "$coldpress" -q explain "$1" --json "${start[@]}" -- "${command[@]}" >"$work/explained.json" 2>"$work/errors" || return 1
    python3 benchsuite/working_set.py counters "$work/explained.json"
}

# An image of only what one recording names, and whether it starts: only RECORDER
only() {
    "$coldpress" build "$source" "$work/only.sqfs" -c zstd -l 3 --profile "$traces/$1-1" --only-recorded 2>"$work/errors" ||
        [ $? = 1 ] || { cat "$work/errors" >&2; exit 1; }
    stay=$(grep ' stay, as ' "$work/errors")
    size=$(stat -c %s "$work/only.sqfs")
    if explained "$work/only.sqfs" >/dev/null; then
        starts=yes
    else
        starts=no
        cat "$work/errors" >&2
    fi
    say "- an image of what the first recording by \`$1\` names, ${stay%% stay,*}, $size bytes, starts: $starts"
}

study() {
    name=$1
    application "$name"
    rootfs "$source" "$packages"
    echo "== $name" >&2
    say "" && say "## $name" && say ""
    say "    $(printf '%q ' "${command[@]}" | sed "s|:$display|:0|; s| \$||")"
    say ""
    traces=$work/working-set-$name
    rm -rf "$traces"
    mkdir "$traces"
    record "$name" fuse
    record "$name" kernel
    row="| $name | $bytes | $inodes | $listings | $(sed 's/^in all [0-9]* recordings: \([^ ]*\) % of the bytes of touched blocks, \([^ ]*\) % of the files, \([^ ]*\) % of the lookups.* directories; \([^ ]*\) % of the pages, \([^ ]*\) % .*/\2 | \1 | \4 | \5/' <<<"$same")"
    read -r least median among < <(python3 benchsuite/working_set.py order "$traces"/kernel-*.files -- "$traces"/fuse-*.files)
    say "- rank correlation of the files of \`kernel\` with those of \`fuse\`: $least at least, median $median; of two recordings by" \
        "\`kernel\`: $among at least"
    only fuse
    both=$starts
    only kernel
    [ "$both" = "$starts" ] || both=no
    "$coldpress" -q build "$source" "$work/whole.sqfs" -c zstd -l 3 2>"$work/errors" || [ $? = 1 ]
    counters=$(explained "$work/whole.sqfs") || { cat "$work/errors" >&2; exit 1; }
    read -r apart reads device_reads read_bytes device_bytes <<<"$counters"
    say "- \`explain\`: $reads reads, $read_bytes bytes by the events; $device_reads reads, $device_bytes bytes as the device counted:" \
        "$apart % apart"
    rows+=("$row | $both | $least | $apart |")
    rm -rf "$traces" "$work/only.sqfs" "$work/whole.sqfs" "$work/explained.json"
}

screen
run=${1:-}
applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(python3 git libreoffice chromium gnome-calculator)
# Each start has its own; that of the header is left out.
source=benchsuite
begin working-set "$run"
sed -i '/^- source: /d' "$run/README.md"
rows=()
for name in "${applications[@]}"; do
    study "$name"
done
say "" && say "## All" && say ""
say "What all $recordings recordings by \`kernel\` have, in percent; whether images of only what one recording names start, by either recorder;"
say "the least rank correlation of the recorders; how far \`explain\` is from the device, in percent. The targets are 97 % of the bytes that are"
say "placed, yes, 0.95 and 2 %. docs/recording.md, \"The same start again\", says what is counted."
say ""
say "| start | placed: bytes | inodes | listings | touched: files | bytes of blocks | pages | surely used pages | starts | order | apart |"
say "|---|---|---|---|---|---|---|---|---|---|---|"
for row in "${rows[@]}"; do
    say "$row"
done
finish
