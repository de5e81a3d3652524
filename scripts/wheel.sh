#!/usr/bin/env bash
# Builds the wheel of the Python package, with the program in it, for this processor and for this C
# library or a later one.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

usage() {
    cat <<'TEXT'
Usage: scripts/wheel.sh [--output DIR]

  --output DIR  where the wheel goes [default: target/wheels]
TEXT
}

output=$PWD/target/wheels
while [ $# -gt 0 ]; do
    case $1 in
        --output) output=$(realpath -m "${2:?--output needs a directory}"); shift ;;
        -h | --help) usage; exit ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
need_compilers
need_python maturin || exit 2

# What pip puts into the directory of programs.
programs=python/coldpress.data/scripts
trap 'rm -rf python/coldpress.data' EXIT
mkdir -p "$programs"
cargo build --quiet --release -p coldpress-cli --features https
cp target/release/coldpress "$programs/coldpress"

cd python
"$PYTHON_TOOLS/bin/maturin" build --quiet --release --features https \
    --interpreter "$PYTHON_TOOLS/bin/python" --out "$output"
