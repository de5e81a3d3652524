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
start=(--chroot --runs "$turns" -- python3 -c
    'import json, email, http.client, asyncio, decimal, unittest, xml.etree.ElementTree, logging.config')

measure partition --device bw=5M,iops=100 "${start[@]}"

# mksquashfs with the order of the same plan: data first needed has the highest priority.
python3 - "$run/partition.plan" "$work/sort" <<'PYTHON'
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
against=(--plan "$run/partition.plan" --against "$work/sorted-by-mksquashfs.sqfs")

measure partition "${against[@]}" --device bw=5M,iops=100 "${start[@]}"
measure file "${against[@]}" --device bw=5M,iops=100,via=file "${start[@]}"
measure host "${against[@]}" --device host "${start[@]}"
echo "recorded in $run"
