#!/usr/bin/env bash
# Boots of a Debian live medium made by live-build: as it is, with the image in the order of its boot, and with reading ahead.
# usage: benchsuite/live-boot.sh ISO [RUN-DIRECTORY]
# ISO: made by live-build, with `console=ttyS0` among the words of its kernel (--bootappend-live).
# COLDPRESS_BENCH_TURNS: boots of each medium (5); COLDPRESS_BENCH_DEVICE: usb2. Needs qemu-system-x86 and xorriso as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
for tool in qemu-system-x86_64 xorriso; do
    command -v "$tool" >/dev/null || die "install $tool"
done
iso=$(realpath "${1:?usage: benchsuite/live-boot.sh ISO [RUN-DIRECTORY]}")
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}/live-boot
device=${COLDPRESS_BENCH_DEVICE:-usb2}
mkdir -p "$work"
begin live-boot "${2:-}"
echo "- QEMU: $(qemu-system-x86_64 --version | sed 1q)" >>"$run/README.md"

# The program for initrds needs no libraries.
RUSTFLAGS='-C target-feature=+crt-static' cargo build --release --quiet -p coldpress-ahead \
    --target x86_64-unknown-linux-gnu --target-dir target/static
helper=target/static/x86_64-unknown-linux-gnu/release/coldpress-prefetch

out() { rm -f "$3" && xorriso -osirrox on -indev "$1" -extract "$2" "$3" >"$work/xorriso.log" 2>&1; }
ready=(--ready-line 'login: ' --guest-memory 2G --timeout 3000)
"$coldpress" record --vm "$iso" -o "$work/boot.trace" "${ready[@]}" --quiet-for 20 2>"$run/record.txt"
"$coldpress" -q profile merge "$work/boot.trace" -o "$work/boot.profile"
"$coldpress" retrofit "$iso" -o "$work/pressed.iso" --profile "$work/boot.profile" 2>"$run/retrofit.txt" || [ $? = 1 ]
out "$work/pressed.iso" /live/filesystem.squashfs "$work/pressed.sqfs"
out "$iso" /live/vmlinuz "$work/vmlinuz"
out "$iso" /live/initrd.img "$work/initrd.img"
"$coldpress" hooks live-boot "$work/pressed.sqfs" --profile "$work/boot.profile" --helper "$helper" \
    --add-to "$work/initrd.img" -o "$work/hook.img" 2>"$run/hooks.txt"

# boots NAME INITRD MEDIUM...: the kernel is started by QEMU, as the menu of the medium waits for a person
boots() {
    local name=$1 initrd=$2 status=0
    shift 2
    "$coldpress" bench boot "$@" --kernel "$work/vmlinuz" --initrd "$initrd" --append 'boot=live components' \
        "${ready[@]}" --device "$device" --runs "${COLDPRESS_BENCH_TURNS:-5}" \
        --samples "$run/$name.json" >"$run/$name.txt" || status=$?
    [ "$status" -le 1 ]
}
boots boot "$work/initrd.img" "$iso" "$work/pressed.iso" --name default --name pressed
boots hook "$work/hook.img" "$work/pressed.iso" --name hook
finish
