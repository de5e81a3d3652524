"""Real container images, each as an OCI layout: `DIRECTORY/NAME` with the image `app`.

A Debian root comes from mmdebstrap. Layers above it are what Debian's own programs do to it, in a
root that buildah (overlay) or umoci (lists of changes) compares with what there was.
"""

import hashlib
import json
import pathlib
import shutil
import subprocess
import textwrap
from collections.abc import Callable

import peers
from peers import run

MIRROR = "http://deb.debian.org/debian"
RELEASE = "bookworm"

# What the python image gets, and what is done to it then: removed and replaced directories,
# directories that become files and links and back, links to files of lower layers, capabilities,
# owners, devices, names that are no text.
INSTALL = "apt-get update -qq && apt-get install -y --no-install-recommends "
PYTHON = INSTALL + "python3 python3-pip python3-venv libcap2-bin attr"
CHANGES = r"""
    python3 -m venv --without-pip /opt/venv
    python3 -m compileall -q /usr/lib/python3/dist-packages || true
    rm -rf /usr/share/doc /usr/share/locale
    mkdir /usr/share/doc && echo kept >/usr/share/doc/kept
    rm -rf /var/lib/apt/lists && ln -s /var/cache/apt /var/lib/apt/lists
    rm -rf /usr/share/man && echo 'no manuals' >/usr/share/man
    rm /etc/debian_version
    mkdir -p /etc/debian_version/below && touch /etc/debian_version/below/it
    rm /bin/ls
    ln /usr/bin/python3.11 /opt/python-hard; ln /etc/fstab /opt/fstab-hard
    ln -s ../usr/lib/python3 /opt/python-lib; ln -s /nowhere/at/all /opt/dangling
    setcap cap_net_bind_service=ep /usr/bin/python3.11
    setfattr -n user.origin -v 'layer three' /etc/hostname
    chown 1234:5678 /opt; chmod 2751 /opt; chown -h 7:8 /opt/dangling
    mknod /opt/null c 1 3; mknod /opt/disk b 8 0; mkfifo /opt/pipe
    touch -d 2001-02-03T04:05:06.789 /opt/pipe; touch -hd 1999-12-31 /opt/dangling
    printf x >"/opt/$(printf 'not-text-\377\n')"; mkdir /opt/.hidden '/opt/with space'
    head -c 3000000 /dev/zero >/opt/zeros; truncate -s 50M /opt/hole; : >/opt/empty
    mkdir -p /opt/deep/$(seq -s / 1 60); chmod 000 /opt/empty; chmod u+s /usr/bin/tail
"""
LAST = r"""
    rm -rf /opt/venv/lib && mkdir -p /opt/venv/lib/again && echo 3 >/opt/venv/lib/again/it
    rm /usr/share/man && mkdir /usr/share/man && echo 'a manual' >/usr/share/man/one
    rm -r /etc/debian_version && echo 12 >/etc/debian_version
    rm /opt/fstab-hard /opt/null; rm -r /opt/deep/1/2/3; touch -d 2010-01-01 /opt
    rm /var/lib/apt/lists && mkdir -p /var/lib/apt/lists/partial
"""
# About 2 GB of programs, libraries, headers and data.
PACKAGES = INSTALL + ("gcc g++ gfortran clang-14 golang-1.19-go golang-1.19-src rustc "
                      "openjdk-17-jdk-headless python3-scipy python3-pandas python3-matplotlib "
                      "libreoffice-core fonts-noto-cjk texlive-latex-base")
PRUNED = r"""
    rm -rf /usr/share/doc /var/lib/apt/lists/* /usr/lib/go-1.19/src/cmd
    mkdir -p /usr/share/doc && apt-get purge -y gfortran
    find / -xdev -name '*.a' -size +1M -delete
"""

ESTARGZ = r"""
    package main

    import (
        "io"
        "os"

        "github.com/containerd/stargz-snapshotter/estargz"
    )

    func check(err error) {
        if err != nil {
            panic(err)
        }
    }

    func main() {
        file, err := os.Open(os.Args[1])
        check(err)
        status, err := file.Stat()
        check(err)
        blob, err := estargz.Build(io.NewSectionReader(file, 0, status.Size()))
        check(err)
        out, err := os.Create(os.Args[2])
        check(err)
        _, err = io.Copy(out, blob)
        check(err)
        check(blob.Close())
        os.Stdout.WriteString(blob.DiffID().String())
    }
"""


class Maker:
    """Makes images below a directory, each once."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def once(self, name: str, make: Callable[[pathlib.Path], None]) -> pathlib.Path:
        """Something that is there or made now, under its name only when it is whole."""
        there, new = self.directory / name, self.directory / f"{name}.new"
        if not there.exists():
            print(f"making {name}", flush=True)
            shutil.rmtree(new, ignore_errors=True)
            new.unlink(missing_ok=True)
            make(new)
            new.rename(there)
        return there

    def root(self) -> pathlib.Path:
        """A small Debian as a tar archive."""
        def make(at: pathlib.Path) -> None:
            run("mmdebstrap", "--variant=minbase", "--format=tar", RELEASE, at, MIRROR)
        return self.once("root.tar", make)

    def debian(self) -> pathlib.Path:
        """One layer."""
        def make(at: pathlib.Path) -> None:
            run("umoci", "init", "--layout", at)
            run("umoci", "new", "--image", f"{at}:app")
            run("umoci", "raw", "add-layer", "--image", f"{at}:app", self.root())
        return self.once("debian", make)

    def python(self) -> pathlib.Path:
        """Four layers as buildah makes them: of directories in an overlay."""
        return self.once("python", lambda at: self.built(at, (PYTHON, CHANGES, LAST)))

    def small(self) -> pathlib.Path:
        """Five layers with about 20 MB, one of which hides something."""
        def make(at: pathlib.Path) -> None:
            parts = self.directory / "parts"
            run("umoci", "init", "--layout", at)
            run("umoci", "new", "--image", f"{at}:app")
            for path in ("etc", "usr/bin", "usr/share/perl5", "usr/share/zoneinfo", "usr/sbin"):
                shutil.rmtree(parts, ignore_errors=True)
                parts.mkdir()
                run("tar", "-xpf", self.root(), "-C", parts, f"./{path}")
                run("umoci", "insert", "--image", f"{at}:app", parts / path, f"/{path}")
            run("umoci", "insert", "--whiteout", "--image", f"{at}:app", "/etc/cron.daily")
            shutil.rmtree(parts)
        return self.once("small", make)

    def large(self) -> pathlib.Path:
        """Three layers with about 2 GB."""
        return self.once("large", lambda at: self.built(at, (PACKAGES, PRUNED)))

    def repacked(self) -> pathlib.Path:
        """The last two layers of the python image as umoci makes them, which lists every change."""
        def make(at: pathlib.Path) -> None:
            bundle = self.directory / "bundle"
            run("cp", "-a", self.python_base(), at)
            for script in (CHANGES, LAST):
                shutil.rmtree(bundle, ignore_errors=True)
                run("umoci", "unpack", "--image", f"{at}:app", bundle)
                in_root(bundle / "rootfs", script)
                run("umoci", "repack", "--image", f"{at}:app", bundle)
            shutil.rmtree(bundle)
        return self.once("repacked", make)

    def python_base(self) -> pathlib.Path:
        return self.once("python-base", lambda at: self.built(at, (PYTHON,)))

    def built(self, at: pathlib.Path, scripts: tuple[str, ...]) -> None:
        # Its own store: nothing of the machine's images is touched.
        buildah = ["buildah", "--root", self.directory / "store",
                   "--runroot", self.directory / "run"]
        container = run(*buildah, "from", "scratch").strip()
        try:
            top = run(*buildah, "mount", container).strip()
            run("tar", "--numeric-owner", "--xattrs", "--xattrs-include=*", "-xpf", self.root(),
                "-C", top)
            for number, script in enumerate(("", *scripts)):
                if script:
                    in_root(pathlib.Path(top), script)
                run(*buildah, "umount", container)
                name = f"localhost/{at.name}:{number}"
                run(*buildah, "commit", "-q", "--rm", container, name)
                container = run(*buildah, "from", "--pull-never", name).strip()
                top = run(*buildah, "mount", container).strip()
            run(*buildah, "push", "-q", name, f"oci:{at}:app")
        finally:
            run(*buildah, "rm", "--all")
            run(*buildah, "rmi", "--all", "--force")

    def compressed(self, image: pathlib.Path, form: str) -> pathlib.Path:
        """An image with its layers compressed by skopeo: zstd, zstd:chunked."""
        name = f"{image.name}-{form.replace(':', '-')}"
        option = f"--dest-compress-format={form}"
        return self.once(name, lambda at: peers.copy(f"oci:{image}:app", f"oci:{at}:app", option))

    def estargz(self, image: pathlib.Path) -> pathlib.Path:
        """An image with layers as containerd's stargz-snapshotter writes them."""
        def make(at: pathlib.Path) -> None:
            program = self.estargz_program()
            run("cp", "-a", image, at)
            manifest, config = documents(at)
            for number, layer in enumerate(manifest["layers"]):
                plain, new = at / "plain.tar", at / "new.tar.gz"
                with open(plain, "wb") as file:
                    blob = blob_path(at, layer["digest"])
                    subprocess.run(["gzip", "-dc", blob], stdout=file, check=True)
                config["rootfs"]["diff_ids"][number] = run(program, plain, new)
                layer |= put(at, new.read_bytes())
                plain.unlink()
                new.unlink()
            manifest["config"] |= put(at, json.dumps(config).encode())
            index = json.loads((at / "index.json").read_text())
            index["manifests"][0] |= put(at, json.dumps(manifest).encode())
            (at / "index.json").write_text(json.dumps(index))
        return self.once(f"{image.name}-estargz", make)

    def estargz_program(self) -> pathlib.Path:
        def make(at: pathlib.Path) -> None:
            at.mkdir()
            (at / "main.go").write_text(textwrap.dedent(ESTARGZ))
            module = "github.com/containerd/stargz-snapshotter/estargz@v0.16.3"
            for words in (["mod", "init", "estargz"], ["get", module], ["build", "-o", "estargz"]):
                run("go", *words, cwd=at)
        return self.once("estargz-program", make) / "estargz"


def in_root(top: pathlib.Path, script: str) -> None:
    """Runs a script as root inside a directory, with the names of this machine's network."""
    (top / "etc/resolv.conf").write_bytes(pathlib.Path("/etc/resolv.conf").read_bytes())
    (top / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (top / "usr/sbin/policy-rc.d").chmod(0o755)
    # Only these programs see the mount: it is no part of what is compared.
    run("unshare", "--mount", "sh", "-euc",
        'mount -t proc proc "$0/proc" && exec chroot "$0" /bin/sh -euc "$1"', top,
        "export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin\n" + script)


def blob_path(layout: pathlib.Path, name: str) -> pathlib.Path:
    return layout / "blobs" / name.replace(":", "/")


def documents(layout: pathlib.Path) -> tuple[dict, dict]:
    """The manifest and the configuration of a layout's only image."""
    def read(descriptor: dict) -> dict:
        return json.loads(blob_path(layout, descriptor["digest"]).read_text())
    index = json.loads((layout / "index.json").read_text())
    manifest = read(index["manifests"][0])
    return manifest, read(manifest["config"])


def put(layout: pathlib.Path, content: bytes) -> dict:
    """Keeps a blob; returns what its descriptor says of it."""
    name = f"sha256:{hashlib.sha256(content).hexdigest()}"
    blob_path(layout, name).write_bytes(content)
    return {"digest": name, "size": len(content)}
