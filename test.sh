#!/usr/bin/env bash
# Everything that must hold: format, lints, documents, all tests. Installs what it compares with.
# COLDPRESS_REQUIRE=root,kernel,tracefs,fuse,peers,guest makes a test fail that lacks one of these.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh
need_compilers
# Loaded while the tests are compiled: two minutes on a fresh machine.
others() {
    need_peers
    need_python ruff mypy pytest fsspec
    need_guests || echo "skipped: nothing to boot; the tests that need it do nothing" >&2
}
others &
others=$!

cargo fmt --all --check

# Clippy lints what the tests are compiled from, in one compilation instead of two. It leaves out two
# checks of rustc at run time, of raw pointers that are dereferenced, which no crate here does.
# URLs are off by default, and nothing else differs with them.
tests() {
    RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings \
        cargo test --workspace --features coldpress-cli/http "$@"
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# These words are between `cargo clippy` and its compiler. If they change, lints must not vanish.
if echo 'fn main() { return; }' | CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings \
    clippy-driver rustc --edition 2024 --out-dir "$scratch" - 2>"$scratch/lints"; then
    echo "test.sh: clippy-driver does not obey CLIPPY_ARGS" >&2
    exit 1
fi
tests --no-run
wait "$others"
if [ $# -gt 0 ]; then
    tests "$@"
    exit
fi

# Four queues beside each other, so that no processor waits. Each is cargo's, with names of modules; a
# module that is missing here makes the tests take longer, nothing else.
# Tests that need the caches of the machine for themselves wait for each other and for the disk.
alone=(bench_build::ended:: bench_launch:: calibrate:: container_start:: explain:: image_run:: mount::
    only_recorded:: predict:: prefetch:: press:: real:: record:: record_fuse:: recorders:: tune::)
# Tests that run programs most of their time.
long=(boot:: determinism:: fuse:: hostile:: identify:: interop:: interrupt:: limits::)
tests --tests -- "${alone[@]}" >"$scratch/alone" 2>&1 &
queues=($!)
tests --tests -- "${long[@]}" "${alone[@]/#/--skip=}" >"$scratch/long" 2>&1 &
queues+=($!)
RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings \
    scripts/test-python.sh >"$scratch/python" 2>&1 &
queues+=($!)
failed=
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps || failed=yes
tests -- "${alone[@]/#/--skip=}" "${long[@]/#/--skip=}" || failed=yes
for queue in "${queues[@]}"; do
    wait "$queue" || failed=yes
done
cat "$scratch/alone" "$scratch/long" "$scratch/python"
[ -z "$failed" ]
