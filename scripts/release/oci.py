"""Writes a container image (an OCI layout in a tar file) that holds one file, the binary.

Usage: oci.py OUTPUT VERSION PROCESSOR=BINARY...

`SOURCE_DATE_EPOCH` is the time of everything; nothing else of the machine gets in.
"""

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import time

PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
CREATED = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH))
MEDIA = "application/vnd.oci.image."


def add(archive, path, content, mode=0o644):
    """Adds a regular file of root."""
    entry = tarfile.TarInfo(path)
    entry.size, entry.mode, entry.mtime = len(content), mode, EPOCH
    archive.addfile(entry, io.BytesIO(content))


def layer(binary):
    """The tar archive of the file system, not compressed."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        # Runtimes mount what they are told to over these; `build` keeps its spool in the second.
        for path, mode in [("tmp", 0o1777), ("var", 0o755), ("var/tmp", 0o1777)]:
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, mode, EPOCH
            archive.addfile(entry)
        with open(binary, "rb") as file:
            add(archive, "coldpress", file.read(), 0o755)
    return buffer.getvalue()


def main():
    output, version, *images = sys.argv[1:]
    blobs = {}

    def descriptor(content, media_type):
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def document(value, media_type):
        return descriptor(json.dumps(value, sort_keys=True).encode(), media_type)

    manifests = []
    for image in images:
        processor, _, binary = image.partition("=")
        plain = layer(binary)
        packed = gzip.compress(plain, 9, mtime=0)
        config = {
            "created": CREATED,
            "architecture": PROCESSORS[processor],
            "os": "linux",
            "config": {"Entrypoint": ["/coldpress"], "Cmd": ["--help"]},
            "rootfs": {
                "type": "layers",
                "diff_ids": [f"sha256:{hashlib.sha256(plain).hexdigest()}"],
            },
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{MEDIA}manifest.v1+json",
            "config": document(config, f"{MEDIA}config.v1+json"),
            "layers": [descriptor(packed, f"{MEDIA}layer.v1.tar+gzip")],
        }
        platform = {"architecture": PROCESSORS[processor], "os": "linux"}
        described = document(manifest, manifest["mediaType"])
        manifests.append(described | {"platform": platform})

    # One entry with a name, which stands for the processors: readers of layouts look it up.
    index = {
        "schemaVersion": 2,
        "mediaType": f"{MEDIA}index.v1+json",
        "manifests": manifests,
    }
    named = document(index, index["mediaType"])
    named["annotations"] = {"org.opencontainers.image.ref.name": version}
    top = index | {"manifests": [named]}
    with tarfile.open(output, "w", format=tarfile.USTAR_FORMAT) as archive:
        add(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        add(archive, "index.json", json.dumps(top, sort_keys=True).encode())
        for path in sorted(blobs):
            add(archive, path, blobs[path])


main()
