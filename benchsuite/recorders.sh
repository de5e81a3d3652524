#!/usr/bin/env bash
# What each recorder costs a start, whether recordings of one start are the same, and whether what they name is enough to start:
# python3, git and Chromium in Debian root file systems.
# usage: benchsuite/recorders.sh [RUN-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
turns=${COLDPRESS_BENCH_TURNS:-20}
recorders=${COLDPRESS_BENCH_RECORDERS:-kernel opens}

# Records some turns and tells what they cost and have in common: record NAME RECORDER -- COMMAND...
record() {
    name=$1
    recorder=$2
    shift 2
    echo "== $name, $recorder" >&2
    traces=$work/traces-$name-$recorder
    rm -rf "$traces"
    mkdir "$traces"
    printf '\n## %s, %s\n\n' "$name" "$recorder" >>"$run/README.md"
    "$coldpress" record "$source" --recorder "$recorder" --runs "$turns" --cost -o "$traces/{}" --chroot "$@" \
        2>"$work/errors" || { cat "$work/errors" >&2; exit 1; }
    grep -e 'recording cost' -e 'in all' "$work/errors" | sed 's/^/- /' >>"$run/README.md"
    enough "$@"
}

# Starts from a copy of the source that has only what the first trace names: enough -- COMMAND...
enough() {
    only=$work/only
    rm -rf "$only"
    mkdir "$only"
    python3 - "$traces/1" <<'PYTHON' | tar -C "$source" --null --no-recursion -T - -c | tar -C "$only" -x
import re
import sys

names = set()
for line in open(sys.argv[1], "rb"):
    if line.startswith((b"#", b"coldpress-trace")):
        continue
    line = line.rstrip(b"\n")
    path = line.split(b" ", 3 if line.split(b" ")[2] in (b"L", b"D") else 4)[-1]
    path = re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda m: bytes.fromhex(m[1][1:].decode()) if m[1][:1] == b"x" else
                  {b"n": b"\n"}.get(m[1], m[1]), path)
    while path and path != b"/":
        names.add(path.lstrip(b"/"))
        path = path.rpartition(b"/")[0]
sys.stdout.buffer.write(b"\0".join(sorted(names)) + b"\0")
PYTHON
    entries=$(find "$only" | wc -l)
    if "$coldpress" record "$only" --recorder opens --chroot -o "$work/again.trace" "$@" 2>"$work/errors"; then
        echo "- a copy of only what was recorded, $entries entries, starts" >>"$run/README.md"
    else
        echo "- a copy of only what was recorded, $entries entries, does not start" >>"$run/README.md"
        cat "$work/errors" >&2
    fi
    rm -rf "$only"
}

source=$work/rootfs-python
rootfs "$source" python3
begin recorders "${1:-}"
for recorder in $recorders; do
    record python3 "$recorder" -- python3 -c \
        'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config'
done
source=$work/rootfs-git
rootfs "$source" git
for recorder in $recorders; do
    record git "$recorder" -- sh -c 'git init -q /tmp/r && cd /tmp/r && git -c user.name=a -c user.email=a@example.org \
        commit -q --allow-empty -m a && git log -p'
done
source=$work/rootfs-chromium
rootfs "$source" chromium
for recorder in $recorders; do
    record chromium "$recorder" -- chromium --headless --no-sandbox --disable-gpu --disable-quic \
        --no-first-run --disable-background-networking --disable-component-update --disable-sync \
        --user-data-dir=/tmp/profile --dump-dom 'data:text/html,<p>started'
done
finish
