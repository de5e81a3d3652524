#!/usr/bin/env bash
# A Debian root file system whose python3 imports eight packages of its standard library.
# usage: benchsuite/press-python.sh [RUN-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-python
rootfs "$source" python3
begin press-python "${1:-}"
turns=${COLDPRESS_BENCH_TURNS:-10}
start=(--chroot -- python3 -c
    'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config')

plan "${start[@]}"

# mksquashfs with the order of the same plan: data first needed has the highest priority.
python3 - "$run/plan" "$work/sort" <<'PYTHON'
import sys
plan, sort = sys.argv[1:]
ranks, section = {}, None
for line in open(plan, encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("["):
        section = line
    elif section == "[data]" and (line.startswith("blocks ") or line.startswith(" ")):
        path = line.split(" ", 1)[1]
        ranks.setdefault(path, len(ranks))
with open(sort, "w", encoding="utf-8") as out:
    for path, rank in ranks.items():
        print(path.lstrip("/").replace(" ", "\\ "), 32767 - rank, file=out)
PYTHON
mksquashfs "$source" "$work/sorted-by-mksquashfs.sqfs" -comp zstd -b 131072 \
    -sort "$work/sort" -noappend -no-progress -quiet
sorted=(--against "$work/sorted-by-mksquashfs.sqfs" --runs "$turns")

measure partition --device bw=5M,iops=100 "${sorted[@]}" "${start[@]}"
measure file --device bw=5M,iops=100,via=file "${sorted[@]}" "${start[@]}"
measure host --device host "${sorted[@]}" "${start[@]}"
finish
