#!/usr/bin/env python3
"""An image for enroot from a container image: coldpress beside the steps of `enroot import`, in turns.

usage: containers.py LAYOUT WORK-DIRECTORY TURNS RESULT.json COLDPRESS [OPTIONS OF MKSQUASHFS]

LAYOUT is an OCI layout of one image whose layers are compressed with gzip; a small registry serves
it. Both begin with what they keep of an earlier pull: coldpress with the layers as they are, enroot
with layers recompressed by `zstd -1`. The first build of coldpress decompresses each layer once more,
for an index that is kept beside it. enroot's steps (4.1, src/docker.sh): each layer is unpacked by
tar, whiteouts become those of overlay, the kernel's overlay puts the layers together, and mksquashfs
reads that. Both write to a file system of their own, whose use is sampled: the peak without the
image is scratch space. Then one layer is changed, and both build again, coldpress with `--reuse`.
Needs root.
"""

import gzip
import hashlib
import http.server
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import threading
import time

MIB = 1 << 20


def blob(layout, digest):
    return os.path.join(layout, "blobs", *digest.split(":"))


def load(layout, digest):
    with open(blob(layout, digest), "rb") as file:
        return json.load(file)


def digest_of(layout):
    with open(os.path.join(layout, "index.json"), "rb") as file:
        [entry] = json.load(file)["manifests"]
    return entry["digest"]


def manifest_of(layout):
    return load(layout, digest_of(layout))


def put(layout, data):
    digest = hashlib.sha256(data).hexdigest()
    with open(blob(layout, "sha256:" + digest), "wb") as file:
        file.write(data)
    return {"digest": "sha256:" + digest, "size": len(data)}


def serve(layouts):
    """A registry of images by name; returns where it listens."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            parts = self.path.split("/")
            if len(parts) < 5 or parts[2] not in layouts:
                return self.answer(io.BytesIO(b"{}"), 2, "application/json")
            layout, (kind, name) = layouts[parts[2]], parts[3:5]
            if name == "1":
                name = digest_of(layout)
            is_blob = kind == "blobs"
            media_type = "octet-stream" if is_blob else "vnd.oci.image.manifest.v1+json"
            path = blob(layout, name)
            with open(path, "rb") as file:
                return self.answer(file, os.path.getsize(path), f"application/{media_type}")

        def answer(self, content, size, media_type):
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(size))
            self.end_headers()
            # In pieces: the memory of this process would count as that of each child.
            shutil.copyfileobj(content, self.wfile)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"127.0.0.1:{server.server_port}"


def changed(layout, target):
    """The same image with more files in its last layer."""
    shutil.copytree(layout, target, copy_function=os.link)
    manifest = manifest_of(target)
    config = load(target, manifest["config"]["digest"])
    with gzip.open(blob(target, manifest["layers"][-1]["digest"])) as last:
        plain = io.BytesIO(last.read())
    with tarfile.open(fileobj=plain, mode="a") as archive:
        for number in range(40):
            entry = tarfile.TarInfo(f"opt/changed/{number}")
            content = hashlib.sha256(str(number).encode()).digest() * 8192
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    plain = plain.getvalue()
    manifest["layers"][-1] |= put(target, gzip.compress(plain, mtime=0))
    config["rootfs"]["diff_ids"][-1] = "sha256:" + hashlib.sha256(plain).hexdigest()
    manifest["config"] |= put(target, json.dumps(config).encode())
    entry = {"mediaType": "application/vnd.oci.image.manifest.v1+json"}
    entry |= put(target, json.dumps(manifest).encode())
    os.unlink(os.path.join(target, "index.json"))
    with open(os.path.join(target, "index.json"), "w") as file:
        json.dump({"schemaVersion": 2, "manifests": [entry]}, file)


def kept_by_enroot(layout, directory):
    """The layers as enroot keeps them, from the lowest to the uppermost."""
    os.makedirs(directory, exist_ok=True)
    files = []
    for layer in manifest_of(layout)["layers"]:
        file = os.path.join(directory, layer["digest"].split(":")[1])
        if not os.path.exists(file):
            source = blob(layout, layer["digest"])
            subprocess.run(f"gzip -dc {source} | zstd -q -1 -o {file}", shell=True, check=True)
        files.append(file)
    return files


ENROOT = r"""
set -euo pipefail
cd "$1"; output=$2; options=$3; shift 3
count=$#
for layer in "$@"; do echo "$layer"; done | cat -n | xargs -P "$(nproc)" -L 1 bash -c 'mkdir "$0" && tar -C "$0" \
    --warning=no-timestamp --anchored --exclude="dev/*" --exclude="./dev/*" \
    --use-compress-program=zstd --delay-directory-restore -pxf "$1"'
chmod -R u+rX .
# What enroot-aufs2ovlfs does.
find . -name '.wh.*' | while read -r path; do
    name=${path##*/}
    rm -f "$path"
    if [ "$name" = .wh..wh..opq ]; then
        setfattr -n trusted.overlay.opaque -v y "${path%/*}"
    else
        mknod "${path%/*}/${name#.wh.}" c 0 0
    fi
done
mkdir 0 merged
# The uppermost layer comes first, under the empty directory of enroot's own files.
lower=0
for ((layer = count; layer > 0; layer--)); do lower=$lower:$layer; done
mount -t overlay overlay -o "lowerdir=$lower" merged
trap 'umount merged' EXIT
mksquashfs merged "$output" -all-root -no-progress -quiet -noappend -processors "$(nproc)" $options
"""


class Usage:
    """The peak of what a file system holds, sampled."""

    def __init__(self, directory):
        self.directory, self.peak, self.stopped = directory, 0, False
        self.before = self.used()
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    def used(self):
        found = os.statvfs(self.directory)
        return (found.f_blocks - found.f_bfree) * found.f_frsize

    def sample(self):
        while not self.stopped:
            self.peak = max(self.peak, self.used() - self.before)
            time.sleep(0.02)

    def stop(self):
        self.stopped = True
        self.thread.join()
        return self.peak


def timed(command, scratch, output):
    subprocess.run(["sync"], check=True)
    usage = Usage(scratch)
    started = time.monotonic()
    child = subprocess.Popen(command, stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": scratch})
    err = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.monotonic() - started
    peak = usage.stop()
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"containers.py: failed: {command}\n{err.decode(errors='replace')}")
    size = os.path.getsize(output)
    return {"seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime,
            "peak_memory_bytes": used.ru_maxrss * 1024, "scratch_bytes": max(0, peak - size),
            "image_bytes": size}


def main():
    layout, work, turns, result, coldpress = sys.argv[1:6]
    options = sys.argv[6] if len(sys.argv) > 6 else "-comp zstd -Xcompression-level 3 -b 1M"
    os.environ |= {
        "ENROOT_SQUASH_OPTIONS": options,
        "COLDPRESS_BLOB_CACHE": os.path.join(work, "blob-cache"),
        "NO_PROXY": "127.0.0.1",
    }
    scratch = os.path.join(work, "scratch")
    other = os.path.join(work, "changed")
    shutil.rmtree(other, ignore_errors=True)
    changed(layout, other)
    host = serve({"whole": layout, "changed": other})
    kept = [kept_by_enroot(it, os.path.join(work, "enroot-cache")) for it in (layout, other)]
    output, old = os.path.join(scratch, "image.sqsh"), os.path.join(scratch, "old.sqsh")

    def enroot(layers):
        directory = os.path.join(scratch, "enroot")
        shutil.rmtree(directory, ignore_errors=True)
        os.mkdir(directory)
        command = ["bash", "-c", ENROOT, "enroot", directory, output, options, *layers]
        measured = timed(command, scratch, output)
        shutil.rmtree(directory)
        return measured

    def ours(source, *more):
        command = [coldpress, "-q", "build", "--preset", "enroot", f"docker://{host}#{source}:1", output]
        return timed([*command, *more], scratch, output)

    def first():
        for directory, _, names in os.walk(os.environ["COLDPRESS_BLOB_CACHE"]):
            for name in names:
                if name.endswith(".index"):
                    os.unlink(os.path.join(directory, name))
        return ours("whole")

    contestants = {
        "enroot's steps": lambda: enroot(kept[0]),
        "coldpress, first build": first,
        "coldpress": lambda: ours("whole"),
        "enroot's steps, one layer changed": lambda: enroot(kept[1]),
        "coldpress --reuse, one layer changed": lambda: ours("changed", "--reuse", old),
    }
    # Pulled, so that the cache has what the first timed build would fetch.
    ours("changed")
    os.unlink(output)
    samples = {name: [] for name in contestants}
    for turn in range(int(turns)):
        for name, run in contestants.items():
            samples[name].append(run())
            if name == "coldpress":
                os.rename(output, old)
            else:
                os.unlink(output)
            print(f"turn {turn + 1}: {name}: {samples[name][-1]['seconds']:.1f} s", file=sys.stderr)
        os.unlink(old)
    with open(result, "w") as file:
        json.dump({"options": options, "samples": samples}, file, indent=1)
    middle = {name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
              for name, runs in samples.items()}
    print("| | time | ratio | processor time | memory | scratch space | image |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    first = middle["enroot's steps"]["seconds"]
    for name, run in middle.items():
        print(f"| {name} | {run['seconds']:.1f} s | {run['seconds'] / first:.2f} | {run['cpu_seconds']:.1f} s "
              f"| {run['peak_memory_bytes'] / MIB:.0f} MiB | {run['scratch_bytes'] / MIB:.0f} MiB "
              f"| {run['image_bytes'] / MIB:.0f} MiB |")
    shutil.rmtree(other)


main()
