#!/usr/bin/env bash
# What tune recommends against what it does not, and against what people build today: cold starts of five applications, on the disk
# as it is and on a USB 2 stick. Of each compressor the image that tune predicts to start soonest is built, and the defaults of five tools by
# mksquashfs.
# usage: benchsuite/tuner.sh [RUN-DIRECTORY [APPLICATION...]]
# COLDPRESS_BENCH_TURNS: cold starts of each image (5); COLDPRESS_BENCH_DEVICES: what is tried. What is measured already stays.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
images=$work/tuner
mkdir -p "$images"
read -ra devices <<<"${COLDPRESS_BENCH_DEVICES:-host usb2}"

# An image, made once: made NAME COMMAND... with IMAGE where its name belongs
made() {
    image=$images/$name-$1.sqfs
    contestants+=(--image "$1=$image")
    shift
    [ -e "$image" ] || "${@/#IMAGE/$image}" >/dev/null 2>"$work/errors" || [ $? = 1 ]
}

# What people build today.
today() {
    pack=(mksquashfs "$source" IMAGE -no-progress -quiet)
    [ -e "$images/$name.sort" ] ||
        "$coldpress" -q profile export "$images/$name.trace" --format mksquashfs --source "$source" -o "$images/$name.sort"
    made zstd-unsorted "${pack[@]}" -comp zstd -Xcompression-level 15
    made mksquashfs "${pack[@]}"
    made snap "${pack[@]}" -comp xz -no-fragments
    made Tails "${pack[@]}" -comp zstd -Xcompression-level 22 -b 1M -sort "$images/$name.sort"
    made enroot "${pack[@]}" -comp lzo -noD
    made appimagetool "${pack[@]}" -comp zstd
}

# What tune says of the images of an application on a device, and the images that are compared: tuned DEVICE
tuned() {
    said=$run/$name-$1.tune.json
    [ -e "$said" ] || "$coldpress" -q tune "$source" --trace "$images/$name.trace" --device "$1" --json >"$said"
    while read -r label options; do
        # shellcheck disable=SC2086
        made "$label" "$coldpress" -q build "$source" IMAGE $options
    done < <(python3 benchsuite/tuner.py candidates "$said" "$images/$name.trace")
}

measure() {
    name=$1
    application "$name"
    rootfs "$source" "$packages"
    [ -e "$images/$name.trace" ] ||
        "$coldpress" -q record "$source" -o "$images/$name.trace" "${start[@]}" -- "${command[@]}" 2>"$work/errors"
    for device in "${devices[@]}"; do
        [ ! -e "$run/$name-$device.json" ] || continue
        echo "== $name, $device" >&2
        contestants=()
        today
        tuned "$device"
        "$coldpress" -q bench launch "$source" "${contestants[@]}" --device "$device" --runs "${COLDPRESS_BENCH_TURNS:-5}" \
            --no-store --work-dir "$work" --samples "$work/samples.json" "${start[@]}" -- "${command[@]}" >"$work/table" || [ $? = 1 ]
        mv "$work/samples.json" "$run/$name-$device.json"
    done
}

screen
applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(python3 git gnome-calculator libreoffice chromium)
source=benchsuite
begin tuner "${1:-}"
sed -i '/^- source: /d' "$run/README.md"
for name in "${applications[@]}"; do measure "$name"; done
python3 benchsuite/tuner.py compare "$run" | tee "$run/tuner.txt"
finish
