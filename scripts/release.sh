#!/usr/bin/env bash
# Makes the files of a release: for each processor a tarball and a Debian package with one static
# binary, a container image for all of them, and their checksums. The same commit gives the same
# bytes, whatever directory it is built in, with the same versions of rustc and zig.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh

usage() {
    cat <<'TEXT'
Usage: scripts/release.sh VERSION [--targets LIST] [--output DIR] [--allow-dirty]

  VERSION         the version in Cargo.toml, without a `v`
  --targets LIST  processors, with commas between [default: x86_64,aarch64]
  --output DIR    where the files go [default: target/dist]
  --allow-dirty   build although files differ from the commit
TEXT
}

fail() { echo "release.sh: $*" >&2; exit 1; }

version='' targets=x86_64,aarch64 output=target/dist dirty=
while [ $# -gt 0 ]; do
    case $1 in
        --targets) targets=${2:?--targets needs a list}; shift ;;
        --output) output=${2:?--output needs a directory}; shift ;;
        --allow-dirty) dirty=yes ;;
        -h | --help) usage; exit ;;
        -*) usage >&2; fail "unknown option $1" ;;
        *) version=$1 ;;
    esac
    shift
done
[ -n "$version" ] || { usage >&2; exit 1; }
stated=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
[ "$version" = "$stated" ] || fail "the version is $version, but Cargo.toml says $stated"
[ -n "$dirty" ] || [ -z "$(git status --porcelain)" ] ||
    fail "files differ from the commit: commit them, or add --allow-dirty"

# Zig is the C compiler: it brings the headers of musl for every processor, and one pinned version
# gives the same machine code on every system.
ZIG_VERSION=0.15.2

need_compilers
have python3 || apt_install python3 || fail "install python3"
have dpkg-deb || fail "dpkg-deb is missing: install dpkg"
tools=$PWD/target/release-tools-$ZIG_VERSION
if [ ! -d "$tools/ziglang" ]; then
    python3 -m pip --version >/dev/null 2>&1 || apt_install python3-pip || fail "install pip"
    python3 -m pip install --quiet --target "$tools" "ziglang==$ZIG_VERSION" ||
        fail "cannot install ziglang $ZIG_VERSION from PyPI"
fi

export SOURCE_DATE_EPOCH COLDPRESS_COMMIT LC_ALL=C TZ=UTC
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
COLDPRESS_COMMIT=$(git rev-parse HEAD)
umask 022
mkdir -p "$output"
output=$(realpath "$output")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The compiler of target $1 as one command. Rust spells targets with a vendor, zig without.
compiler() {
    local path=$scratch/cc-$1
    cat >"$path" <<SH
#!/bin/sh
for word do
    shift
    case \$word in --target=*) ;; *) set -- "\$@" "\$word" ;; esac
done
exec "$tools/ziglang/zig" cc -target $1-linux-musl "\$@"
SH
    printf '#!/bin/sh\nexec "%s" ar "$@"\n' "$tools/ziglang/zig" >"$scratch/ar"
    chmod +x "$path" "$scratch/ar"
}

# target/release-build/.../coldpress for processor $1.
build() {
    local target=$1-unknown-linux-musl
    local variable=${target//-/_}
    local home=${CARGO_HOME:-$HOME/.cargo}
    if have rustup && ! rustup target list --installed | grep -qx "$target"; then
        rustup target add "$target" || true
    fi
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] ||
        fail "no Rust library for $target: add it with rustup, or leave $1 out with --targets"
    compiler "$1"
    # Paths of this machine are not part of a release. The AVX-512 code of libdeflate 1.26 does not
    # compile with zig's clang 20, which wants the feature evex512 for it.
    local no_avx512='-DLIBDEFLATE_ASSEMBLER_DOES_NOT_SUPPORT_'
    no_avx512="${no_avx512}VPCLMULQDQ ${no_avx512}AVX512VNNI"
    env "CC_$variable=$scratch/cc-$1" "AR_$variable=$scratch/ar" \
        "CFLAGS=-ffile-prefix-map=$home=/cargo -ffile-prefix-map=$PWD=/coldpress $no_avx512" \
        "CARGO_TARGET_${variable^^}_LINKER=rust-lld" \
        RUSTFLAGS="--remap-path-prefix=$home=/cargo --remap-path-prefix=$PWD=/coldpress" \
        CARGO_TARGET_DIR="$PWD/target/release-build" \
        cargo build --release --locked --quiet -p coldpress-cli -p coldpress-ahead --target "$target" ||
        fail "cannot build for $target: leave $1 out with --targets if it cannot be had here"
}

binary() { echo "$PWD/target/release-build/$1-unknown-linux-musl/release/coldpress"; }

# Manual pages, completions and licences: the same for every processor.
common() {
    local root=$1 run=$2 page
    mkdir -p "$root/share/man/man1" "$root/share/doc/coldpress"
    "$run" man --quiet "$root/share/man/man1"
    for page in "$root"/share/man/man1/*.1; do gzip -9n "$page"; done
    mkdir -p "$root/share/bash-completion/completions" "$root/share/zsh/site-functions" \
        "$root/share/fish/vendor_completions.d"
    "$run" completions bash >"$root/share/bash-completion/completions/coldpress"
    "$run" completions zsh >"$root/share/zsh/site-functions/_coldpress"
    "$run" completions fish >"$root/share/fish/vendor_completions.d/coldpress.fish"
    install -m 644 LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md "$root/share/doc/coldpress"
    python3 scripts/release/licences.py "$tools/ziglang/lib/libc/musl/COPYRIGHT" \
        >"$root/share/doc/coldpress/LICENSES-THIRD-PARTY"
    printf '%s\n' "commit $COLDPRESS_COMMIT" "$(rustc --version)" "zig $ZIG_VERSION" \
        >"$root/share/doc/coldpress/BUILT-WITH"
}

# The binary and the names under which it is another program. The links have a directory of their
# own, so that nobody's mksquashfs is replaced without being asked.
programs() {
    local root=$1 binary=$2 name
    install -D -m 755 "$binary" "$root/bin/coldpress"
    mkdir -p "$root/libexec/coldpress"
    # What hooks put into initrds, which have no libraries.
    install -m 755 "${binary%/*}/coldpress-prefetch" "$root/libexec/coldpress/coldpress-prefetch"
    for name in mksquashfs sqfstar unsquashfs sqfscat squashfuse squashfuse_ll; do
        ln -s ../../bin/coldpress "$root/libexec/coldpress/$name"
    done
}

tarball() {
    local name=coldpress-$version-$1-linux
    mkdir "$scratch/$name"
    cp -r "$scratch/common/." "$scratch/$name"
    programs "$scratch/$name" "$(binary "$1")"
    tar -C "$scratch" --format=ustar --sort=name --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -9n >"$output/$name.tar.gz"
}

debian() {
    local architecture root=$scratch/deb-$1
    case $1 in
        x86_64) architecture=amd64 ;;
        aarch64) architecture=arm64 ;;
        *) fail "no name for $1 in Debian" ;;
    esac
    mkdir -p "$root/usr" "$root/DEBIAN"
    cp -r "$scratch/common/." "$root/usr"
    programs "$root/usr" "$(binary "$1")"
    # Where Debian's zsh looks.
    mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
    cat LICENSE-MIT "$root/usr/share/doc/coldpress/LICENSES-THIRD-PARTY" \
        >"$root/usr/share/doc/coldpress/copyright"
    cat >"$root/DEBIAN/control" <<TEXT
Package: coldpress
Version: $version
Architecture: $architecture
Maintainer: $(git log -1 --format='%an <%ae>')
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Recommends: fuse3
Suggests: squashfs-tools
Section: utils
Priority: optional
Description: SquashFS images in the order in which programs need them
 Records a cold start of a program, writes a SquashFS image in that order and
 measures the gain. Also builds, reads, checks, compares and mounts images, and
 understands the command lines of squashfs-tools and squashfuse.
TEXT
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    # One thread of xz: the bytes of several depend on their number.
    dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$root" \
        "$output/coldpress_${version}_$architecture.deb" >/dev/null
}

IFS=, read -ra list <<<"$targets"
runnable=
for processor in "${list[@]}"; do
    build "$processor"
    if [ -z "$runnable" ] && "$(binary "$processor")" --version >/dev/null 2>&1; then
        runnable=$(binary "$processor")
    fi
done
[ -n "$runnable" ] ||
    fail "no binary of $targets runs here to write manual pages: add $(uname -m) to --targets"
[ "$("$runnable" --version)" = "coldpress $version" ] || fail "the binary has another version"

common "$scratch/common" "$runnable"
images=()
for processor in "${list[@]}"; do
    tarball "$processor"
    debian "$processor"
    images+=("$processor=$(binary "$processor")")
done
python3 scripts/release/oci.py "$output/coldpress-$version-oci.tar" "$version" "${images[@]}"
cd "$output"
sha256sum "coldpress-$version"-*.tar* "coldpress_$version"_*.deb >SHA256SUMS
wc -c "coldpress-$version"-*.tar* "coldpress_$version"_*.deb
