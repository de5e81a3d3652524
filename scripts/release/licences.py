"""Prints the licences of everything that is linked into the binary, but for coldpress's own.

Usage: licences.py MUSL_COPYRIGHT

They are the files that the crates bring, those of the C libraries within them included.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

TARGET = "x86_64-unknown-linux-musl"
NAME = re.compile(r"(?i)^(licen[cs]e|copying|copyright|notice|unlicense)")
# Licences of what is not compiled: tools, tests, and a library beside the one in use.
LEFT_OUT = re.compile(r"GPL|/(tests?|doc|contrib|programs|examples?|zlib-ng)/")
# Offered as an alternative to a permissive licence, which is the one taken.
NOT_TAKEN = re.compile(r"\s*GNU (LESSER )?GENERAL PUBLIC LICENSE")


def linked():
    """The packages that the binary is linked from: name and version."""
    edges = ["-e", "normal,no-proc-macro", "--target", TARGET]
    tree = ["cargo", "tree", "--quiet", "--locked", "-p", "coldpress-cli", *edges]
    lines = subprocess.check_output([*tree, "--prefix", "none"], text=True).splitlines()
    return {tuple(line.split()[:2]) for line in lines if line}


def texts(directory):
    """The licence files below a directory, in a fixed order."""
    for path in sorted(directory.rglob("*")):
        inside = path.relative_to(directory)
        is_left_out = LEFT_OUT.search(f"/{inside}")
        is_text = path.suffix.lower() in ("", ".txt", ".md", ".0bsd")
        if NAME.match(path.name) and is_text and path.is_file() and not is_left_out:
            text = path.read_text(errors="replace").strip()
            if not NOT_TAKEN.match(text):
                yield inside, text


def main():
    metadata = ["cargo", "metadata", "--quiet", "--locked", "--filter-platform", TARGET]
    metadata += ["--format-version", "1"]
    packages = json.loads(subprocess.check_output(metadata))["packages"]
    wanted = linked()
    # Each text once: most crates bring the same licence of Apache.
    first = {}
    out = []
    for package in sorted(packages, key=lambda it: (it["name"], it["version"])):
        name, version = package["name"], package["version"]
        if package["source"] is None or (name, f"v{version}") not in wanted:
            continue
        out.append(f"{'=' * 78}\n{name} {version}: {package['license'] or package['license_file']}")
        for path, text in texts(Path(package["manifest_path"]).parent):
            seen = first.setdefault(text, f"{name} {version}")
            is_first = seen == f"{name} {version}"
            out.append(f"--- {path}\n\n{text}" if is_first else f"--- {path}: as of {seen}")
    out.append(f"{'=' * 78}\nmusl, the C library\n\n{Path(sys.argv[1]).read_text().strip()}")
    print("\n\n".join(out))


main()
