#!/usr/bin/env bash
# Everything that must hold: format, lints, documents, all tests. Installs what it compares with.
# COLDPRESS_REQUIRE=root,kernel,tracefs,fuse,peers,guest makes a test fail that lacks one of these.
set -euo pipefail
cd "$(dirname "$0")"
. scripts/setup.sh
need_compilers
need_peers
need_guests || echo "skipped: nothing to boot; the tests that need it do nothing" >&2

cargo fmt --all --check
# URLs are off by default, and nothing else differs with them: to compile everything twice would take minutes.
cargo clippy --quiet --workspace --all-targets --features coldpress-cli/http -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
cargo test --workspace --features coldpress-cli/http "$@"
# The mount's file system without FUSE: it is the one that the tests above ran, if it compiles.
cargo check --quiet -p coldpress-mount --no-default-features
