# What the scenarios share; to be sourced from the root of the project.

# COLDPRESS: a program that is built already.
coldpress=${COLDPRESS:-$PWD/target/release/coldpress}

die() { echo "$0: $*" >&2; exit 2; }

[ "$(id -u)" = 0 ] || die "needs root: it mounts, throttles and drops caches"
for tool in mmdebstrap mksquashfs; do
    command -v "$tool" >/dev/null || die "install $tool"
done
[ -n "${COLDPRESS:-}" ] || cargo build --release --quiet -p coldpress-cli

# What this disk and this kernel take, measured once and kept where tune and predict look for it: calibrated DIR
calibrated() {
    export XDG_STATE_HOME=$1/state
    [ -e "$XDG_STATE_HOME/coldpress/calibration.json" ] || "$coldpress" -q calibrate "$1"
}

# The same in the run directory, which `begin` made.
keep_calibration() {
    cp "$XDG_STATE_HOME/coldpress/calibration.json" "$run/"
}

# A Debian root file system with one package, made once: rootfs DIR PACKAGE
rootfs() {
    [ -d "$1" ] || mmdebstrap --quiet --variant=minbase --include="$2" bookworm "$1"
}

# The run directory, with what everything depends on: begin NAME [DIR]
begin() {
    run=${2:-benchsuite/runs/$(date -u +%Y-%m-%d)-$1}
    mkdir -p "$run"
    {
        echo "# $1"
        echo
        echo "- commit: $(git rev-parse --short HEAD)$(git diff --quiet HEAD -- crates || echo ' with changes')"
        echo "- coldpress: $("$coldpress" --version)"
        echo "- mksquashfs: $(mksquashfs -version | sed 1q)"
        echo "- kernel: $(uname -sr)"
        echo "- processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed 1q), $(nproc) cores"
        echo "- source: $(du -sm --apparent-size "$source" | cut -f1) MB, $(find "$source" | wc -l) entries"
    } >"$run/README.md"
}

# The plan and the trace of the start, in the run directory: plan OPTIONS... -- COMMAND...
plan() {
    echo "== plan" >&2
    printf '\nCommand lines:\n\n' >>"$run/README.md"
    press "$work/first.sqfs" --runs 1 --plan-out "$run/plan" --trace-out "$run/trace" "$@" >/dev/null
}

# A press by that plan, with its results in the run directory: measure NAME OPTIONS... -- COMMAND...
measure() {
    name=$1
    shift
    echo "== $name" >&2
    echo "    coldpress press $(printf '%q ' "$source" -o "$work/$name.sqfs" --plan "$run/plan" "$@")" |
        sed "s|$run/||g; s| \$||" >>"$run/README.md"
    press "$work/$name.sqfs" --plan "$run/plan" --report "$run/$name.html" \
        --samples "$run/$name.json" "$@" >"$run/$name.txt"
}

press() {
    image=$1
    shift
    "$coldpress" press "$source" -o "$image" "$@" 2>"$work/errors" || {
        # 1 is done with warnings, such as an ACL that no SquashFS can hold.
        [ $? = 1 ] || { cat "$work/errors" >&2; exit 1; }
    }
}

# Takes the paths of this machine out of what was recorded.
finish() {
    sed -i "s|$work/||g; s|$work|DIR|g; s|$PWD/||g; s|${MKSQUASHFS_NEWER:-newer-mksquashfs}|newer-mksquashfs|g; s|${UNSQUASHFS_NEWER:-newer-unsquashfs}|newer-unsquashfs|g" "$run"/*
    echo "recorded in $run"
}
