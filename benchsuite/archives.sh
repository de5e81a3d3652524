#!/usr/bin/env bash
# Archives in the order of a start: Firefox, Thunderbird, a fat jar, the rasterizer of Batik, Freeplane, a zipapp.
# Cold starts from SquashFS (mksquashfs, zstd) and ext4 on slowed disks, with archives as they are and ordered.
# usage: benchsuite/archives.sh [RUN-DIRECTORY]
# COLDPRESS_BENCH_TURNS: turns (3). Needs java, jar, zip, unzip, python3, Xvfb and mkfs.ext4 as well.
set -euo pipefail
cd "$(dirname "$0")/.."
. benchsuite/common.sh
command -v Xvfb >/dev/null || die "install xvfb"
work=${COLDPRESS_BENCH_DIR:-/var/tmp/coldpress-bench}
mkdir -p "$work"
turns=${COLDPRESS_BENCH_TURNS:-3}
rootfs "$work/rootfs-firefox" firefox-esr
rootfs "$work/rootfs-thunderbird" thunderbird
rootfs "$work/rootfs-java" openjdk-17-jre,freeplane
rootfs "$work/rootfs-zipapp" python3
source=$work/rootfs-firefox
begin archives "${1:-}"

# A command in a root with /proc, /dev and an empty /tmp; $work/logs is its /mnt: inside ROOT COMMAND
inside() {
    mkdir -p "$work/logs"
    unshare -m bash -c 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount -t tmpfs tmpfs "$1/tmp"
        mount --bind "$2" "$1/mnt"; exec chroot "$1" sh -c "$3"' inside "$1" "$work/logs" "$2"
}

# The trace of a start in a root, by the recorder that sees single pages: traced NAME ROOT COMMAND
traced() {
    "$coldpress" -q record "$2" -o "$work/$1.trace" --recorder fuse --chroot -- sh -c "$3"
}

# Images of a root with other archives: images NAME ROOT USES VARIANT=OPTIONS... -- ARCHIVE...
# USES: what says which entries a start uses, for all variants that do not say it themselves.
images() {
    local name=$1 root=$2 uses=$3 variants=() variant tree archive options
    shift 3
    while [ "$1" != -- ]; do variants+=("$1") && shift; done
    shift
    for variant in unordered= "${variants[@]}"; do
        tree=$work/tree
        rm -rf "$tree"
        cp -al "$root" "$tree"
        if [ -n "${variant#*=}" ]; then
            options=${variant#*=}
            [[ $options = *--log* || $options = *--trace* ]] || options+=" $uses"
            for archive; do
                rm "$tree$archive"
                # shellcheck disable=SC2086
                "$coldpress" jar order "$root$archive" -o "$tree$archive" --verify $options 2>&1 |
                    sed "s|^|    |; s|$work/||" >>"$run/README.md"
            done
        fi
        mksquashfs "$tree" "$work/$name-${variant%%=*}.sqfs" -noappend -quiet -no-progress -comp zstd -Xcompression-level 9
        rm -f "$work/$name-${variant%%=*}.ext4"
        mkfs.ext4 -q -O ^has_journal -d "$tree" "$work/$name-${variant%%=*}.ext4" 1600M
    done
}

# Starts in turn: starts NAME COMMAND DEVICES VARIANT...
starts() {
    local name=$1 command=$2 devices=$3 image=${1%-existing} device limits kind variant
    shift 3
    for kind in sqfs ext4; do
        for device in $devices; do
            case $device in hdd) limits="120000000 100" ;; usb2) limits="25000000 400" ;; host) limits="0 0" ;; esac
            local contestants=()
            for variant; do contestants+=("$variant=$work/$image-$variant.$kind"); done
            # shellcheck disable=SC2086
            python3 benchsuite/cold_archives.py "$work" "$turns" $limits "$command" "${contestants[@]}" \
                >"$run/$name-$kind-$device.json"
        done
    done
}

firefox='mkdir -p /tmp/prof; HOME=/tmp exec firefox-esr --headless --no-remote --profile /tmp/prof
    --screenshot /tmp/p.png "data:text/html,<p>started"'
firefox=${firefox//$'\n'/ }
inside "$work/rootfs-firefox" "export MOZ_JAR_LOG_FILE=/mnt/firefox.log; $firefox"
omni="/usr/lib/firefox-esr/omni.ja /usr/lib/firefox-esr/browser/omni.ja"
traced firefox "$work/rootfs-firefox" "$firefox"
# shellcheck disable=SC2086
images firefox "$work/rootfs-firefox" "--trace $work/firefox.trace" "tail=--layout tail" \
    "double=--layout double" "gecko=--layout gecko" "stored=--layout tail --store all" \
    "log=--layout tail --log $work/logs/firefox.log" -- $omni
starts firefox "$firefox" "hdd usb2 host" unordered tail double gecko stored log
mkdir -p "$work/logs/prof"
inside "$work/rootfs-firefox" "mkdir -p /tmp/prof; ${firefox/exec/} && cp -a /tmp/prof/. /mnt/prof"
mkdir -p "$work/home" && cp -a "$work/logs/prof" "$work/home/"
starts firefox-existing "$firefox" usb2 unordered tail double
rm -r "$work/home"
for variant in unordered tail double log; do
    "$coldpress" explain "$work/firefox-$variant.sqfs" --chroot --json -- sh -c "$firefox" >"$work/explain.json"
    python3 - "$work/explain.json" "$variant" >>"$run/README.md" <<'PYTHON'
import json, sys

found = json.load(open(sys.argv[1]))
print(f"\nexplain, {sys.argv[2]}: {found['totals']['device_reads']} reads;", end="")
for file in found["files"]:
    if file["path"].endswith("omni.ja"):
        print(f" `{file['path']}`: {file['device_reads']} reads, {file['read_bytes']} bytes;", end="")
print()
PYTHON
done
press "$work/pressed.sqfs" --archives --device usb2 --runs 6 --samples "$run/press-archives-usb2.json" \
    --chroot -- sh -c "$firefox" >"$run/press-archives-usb2.txt"

thunderbird='mkdir /tmp/prof; HOME=/tmp timeout 12 thunderbird --headless --profile /tmp/prof; true'
inside "$work/rootfs-thunderbird" "export MOZ_JAR_LOG_FILE=/mnt/thunderbird.log; $thunderbird"
traced thunderbird "$work/rootfs-thunderbird" "$thunderbird"
images thunderbird "$work/rootfs-thunderbird" "--trace $work/thunderbird.trace" "tail=--layout tail" \
    "double=--layout double" -- /usr/lib/thunderbird/omni.ja
starts thunderbird "$thunderbird" "usb2 host" unordered tail double

jars=/usr/share/java
rm -rf "$work/fat" && mkdir "$work/fat"
for jar in groovy-all-2.4.21 batik-all fop-core fontbox2 xercesImpl-2.12.0 ivy-2.5.0 js-1.7.14 idw-1.6.1; do
    unzip -qqo "$work/rootfs-java$jars/$jar.jar" -d "$work/fat"
done
rm -f "$work"/fat/META-INF/{*.SF,*.RSA,MANIFEST.MF}
jar --create --file "$work/rootfs-java/usr/share/fat.jar" --main-class groovy.ui.GroovyMain -C "$work/fat" .
fat='-jar /usr/share/fat.jar -e "println new groovy.json.JsonSlurper().parseText(\"{}\")"'
inside "$work/rootfs-java" "java -Xlog:class+load:file=/mnt/fat.log $fat"
images fat "$work/rootfs-java" "--log $work/logs/fat.log" "tail=--layout tail" "stored=--store hot" -- /usr/share/fat.jar
starts fat "exec java $fat" "hdd usb2" unordered tail stored

echo '<svg xmlns="http://www.w3.org/2000/svg"><circle r="80"/><text y="99">hello</text></svg>' \
    >"$work/rootfs-java/usr/share/x.svg"
path=$jars/batik-all-1.16.jar:$jars/xml-apis-ext.jar:$jars/xml-apis.jar:$jars/xmlgraphics-commons.jar
batik="-Djava.awt.headless=true -cp $path org.apache.batik.apps.rasterizer.Main -scriptSecurityOff -d /tmp/o.png /usr/share/x.svg"
inside "$work/rootfs-java" "java -Xlog:class+load:file=/mnt/batik.log $batik"
images batik "$work/rootfs-java" "--log $work/logs/batik.log" "tail=--layout tail" "stored=--store hot" \
    -- $jars/batik-all-1.16.jar
starts batik "exec java $batik" hdd unordered tail stored

# A desktop program with a window, from some eighty jars.
display=$((RANDOM % 1000 + 1000))
Xvfb ":$display" -screen 0 1280x800x24 -nolisten tcp -noreset >/dev/null 2>&1 &
server=$!
trap 'kill $server' EXIT
export DISPLAY=":$display"
window=(--chroot --ready window -- /usr/bin/env -i HOME=/tmp PATH=/usr/bin:/bin DISPLAY=":$display" /usr/bin/freeplane)
"$coldpress" -q record "$work/rootfs-java" -o "$work/freeplane.trace" --recorder fuse "${window[@]}"
mapfile -t jars_read < <(grep -ao '/[^ ]*\.jar$' "$work/freeplane.trace" | sort -u)
images freeplane "$work/rootfs-java" "--trace $work/freeplane.trace" "tail=--layout tail" -- "${jars_read[@]}"
for device in hdd usb2; do
    "$coldpress" bench launch "$work/rootfs-java" --image "unordered=$work/freeplane-unordered.sqfs" --image "tail=$work/freeplane-tail.sqfs" \
        --runs "$turns" --no-store --device "$device" --samples "$run/freeplane-sqfs-$device.json" "${window[@]}" >"$run/freeplane-sqfs-$device.txt"
done

# The standard library as a zipapp that imports a tenth of it.
rm -rf "$work/zipapp" && cp -r "$work/rootfs-zipapp/usr/lib/python3.11" "$work/zipapp"
rm -rf "$work"/zipapp/{lib-dynload,config-*}
find "$work/zipapp" -name __pycache__ -prune -exec rm -r {} +
cat >"$work/zipapp/__main__.py" <<'PYTHON'
import sys
sys.path.sort(key=lambda path: not path.endswith(".pyz"))
import json, email.parser, http.client, unittest, asyncio, xml.dom.minidom, argparse, logging.config
PYTHON
python3 -m zipapp "$work/zipapp" -o "$work/rootfs-zipapp/usr/share/app.pyz" -c
inside "$work/rootfs-zipapp" "python3 -X importtime /usr/share/app.pyz 2>/mnt/zipapp.log"
images zipapp "$work/rootfs-zipapp" "--log $work/logs/zipapp.log" "tail=--layout tail" "stored=--store hot" \
    -- /usr/share/app.pyz
starts zipapp 'exec python3 /usr/share/app.pyz' "hdd usb2" unordered tail stored

python3 - "$run" >>"$run/README.md" <<'PYTHON'
import json, statistics, sys
from pathlib import Path

for path in sorted(Path(sys.argv[1]).glob("*-*-*.json")):
    if not path.stem.startswith(("press", "freeplane")):
        print(f"\n## {path.stem}\n\n| contestant | s | MB | reads |\n|---|---|---|---|")
        for name, runs in json.loads(path.read_text()).items():
            seconds, size_bytes, reads = (statistics.median(column) for column in zip(*runs))
            print(f"| {name} | {seconds:.2f} | {size_bytes / 1e6:.1f} | {reads:.0f} |")
PYTHON
finish
