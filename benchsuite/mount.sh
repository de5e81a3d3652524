#!/usr/bin/env bash
# The mount against squashfuse_ll and the kernel, and for python3 squashfuse with one thread: cold and warm starts and every file hashed, of Chromium and python3,
# random reads of four processes, memory, and processor time of an idle mount.
# usage: benchsuite/mount.sh [RUN-DIRECTORY [SCENARIO...]]
# Scenarios: chromium-128K chromium-1M chromium-xz python random memory. COLDPRESS_BENCH_TURNS: turns (10);
# Needs squashfuse and fio as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
for tool in fio squashfuse squashfuse_ll; do
    command -v "$tool" >/dev/null || die "install $tool"
done
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
turns=${COLDPRESS_BENCH_TURNS:-10}
at=$work/mounted
mkdir -p "$at"
chromium=(/usr/bin/chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir=/tmp/profile
    --dump-dom 'data:text/html,<p>started')
python=(/usr/bin/python3 -c
    'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config')

# An image by mksquashfs, made once: image NAME OPTIONS...
image() {
    image=$work/$1.sqfs
    [ -e "$image" ] || mksquashfs "$source" "$image" -no-progress -quiet "${@:2}"
}

# What a start needs, recorded once from the source: profile NAME -- COMMAND...
profile() {
    profile=$work/$1.profile
    shift 2
    [ -e "$profile" ] && return
    "$coldpress" record "$source" --runs 3 -o "$profile.{}" --chroot -- "$@" >&2
    "$coldpress" profile merge "$profile".[0-9]* -o "$profile"
}

# Starts and walks, in turns: launches NAME PEER... -- COMMAND...
launches() {
    name=$1
    shift
    echo "== $name" >&2
    mounts=(--mount kernel)
    while [ "$1" != -- ]; do
        mounts+=(--mount "$1")
        shift
    done
    shift
    mounts+=(--mount "$coldpress mount -q --no-profile" --mount "$coldpress mount -q --profile $profile")
    "$coldpress" bench launch "$source" --image "$name=$image" "${mounts[@]}" --runs "$turns" --walk --work-dir "$work" \
        --samples "$run/$name.json" --chroot -- "$@" >"$run/$name.txt" || [ $? = 1 ]
    sed "s|$work/||g; s|$PWD/target/release/||g" "$run/$name.txt" >>"$run/README.md"
}

# A mount by a program, cold; the process that answers is $server: mounted PROGRAM...
mounted() {
    sync
    echo 3 >/proc/sys/vm/drop_caches
    if [ "$1" = kernel ]; then
        mount -o loop,ro "$image" "$at"
        server=
        return
    fi
    "$@" "$image" "$at"
    until mountpoint -q "$at"; do sleep 0.05; done
    server=$(pgrep -n -f -- "$image $at")
}

unmounted() {
    umount "$at"
    [ -z "$server" ] || while kill -0 "$server" 2>/dev/null; do sleep 0.05; done
}

# Each way of mounting, in turn: ways COMMAND
ways() {
    for turn in $(seq "$turns"); do
        "$1" kernel
        "$1" squashfuse_ll
        "$1" "$coldpress" mount -q --no-profile
    done
}

# Random reads of 64 KiB by four processes of the largest file, 2000 each.
random() {
    mounted "$@"
    file=$(find "$at/usr/lib" -type f -size +100M -print -quit)
    rate=$(fio --name random --filename "$file" --readonly --rw randread --bs 64k --number_ios 2000 --numjobs 4 \
        --group_reporting --randrepeat 1 --output-format json | python3 -c \
        'import json, sys; print(round(json.load(sys.stdin)["jobs"][0]["read"]["bw_bytes"] / 1e6, 1))')
    printf '%s\t%s\n' "${1##*/}" "$rate" >>"$run/random.tsv"
    unmounted
}

# Peak memory after every file was read, and processor time of ten idle seconds.
memory() {
    [ "$1" != kernel ] || return 0
    mounted "$@"
    tar -C "$at" -cf - . | cat >/dev/null
    peak=$(awk '/^VmHWM/ { print $2 }' "/proc/$server/status")
    ticks() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
    before=$(ticks)
    sleep 10
    printf '%s\t%s\t%s\n' "${1##*/}" "$peak" "$(($(ticks) - before))" >>"$run/memory.tsv"
    unmounted
}

# The medians of a table in columns: medians FILE
medians() {
    python3 - "$1" <<'PYTHON' >>"$run/README.md"
import statistics, sys
rows = [line.split() for line in open(sys.argv[1])]
for name in dict.fromkeys(row[0] for row in rows):
    columns = zip(*(map(float, row[1:]) for row in rows if row[0] == name))
    print(f"- {name}:", ", ".join(f"{statistics.median(column):g} ({min(column):g} to {max(column):g})"
                                  for column in map(list, columns)))
PYTHON
}

run=${1:-}
scenarios=("${@:2}")
[ ${#scenarios[@]} -gt 0 ] || scenarios=(chromium-128K chromium-1M chromium-xz python random memory)
source=$work/rootfs-chromium
rootfs "$source" chromium
begin mount "$run"
echo "- squashfuse_ll: $(squashfuse_ll --version 2>&1 | sed 1q)" >>"$run/README.md"
for scenario in "${scenarios[@]}"; do
    printf '\n## %s\n\n' "$scenario" >>"$run/README.md"
    case $scenario in
    chromium-*) profile chromium -- "${chromium[@]}" ;;
    esac
    case $scenario in
    chromium-128K) image "$scenario" -comp zstd -Xcompression-level 15 ;;
    chromium-1M) image "$scenario" -comp zstd -Xcompression-level 15 -b 1M ;;
    chromium-xz) image "$scenario" -comp xz ;;
    python)
        source=$work/rootfs-python
        rootfs "$source" python3
        profile python -- "${python[@]}"
        image python -comp zstd -Xcompression-level 15
        ;;
    random | memory)
        source=$work/rootfs-chromium
        image chromium-128K -comp zstd -Xcompression-level 15
        ;;
    *) die "no scenario: $scenario" ;;
    esac
    case $scenario in
    chromium-*) launches "$scenario" squashfuse_ll -- "${chromium[@]}" ;;
    python) launches "$scenario" squashfuse_ll "squashfuse -s" -- "${python[@]}" ;;
    random)
        echo 'MB/s of four processes that read 64 KiB at random places:' >>"$run/README.md"
        ways random
        medians "$run/random.tsv"
        ;;
    memory)
        echo 'Peak memory in KiB after every file was read, and ticks of 10 ms in ten idle seconds:' >>"$run/README.md"
        ways memory
        medians "$run/memory.tsv"
        ;;
    esac
done
finish
