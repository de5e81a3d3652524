# shellcheck shell=bash
# What test.sh and demo.sh need on a fresh machine; to be sourced.
# Nothing is installed that is already there, and what cannot be installed is named.

have() { command -v "$1" >/dev/null 2>&1; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

may_be_root() { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }

apt_updated=
# Debian packages, where there is apt and the right to use it.
apt_install() {
    have apt-get && may_be_root || return 1
    if [ -z "$apt_updated" ]; then
        as_root apt-get update -qq >/dev/null || return 1
        apt_updated=yes
    fi
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# A C compiler for the compressors, and Rust of the version that Cargo.toml states.
need_compilers() {
    have cc || apt_install gcc libc6-dev || {
        echo "$0: no C compiler: install gcc or clang" >&2
        exit 2
    }
    # shellcheck disable=SC1091
    have cargo || { [ -r "$HOME/.cargo/env" ] && . "$HOME/.cargo/env"; }
    if ! have cargo; then
        have curl || apt_install curl ca-certificates || true
        curl -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy || {
            echo "$0: no Rust: install it with rustup, version 1.95 or later" >&2
            exit 2
        }
        # shellcheck disable=SC1091
        . "$HOME/.cargo/env"
    fi
}

# Where Python finds what is installed for tests.
export PYTHONPATH=$PWD/target/python${PYTHONPATH:+:$PYTHONPATH}

# No Debian package has it.
need_hdiffpatch() {
    have hdiffz || python3 -c 'import hdiffpatch' 2>/dev/null && return
    python3 -m pip --version >/dev/null 2>&1 || apt_install python3-pip || return 1
    python3 -m pip install --quiet --target "$PWD/target/python" hdiffpatch
}

# Where the tools are that build and check the Python package.
PYTHON_TOOLS=$PWD/target/python-tools

# need_python PACKAGE...: these from PyPI, in an environment of their own.
need_python() {
    if [ ! -x "$PYTHON_TOOLS/bin/pip" ]; then
        python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3 python3-venv || {
            echo "$0: no Python with venv: install python3-venv" >&2
            return 1
        }
        python3 -m venv "$PYTHON_TOOLS" || return 1
    fi
    for package in "$@"; do
        "$PYTHON_TOOLS/bin/pip" show --quiet "$package" 2>/dev/null ||
            "$PYTHON_TOOLS/bin/pip" install --quiet --disable-pip-version-check "$package" || return 1
    done
}

# The tools that images are compared with and checked by.
need_peers() {
    have mksquashfs && have unsquashfs || apt_install squashfs-tools || true
    have rdsquashfs || apt_install squashfs-tools-ng || true
    have squashfuse || apt_install squashfuse || true
    have fusermount3 || apt_install fuse3 || true
    # Archives in every form, and what the tests of them, of ignore files and of full disks call.
    for package in tar python3 gzip bzip2 zstd lz4 git attr; do
        tool=$package
        [ "$package" = attr ] && tool=setfattr
        have "$tool" || apt_install "$package" || true
    done
    have xz || apt_install xz-utils || true
    # ZIP archives, and their readers.
    have zip || apt_install zip || true
    have unzip || apt_install unzip || true
    have jar || apt_install default-jdk-headless || true
    have go || apt_install golang-go || true
    # Container images, and what unpacks them.
    have umoci || apt_install umoci || true
    # SIF containers, and what makes OCI images of them.
    have siftool || apt_install siftool || true
    have skopeo || apt_install skopeo || true
    # Live media, and the digests in them.
    have xorriso || apt_install xorriso || true
    have implantisomd5 || apt_install isomd5sum || true
    have fakeroot || apt_install fakeroot || true
    # Updaters, asked what they transfer.
    have xdelta3 || apt_install xdelta3 || true
    have zsync || apt_install zsync || true
    have casync || apt_install casync || true
    have bsdiff || apt_install bsdiff || true
    have rauc && have openssl || apt_install rauc openssl || true
    need_hdiffpatch || true
    # Signatures of AppImages.
    have gpg && have gpg-agent || apt_install gnupg || true
    # Hash trees.
    have veritysetup || apt_install cryptsetup-bin || true
    # Recordings of other tools, and files on a plain file system.
    have strace || apt_install strace || true
    have mkfs.ext4 && have filefrag || apt_install e2fsprogs || true
    # What shows that a program is ready: windows and names on a message bus.
    have Xvfb || apt_install xvfb || true
    have dbus-daemon || apt_install dbus-daemon || true
    # Opens the reports.
    have chromium || apt_install chromium || true
    have setpriv && have unshare || apt_install util-linux || true
    for tool in mksquashfs unsquashfs rdsquashfs squashfuse chromium; do
        have "$tool" || echo "skipped: $tool not found; the tests that need it do nothing" >&2
    done
}

# Where the kernel lies that tests boot.
export COLDPRESS_GUEST_KERNEL=${COLDPRESS_GUEST_KERNEL:-$PWD/target/guest-kernel}

# What the tests boot: a kernel of Debian for virtual machines, unpacked and not installed, and QEMU; 44 MB to load.
need_guests() {
    have qemu-system-x86_64 || apt_install qemu-system-x86 || return 1
    have busybox || apt_install busybox-static || return 1
    [ -d "$COLDPRESS_GUEST_KERNEL/boot" ] && return
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: *//p' | sed 1q)
    [ -n "$package" ] || return 1
    mkdir -p "$COLDPRESS_GUEST_KERNEL"
    (cd "$COLDPRESS_GUEST_KERNEL" && apt-get download -qq "$package" 2>/dev/null && dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb)
}
