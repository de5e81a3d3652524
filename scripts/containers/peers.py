"""The tools that container images come from, and a registry on this machine."""

import contextlib
import hashlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence

# A registry that keeps what is pushed to it in DIRECTORY.
REGISTRY = """version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {directory}}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""
REGISTRY_STARTS_S = 20


def need(*tools: str) -> None:
    """Ends the script if a tool is missing, or who runs it is not root."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        sys.exit(f"these tools are missing: {', '.join(missing)}")
    if os.geteuid() != 0:
        sys.exit("this mounts images and unpacks owners: run it as root")


def run(*words: str | os.PathLike, **options) -> str:
    """What a program prints; ends the script with what it says if it fails."""
    ran = subprocess.run(words, capture_output=True, text=True, errors="replace", **options)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit status {ran.returncode}\n"
                 f"{ran.stdout[-2000:]}{ran.stderr[-4000:]}")
    return ran.stdout


def digest(path: str | os.PathLike) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def registry(directory: pathlib.Path) -> Iterator[str]:
    """docker-registry with its blobs in a directory; gives its host and port."""
    directory.mkdir(parents=True, exist_ok=True)
    host = f"127.0.0.1:{free_port()}"
    config = directory / "config.yml"
    config.write_text(REGISTRY.format(directory=directory / "data", port=host.split(":")[1]))
    process = subprocess.Popen(["docker-registry", "serve", config], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        end_s = time.monotonic() + REGISTRY_STARTS_S
        while True:
            try:
                urllib.request.urlopen(f"http://{host}/v2/").close()
                break
            except OSError:
                if time.monotonic() > end_s:
                    sys.exit("docker-registry does not answer")
                time.sleep(0.1)
        yield host
    finally:
        process.kill()
        process.wait()


def copy(source: str, destination: str, *options: str) -> None:
    """`skopeo copy`, to and from registries without TLS."""
    run("skopeo", "copy", "-q", "--src-tls-verify=false", "--dest-tls-verify=false", *options,
        source, destination)


def coldpress(program: pathlib.Path, words: Sequence[str | os.PathLike],
              **environment: str | os.PathLike) -> subprocess.CompletedProcess:
    """A run of coldpress that keeps no timings."""
    variables = {**os.environ, "COLDPRESS_HISTORY": "off",
                 **{name: str(value) for name, value in environment.items()}}
    return subprocess.run([program, *words], capture_output=True, text=True, errors="replace",
                          env=variables)
