#!/usr/bin/env bash
# Whether recordings can be relied on, with python3, git, LibreOffice, Chromium and gnome-calculator: whether five of one start are
# the same, whether an image of only what was recorded starts, whether two recorders agree on the order of files, and whether explain
# counts what the device counts.
# usage: benchsuite/working-set.sh [RUN-DIRECTORY [APPLICATION...]]
# COLDPRESS_BENCH_RECORDINGS: recordings by each recorder (5). Needs xvfb as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
command -v Xvfb >/dev/null || die "install xvfb"
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
recordings=${COLDPRESS_BENCH_RECORDINGS:-5}

# What is installed, and what is started: application NAME. A command succeeds only if the program has done its work.
application() {
    start=(--chroot)
    case $1 in
    python3)
        packages=python3
        command=(python3 -c 'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config')
        ;;
    git)
        packages=git
        command=(sh -c 'git init -q /tmp/r && cd /tmp/r && git -c user.name=a -c user.email=a@example.org
            commit -q --allow-empty -m a && git log -p | grep -q Author')
        ;;
    libreoffice)
        packages=libreoffice-writer-nogui,fonts-dejavu-core
        command=(sh -c 'cp /etc/os-release /tmp/letter.txt && HOME=/tmp soffice --headless --convert-to pdf --outdir /tmp /tmp/letter.txt &&
            test -s /tmp/letter.pdf')
        ;;
    chromium)
        packages=chromium
        command=(sh -c 'chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
            --disable-component-update --disable-sync --user-data-dir=/tmp/profile --dump-dom "data:text/html,<p>started" | grep -q started')
        ;;
    gnome-calculator)
        packages=gnome-calculator
        start+=(--ready window)
        command=(/usr/bin/env -i HOME=/tmp PATH=/usr/bin:/bin DISPLAY=":$display" /usr/bin/gnome-calculator)
        ;;
    *) die "no application of this study: $1" ;;
    esac
    # A command is one line.
    command=("${command[@]//$'\n'/ }")
    # That of recorders.sh, for python3.
    source=$work/rootfs-${1%3}
}

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

display=$((RANDOM % 1000 + 1000))
# Without -noreset it starts anew when the last window goes, and refuses connections meanwhile.
Xvfb ":$display" -screen 0 1280x800x24 -nolisten tcp -noreset >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
# Where coldpress looks for windows.
export DISPLAY=":$display"
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
