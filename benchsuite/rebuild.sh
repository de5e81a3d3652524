#!/usr/bin/env bash
# Building again after one file in a hundred has changed, with the blocks of the image before.
# usage: benchsuite/rebuild.sh [RUN-DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-chromium
rootfs "$source" chromium
begin rebuild "${1:-}"
turns=${COLDPRESS_BENCH_TURNS:-3}
build() { "$coldpress" -q build "$@" 2>/dev/null || [ $? = 1 ]; }

rm -rf "$work/changed"
cp -a "$source" "$work/changed"
build "$source" "$work/old.sqfs"
# Every hundredth file grows by a twentieth, as another version of it would.
python3 - "$work/changed" <<'PYTHON'
import os, sys
files = sorted(os.path.join(at, name) for at, _, names in os.walk(os.fsencode(sys.argv[1])) for name in names)
files = [file for file in files if os.path.isfile(file) and not os.path.islink(file)]
for file in files[::100]:
    with open(file, "r+b") as open_file:
        content = open_file.read()
        middle = len(content) // 2
        open_file.seek(0)
        open_file.write(content[:middle] + b"changed" + content[middle:middle + len(content) // 20] + content[middle:])
print(f"{len(files[::100])} of {len(files)} files changed", file=sys.stderr)
PYTHON
build "$work/changed" "$work/full.sqfs"
build "$work/changed" "$work/again.sqfs" --reuse "$work/old.sqfs"
cmp "$work/full.sqfs" "$work/again.sqfs"
{
    printf 'full\t%s\t%s\n' "$work/full.sqfs" "$coldpress -q build $work/changed $work/full.sqfs"
    printf 'with --reuse\t%s\t%s\n' "$work/again.sqfs" \
        "$coldpress -q build $work/changed $work/again.sqfs --reuse $work/old.sqfs"
} | python3 benchsuite/turns.py rebuild "$turns" "$run/rebuild.json" | tee -a "$run/README.md"
echo "Both images are the same, byte for byte." | tee -a "$run/README.md"
rm -rf "$work/changed" "$work"/{old,full,again}.sqfs
finish
