#!/usr/bin/env bash
# What tune recommends against what it does not, and against what people build today: cold starts of five applications on four devices. Of
# each compressor the image that tune predicts to start soonest is built, of the recommended one that with another block size too, and the
# defaults of five tools by mksquashfs.
# usage: benchsuite/tuner.sh [RUN-DIRECTORY [APPLICATION...]]
# All images are built before any start is measured: the machine must do nothing else only then, when it says so.
# COLDPRESS_BENCH_TURNS: cold starts of each image (5 on host, 3 on emmc and usb2, 1 on hdd, where it is the throttle that takes the time);
# COLDPRESS_BENCH_DEVICES: what is tried. What is measured already stays.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
. benchsuite/applications.sh
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
images=$work/tuner
mkdir -p "$images"
read -ra devices <<<"${COLDPRESS_BENCH_DEVICES:-host emmc usb2 hdd}"
declare -A turns=([host]=5 [emmc]=3 [usb2]=3 [hdd]=1)

# An image, made once: made NAME COMMAND... with IMAGE where its name belongs
made() {
    image=$images/$name-$1.sqfs
    contestants+=(--image "$1=$image")
    shift
    [ -e "$image" ] || "${@/#IMAGE/$image}" >/dev/null 2>"$work/errors" || [ $? = 1 ]
}

# Notes what a command takes: timed WHAT COMMAND...
timed() {
    /usr/bin/time -q -a -o "$run/times.txt" -f "$1: %e s" "${@:2}" 2>"$work/errors" || [ $? = 1 ]
}

# What people build today; the last is zstd 15, 128K, unsorted.
today() {
    pack=(mksquashfs "$source" IMAGE -no-progress -quiet)
    [ -e "$images/$name.sort" ] ||
        "$coldpress" -q profile export "$images/$name.trace" --format mksquashfs --source "$source" -o "$images/$name.sort"
    made mksquashfs "${pack[@]}"
    made snap "${pack[@]}" -comp xz -no-fragments
    made Tails "${pack[@]}" -comp zstd -Xcompression-level 22 -b 1M -sort "$images/$name.sort"
    made enroot "${pack[@]}" -comp lzo -noD
    made appimagetool "${pack[@]}" -comp zstd
}

# What tune says of the images of an application on a device, and the images that are compared: tuned DEVICE
tuned() {
    said=$run/$name-$1.tune.json
    if [ ! -e "$said" ]; then
        # The search may take one and a half times what one image takes.
        grep -qs "^build $name: " "$run/times.txt" || timed "build $name" "$coldpress" -q build "$source" "$images/$name-plain.sqfs" -c zstd -l 15
        timed "tune $name $1" "$coldpress" -q tune "$source" --trace "$images/$name.trace" --device "$1" --json >"$said"
    fi
    while read -r label options; do
        # shellcheck disable=SC2086
        made "$label" "$coldpress" -q build "$source" IMAGE $options
    done < <(python3 benchsuite/tuner.py candidates "$said" "$images/$name.trace")
}

# The images of an application that are compared on a device, in `contestants`: prepare NAME DEVICE
prepare() {
    name=$1
    recorded "$name"
    contestants=()
    today
    tuned "$2"
}

measure() {
    for device in "${devices[@]}"; do
        [ ! -e "$run/$1-$device.json" ] || continue
        prepare "$1" "$device"
        echo "== $name, $device" >&2
        "$coldpress" -q bench launch "$source" "${contestants[@]}" --device "$device" --runs "${COLDPRESS_BENCH_TURNS:-${turns[$device]}}" \
            --no-store --work-dir "$work" --samples "$work/samples.json" "${start[@]}" -- "${command[@]}" >"$work/table" || [ $? = 1 ]
        mv "$work/samples.json" "$run/$name-$device.json"
    done
}

calibrated "$work"
screen
applications=("${@:2}")
[ ${#applications[@]} -gt 0 ] || applications=(python3 git gnome-calculator libreoffice chromium)
source=benchsuite
begin tuner "${1:-}"
keep_calibration
sed -i '/^- source: /d' "$run/README.md"
for application in "${applications[@]}"; do
    for device in "${devices[@]}"; do prepare "$application" "$device"; done
done
echo "== all are built: measuring" >&2
for application in "${applications[@]}"; do measure "$application"; done
python3 benchsuite/tuner.py compare "$run" | tee "$run/tuner.txt"
python3 benchsuite/tuner.py keep "$run"
finish
