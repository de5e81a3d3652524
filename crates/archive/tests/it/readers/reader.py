"""For each archive of a directory: the SHA-256 of its names and contents, or that it is refused."""

import hashlib
import os
import sys
import zipfile


def digest(path):
    whole = hashlib.sha256()
    with zipfile.ZipFile(path) as archive:
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            if not info.filename.endswith("/"):
                whole.update(info.filename.encode() + b"\0" + hashlib.sha256(archive.read(info)).digest())
    return whole.hexdigest()


for name in sorted(os.listdir(sys.argv[1])):
    try:
        print(name, digest(os.path.join(sys.argv[1], name)))
    except Exception as error:
        print(name, "refused:", error)
