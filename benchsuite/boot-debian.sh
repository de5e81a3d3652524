#!/usr/bin/env bash
# Boots of a Debian root file system from four images: xz, zstd, the same without an order, and pressed.
# usage: benchsuite/boot-debian.sh [RUN-DIRECTORY]
# COLDPRESS_BENCH_TURNS: boots of each image (10); COLDPRESS_BENCH_DEVICE: usb2. Needs qemu-system-x86 as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
command -v qemu-system-x86_64 >/dev/null || die "install qemu-system-x86"
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
source=$work/rootfs-boot

# A root file system with systemd, the kernel of Debian for virtual machines, and an initrd that knows its disk and SquashFS. The
# root stays read-only, as on a live stick; what has to be written goes into memory.
if [ ! -d "$source" ]; then
    mmdebstrap --quiet --variant=minbase \
        --include=systemd-sysv,udev,linux-image-cloud-amd64,initramfs-tools,zstd,openssh-server,cron,rsyslog,dbus,python3 \
        --customize-hook='printf "squashfs\nvirtio_blk\nvirtio_pci\n" >>"$1/etc/initramfs-tools/modules"' \
        --customize-hook='chroot "$1" update-initramfs -u' \
        --customize-hook='printf "tmpfs /var tmpfs defaults 0 0\ntmpfs /tmp tmpfs defaults 0 0\n" >"$1/etc/fstab"' \
        --customize-hook='echo live >"$1/etc/hostname"' \
        bookworm "$source.part"
    mv "$source.part" "$source"
fi
kernel=$(echo "$source"/boot/vmlinuz-*)
initrd=$(echo "$source"/boot/initrd.img-*)
begin boot-debian "${1:-}"
echo "- QEMU: $(qemu-system-x86_64 --version | sed 1q)" >>"$run/README.md"
device=${COLDPRESS_BENCH_DEVICE:-usb2}

# The order of the pressed image: what a start of systemd reads, as far as that can be done in a chroot.
press "$work/boot-pressed.sqfs" -c zstd --runs 1 --plan-out "$run/plan" --chroot \
    -- /bin/sh -c 'systemd --test --system >/dev/null; systemd-analyze verify default.target; sshd -t; python3 -c "import json"; :' \
    >/dev/null
image() { "$coldpress" -q build "$source" "$work/boot-$1.sqfs" "${@:2}" || [ $? = 1 ]; }
image xz -c xz
image zstd -c zstd
image unordered-1M -c zstd -b 1M

printf '\nCommand line:\n\n    coldpress bench boot xz zstd unordered-1M pressed --device %s --runs %s\n' \
    "$device" "${COLDPRESS_BENCH_TURNS:-10}" >>"$run/README.md"
images=() names=()
for name in xz zstd unordered-1M pressed; do
    images+=("$work/boot-$name.sqfs")
    names+=(--name "$name")
done
"$coldpress" bench boot "${images[@]}" "${names[@]}" --kernel "$kernel" --initrd "$initrd" --device "$device" \
    --runs "${COLDPRESS_BENCH_TURNS:-10}" --samples "$run/boot.json" --chart "$run" >"$run/boot.txt" || [ $? = 1 ]
finish
