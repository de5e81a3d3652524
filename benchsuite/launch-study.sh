#!/usr/bin/env bash
# The start-up study: four applications in windows of Xvfb, packed with each compressor, and unpacked.
# usage: benchsuite/launch-study.sh [RUN-DIRECTORY [APPLICATION...]]
# COLDPRESS_BENCH_TURNS: cold starts of each image (10); COLDPRESS_BENCH_PUBLISHED: the published table, as a CSV file, to stand
# in the report beside these figures. Needs xvfb as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
command -v Xvfb >/dev/null || die "install xvfb"
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
opengl=libgl1,libegl1,libgles2,libgl1-mesa-dri,libglx-mesa0,libegl-mesa0

# What is installed, and what is started: application NAME
application() {
    # A message bus that is not there makes no start fail, but some wait for it.
    environment=(/usr/bin/env -i HOME=/tmp PATH=/usr/games:/usr/bin:/bin DISPLAY=":$display")
    case $1 in
    chromium)
        packages=chromium
        command=(/usr/bin/chromium --no-sandbox --disable-gpu --no-first-run --disable-background-networking
            --disable-component-update --disable-sync --user-data-dir=/tmp/profile about:blank)
        ;;
    supertuxkart)
        packages=supertuxkart,$opengl
        command=(/usr/games/supertuxkart --windowed --screensize=800x600)
        ;;
    gnome-calculator)
        packages=gnome-calculator
        command=(/usr/bin/gnome-calculator)
        ;;
    love)
        packages=love,$opengl
        command=(/usr/bin/love /usr/share/game)
        ;;
    *) die "no application of the study: $1" ;;
    esac
    source=$work/rootfs-$1
}

# The engine of mari0 needs a game; this one draws a line of text.
game() {
    mkdir -p "$1/usr/share/game"
    echo 'function love.conf(t) t.modules.audio, t.modules.joystick = false, false end' >"$1/usr/share/game/conf.lua"
    echo 'function love.draw() love.graphics.print("started", 20, 20) end' >"$1/usr/share/game/main.lua"
}

display=$((RANDOM % 1000 + 1000))
# Without -noreset it starts anew when the last window goes, and refuses connections meanwhile.
Xvfb ":$display" -screen 0 1280x800x24 -nolisten tcp -noreset >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
# Where coldpress looks for windows.
export DISPLAY=":$display"
run=${1:-}
applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(chromium supertuxkart gnome-calculator love)
source=$work
begin launch-study "$run"
sed -i '/^- source: /d' "$run/README.md"
printf '\nCommand lines:\n' >>"$run/README.md"
for name in "${applications[@]}"; do
    application "$name"
    rootfs "$source" "$packages"
    [ "$name" != love ] || game "$source"
    words=(bench launch "$source" --compressors xz,lzo,gzip,zstd,lz4,none --from-source --walk --work-dir "$work"
        --runs "${COLDPRESS_BENCH_TURNS:-10}" --ready window --chroot --samples "$run/$name.json")
    printf '\n    coldpress %s\n' "$(printf '%q ' "${words[@]}" -- "${environment[@]}" "${command[@]}")" |
        sed "s|$run/||g; s|:$display|:0|; s| \$||; s|\\\\,|,|g" >>"$run/README.md"
    "$coldpress" "${words[@]}" -- "${environment[@]}" "${command[@]}" >"$run/$name.txt" || [ $? = 1 ]
    page=(report --samples "$run/$name.json" --source "$source" -o "$run/$name.html")
    [ -z "${COLDPRESS_BENCH_PUBLISHED:-}" ] || page+=(--samples "$COLDPRESS_BENCH_PUBLISHED")
    "$coldpress" "${page[@]}"
done
finish
