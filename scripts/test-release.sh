#!/usr/bin/env bash
# Makes a release twice, in two directories, and compares the bytes; installs and runs each file of
# it in roots of their own. Takes a quarter of an hour and needs root and Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

usage() {
    cat <<'TEXT'
Usage: scripts/test-release.sh [--targets LIST] [--dist DIR] [--alpine TARBALL]

  --targets LIST     as of release.sh [default: x86_64,aarch64]
  --dist DIR         test the files in DIR, and make none
  --alpine TARBALL   Alpine's minirootfs [default: a root of Debian's musl and busybox]
TEXT
}

targets=x86_64,aarch64 dist='' alpine=''
while [ $# -gt 0 ]; do
    case $1 in
        --targets) targets=${2:?}; shift ;;
        --dist) dist=$(realpath "${2:?}"); shift ;;
        --alpine) alpine=$(realpath "${2:?}"); shift ;;
        *) usage >&2; exit 1 ;;
    esac
    shift
done
[ "$(id -u)" = 0 ] || { echo "test-release.sh: needs root, for chroot" >&2; exit 1; }
for tool in mmdebstrap:mmdebstrap skopeo:skopeo jq:jq; do
    have "${tool%:*}" || apt_install "${tool#*:}"
done
[[ ,$targets, != *,aarch64,* ]] || have qemu-aarch64-static || apt_install qemu-user-static

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
pass() { echo "ok: $*"; passed=$((passed + 1)); }
fail() { echo "FAILED: $*" >&2; exit 1; }

cargo package --workspace --no-verify --allow-dirty --quiet --target-dir "$scratch/package"
pass "cargo package of every crate"

if [ -z "$dist" ]; then
    dist=$scratch/dist
    scripts/release.sh "$version" --targets "$targets" --output "$dist"
    # Another directory, another path of everything that the compilers see.
    git clone --quiet . "$scratch/second"
    mkdir "$scratch/second/target"
    cp -r target/release-tools-* "$scratch/second/target"
    "$scratch/second/scripts/release.sh" "$version" --targets "$targets" \
        --output "$scratch/dist-second"
    diff -r "$dist" "$scratch/dist-second" || fail "two releases of one commit differ"
    pass "two releases of one commit, made in two directories, are the same bytes"
fi
(cd "$dist" && sha256sum --check --strict --quiet SHA256SUMS) || fail "SHA256SUMS"
pass "checksums"

study='{"coldpress_history": 1, "studies": [{"kind": "launch", "title": "t", "began_unix_ms": 0,
 "origin": "measured", "state": "done", "facts": {},
 "contestants": [{"name": "a", "facts": {}, "figures": {"size_bytes": 1}}], "runs": []}]}'

# What a user does, in the root $1 with coldpress at $2, by the emulator $3 if there is one: build,
# verify, extract, and call it by another name. All files lie in the root; nothing else is needed.
exercise() {
    local root=$1 run=$2 emulator=${3:-} call=(chroot "$1")
    [ -z "$emulator" ] || { cp "$emulator" "$root/emulator"; call+=(/emulator); }
    rm -rf "$root/work"
    mkdir -p "$root/work/tree/directory" "$root/tmp"
    cp -r scripts docs "$root/work/tree/directory"
    ln -s directory/docs/mount.md "$root/work/tree/link"
    head -c 3000000 /dev/urandom >"$root/work/tree/random"
    truncate -s 1M "$root/work/tree/sparse"
    echo "$study" >"$root/work/study.json"
    [ "$("${call[@]}" "$run" --version)" = "coldpress $version" ] || fail "$run --version"
    for compressor in gzip lzo lz4 xz zstd; do
        "${call[@]}" "$run" build --quiet --verify -c "$compressor" /work/tree \
            "/work/$compressor.sqfs"
        "${call[@]}" "$run" check --quiet "/work/$compressor.sqfs" >/dev/null
    done
    "${call[@]}" "$run" extract --quiet /work/zstd.sqfs /work/out
    diff -r --no-dereference "$root/work/tree" "$root/work/out" || fail "$run extract"
    # The database, with locks of the C library that the binary has within.
    COLDPRESS_HISTORY=/work/history.sqlite "${call[@]}" "$run" history import /work/study.json
    COLDPRESS_HISTORY=/work/history.sqlite "${call[@]}" "$run" history show 1 >/dev/null
    rm -rf "$root/work"
}

install_deb() {
    local package root=$scratch/debian name
    mmdebstrap --quiet --variant=minbase bookworm "$root"
    package=$dist/coldpress_${version}_amd64.deb
    cp "$package" "$root/coldpress.deb"
    chroot "$root" dpkg -i /coldpress.deb >/dev/null
    exercise "$root" coldpress
    for name in share/bash-completion/completions/coldpress \
        share/zsh/vendor-completions/_coldpress share/fish/vendor_completions.d/coldpress.fish \
        share/man/man1/coldpress-build.1.gz share/doc/coldpress/copyright; do
        chroot "$root" dpkg -L coldpress | grep -qx "/usr/$name" || fail "no $name in the package"
    done
    chroot "$root" bash -n /usr/share/bash-completion/completions/coldpress
    chroot "$root" /usr/libexec/coldpress/mksquashfs -version | grep -q coldpress ||
        fail "mksquashfs -version"
    chroot "$root" /usr/libexec/coldpress/coldpress-prefetch || fail "coldpress-prefetch"
    chroot "$root" dpkg --verify coldpress | grep . && fail "dpkg --verify"
    chroot "$root" dpkg --purge coldpress >/dev/null
    [ -z "$(find "$root/usr" -name '*coldpress*')" ] || fail "dpkg --purge leaves files"
    pass "the Debian package in Debian 12"
}

# The root of Alpine, or what it is made of: musl as the C library, and busybox.
musl_root() {
    local root=$scratch/alpine
    mkdir -p "$root"
    if [ -n "$alpine" ]; then
        tar -xf "$alpine" -C "$root"
        return
    fi
    (cd "$scratch" && apt-get download -qq musl busybox-static)
    for package in "$scratch"/musl_*.deb "$scratch"/busybox-static_*.deb; do
        dpkg-deb -x "$package" "$root"
    done
    chroot "$root" /bin/busybox --install -s /bin
}

unpack() { tar -xzf "$dist/coldpress-$version-$1-linux.tar.gz" -C "$2" --strip-components=1; }

install_tarball() {
    local root=$scratch/alpine
    musl_root
    mkdir -p "$root/usr/local"
    # With the tar and gzip of the root.
    cp "$dist/coldpress-$version-x86_64-linux.tar.gz" "$root/release.tar.gz"
    chroot "$root" /bin/sh -c \
        'tar -xzf /release.tar.gz -C /usr/local --strip-components=1 && coldpress --version' \
        >/dev/null || fail "the tarball with busybox"
    exercise "$root" /usr/local/bin/coldpress
    mkdir "$root/tree" && echo text >"$root/tree/file"
    chroot "$root" /usr/local/libexec/coldpress/mksquashfs /tree /t.sqfs -noappend -quiet
    [ "$(chroot "$root" /usr/local/libexec/coldpress/sqfscat /t.sqfs file)" = text ] ||
        fail "mksquashfs and sqfscat"
    chroot "$root" zcat /usr/local/share/man/man1/coldpress.1.gz | grep -q '^\.TH' || fail "man"
    if [ -n "$alpine" ]; then
        pass "the tarball in Alpine"
    else
        pass "the tarball in a root of musl and busybox (no --alpine was given)"
    fi
}

# A root with nothing but the binary.
bare() {
    local processor=$1 emulator=${2:-} root=$scratch/bare-$1
    mkdir "$root"
    unpack "$processor" "$scratch/unpacked-$processor"
    cp "$scratch/unpacked-$processor/bin/coldpress" "$root/coldpress"
    readelf -d "$root/coldpress" | grep -q NEEDED && fail "$processor: not static"
    readelf -S "$root/coldpress" | grep -q '\.debug_' && fail "$processor: debug information"
    readelf -S "$root/coldpress" | grep -q '\.symtab' && fail "$processor: not stripped"
    [ "$(stat -c %s "$root/coldpress")" -le 25000000 ] || fail "$processor: above 25 MB"
    if strings "$root/coldpress" | grep -F -e "$PWD" -e "$HOME/" | head -3 | grep .; then
        fail "$processor: paths of this machine in the binary"
    fi
    exercise "$root" /coldpress "$emulator"
    pass "the binary alone${emulator:+, by qemu}: $processor, $(stat -c %s "$root/coldpress") bytes"
}

container() {
    local architecture=$1 processor=$2 emulator=${3:-} root=$scratch/container-$1 layer
    skopeo copy --quiet --override-arch "$architecture" \
        "oci-archive:$dist/coldpress-$version-oci.tar:$version" "dir:$scratch/image-$architecture"
    [ "$(skopeo inspect --config --format '{{.Architecture}}' \
        "dir:$scratch/image-$architecture")" = "$architecture" ] || fail "container: architecture"
    layer=$(jq -r '.layers[0].digest' "$scratch/image-$architecture/manifest.json")
    mkdir "$root"
    tar -xzf "$scratch/image-$architecture/${layer#sha256:}" -C "$root"
    cmp "$root/coldpress" "$scratch/unpacked-$processor/bin/coldpress"
    exercise "$root" /coldpress "$emulator"
    pass "the container image for $architecture"
}

mkdir -p "$scratch"/unpacked-{x86_64,aarch64}
if [[ ,$targets, == *,x86_64,* ]]; then
    bare x86_64
    container amd64 x86_64
    install_tarball
    install_deb
fi
if [[ ,$targets, == *,aarch64,* ]]; then
    emulator=$(command -v qemu-aarch64-static)
    bare aarch64 "$emulator"
    container arm64 aarch64 "$emulator"
    dpkg-deb -x "$dist/coldpress_${version}_arm64.deb" "$scratch/arm64"
    [ "$(dpkg-deb -f "$dist/coldpress_${version}_arm64.deb" Architecture)" = arm64 ]
    cmp "$scratch/arm64/usr/bin/coldpress" "$scratch/unpacked-aarch64/bin/coldpress"
    pass "the Debian package for arm64"
fi
echo "$passed passed, 0 failed"
