#!/usr/bin/env bash
# Whether `bench launch` says the same as an independent loop of some twenty lines (judge.py): python3 and LibreOffice
# from one ordered image, by turns, on two devices and with two readaheads.
# usage: benchsuite/judge.sh [RUN-DIRECTORY [APPLICATION...]]
# COLDPRESS_BENCH_TURNS: cold starts by each (5). Needs cgroup v1's blkio, and xvfb for applications.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
images=$work/readahead
mkdir -p "$images"
turns=${COLDPRESS_BENCH_TURNS:-5}
applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(python3 libreoffice)
source=benchsuite
begin judge "${1:-}"
sed -i '/^- source: /d' "$run/README.md"
printf '\n| start | limits | readahead | by | start s | reads | MB |\n|---|---|---|---|---|---|---|\n' >>"$run/README.md"

# The medians of JSON on standard input, as cells: cells WHO
cells() {
    python3 -c '
import json, statistics, sys
told = json.load(sys.stdin)
if "studies" in told:
    runs = [run["figures"] for run in told["studies"][0]["runs"] if not run["excluded"]]
    told = {name: statistics.median(run[name] for run in runs) for name in ("cold_s", "reads", "read_bytes")}
print("| {} | {:.2f} | {:.0f} | {:.1f} |".format(sys.argv[1], told["cold_s"], told["reads"], told["read_bytes"] / 1e6))
' "$1"
}

for name in "${applications[@]}"; do
    recorded "$name"
    image=$images/$name.sqfs
    [ -e "$image" ] || "$coldpress" -q build "$source" "$image" -c zstd -l 15 --profile "$images/$name.trace" || [ $? = 1 ]
    shell=$(printf '%q ' "${command[@]}")
    for limits in "25000000 400" "5000000 100"; do
        for readahead in 128 0; do
            read -r bytes reads <<<"$limits"
            row="| $name | $((bytes / 1000000)) MB/s, $reads reads/s | ${readahead}K"
            "$coldpress" bench launch "$source" --image "image=$image" --readahead "${readahead}K" --runs "$turns" \
                --device "bw=$((bytes / 1000000))M,iops=$reads" --no-store --samples "$images/judge.json" "${start[@]}" \
                -- "${command[@]}" >/dev/null
            echo "$row $(cells 'bench launch' <"$images/judge.json")" >>"$run/README.md"
            python3 benchsuite/judge.py "$image" "$turns" "$bytes" "$reads" "$readahead" "$shell" >"$images/judge.json"
            echo "$row $(cells judge.py <"$images/judge.json")" >>"$run/README.md"
        done
    done
done
finish
