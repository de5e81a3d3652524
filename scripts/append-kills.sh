#!/bin/sh
# Kills `mksquashfs` while it appends, at random moments, and reads the image each time with unsquashfs,
# the kernel (as root) and `coldpress check`. It must hold the old tree or the new one.
#
#     scripts/append-kills.sh [KILLS] [COLDPRESS]
set -eu

kills=${1:-200}
coldpress=$(realpath "${2:-target/debug/coldpress}")
work=$(mktemp -d)
cleanup() {
    mountpoint -q "$work/at" && umount "$work/at"
    rm -rf "$work"
}
trap cleanup EXIT
export COLDPRESS_HISTORY=off
mkdir "$work/old" "$work/new" "$work/at"
cd "$work"
fill() { # FILE BYTES
    head -c "$2" /dev/urandom | base64 -w 0 >"$1"
}
for number in 1 2 3; do
    fill "old/$number" 300000
    fill "new/new-$number" 2000000
done
"$coldpress" mksquashfs old old.sqfs -quiet
cp old.sqfs full.sqfs
begin=$(date +%s%N)
"$coldpress" mksquashfs new full.sqfs -quiet
took_us=$((($(date +%s%N) - begin) / 1000))
cp old.sqfs image.sqfs
old=0 new=0 grown=0
for number in $(seq "$kills"); do
    # Every second one begins with what the kill before left.
    if [ $((number % 2)) = 1 ] || [ "$(unsquashfs -l image.sqfs | grep -c new-)" != 0 ]; then
        cp old.sqfs image.sqfs
    fi
    random=$(od -An -N4 -tu4 /dev/urandom)
    # Also about and after the end, where the superblock is written.
    sleep_us=$((random % (took_us * 3 / 2)))
    "$coldpress" mksquashfs new image.sqfs -quiet &
    pid=$!
    sleep "$(printf '%d.%06d' $((sleep_us / 1000000)) $((sleep_us % 1000000)))"
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    [ "$(stat -c %s image.sqfs)" = "$(stat -c %s old.sqfs)" ] || grown=$((grown + 1))
    rm -rf out
    unsquashfs -q -n -d out image.sqfs >/dev/null
    if [ -e out/new-1 ]; then
        new=$((new + 1))
        diff -r new out -x '[123]'
    else
        old=$((old + 1))
        diff -r old out
    fi
    diff -r old out -x 'new-*'
    if [ "$(id -u)" = 0 ]; then
        mount -o loop,ro image.sqfs at
        diff -r out at
        umount at
    fi
    "$coldpress" check -q image.sqfs >findings 2>&1 || { cat findings && exit 1; }
done
echo "$kills kills: the old tree $old times, the new one $new times; $grown times the file had grown"
