"""Updates between two Debian versions of programs: what each updater transfers, against the predicted start.

usage: releases.py COLDPRESS WORK RUN [NAME...]
WORK gets packages, trees and images, each made once; RUN a JSON file for each pair, and tables in README.md.
"""
import json
import os
import pathlib
import subprocess
import sys

U13, U14 = "4:7.4.7-1+deb12u13", "4:7.4.7-1+deb12u14"
JDK = "usr/lib/jvm/java-17-openjdk-amd64/bin/java"
# Its configuration needs a root of its own, so only its largest libraries are loaded.
OFFICE = "import ctypes; [ctypes.CDLL(name) for name in ('libmergedlo.so', 'libswlo.so')]"
# Versions that bookworm and bookworm-security have beside each other, packages of that version, libraries that
# this machine may lack, and a start.
PYTHON = (
    ("3.11.2-6+deb12u8", "3.11.2-6+deb12u9"),
    "python3.11 python3.11-minimal libpython3.11-stdlib libpython3.11-minimal",
    "",
    ["usr/bin/python3.11", "-c", "import asyncio, email.mime.text, http.client, json, sqlite3, ssl"],
)
PAIRS = {
    "python": PYTHON,
    # The same in a Debian root: an update of a system, of which little changes.
    "debian": PYTHON,
    "openjdk": (
        ("17.0.19+10-1~deb12u2", "17.0.21.1+2-1~deb12u1"),
        "openjdk-17-jre-headless",
        "",
        [JDK, "-Xshare:auto", "-XshowSettings:all", "-version"],
    ),
    "libreoffice": (
        (U13, U14),
        "libreoffice-core libreoffice-writer libreoffice-common libuno-sal3 libuno-cppu3 libuno-cppuhelpergcc3-3"
        " libuno-salhelpergcc3-3 libuno-purpenvhelpergcc3-3 uno-libs-private ure",
        "libgpgmepp6 libclucene-core1v5 libclucene-contribs1v5 libexttextcat-2.0-0 libhunspell-1.7-0 libhyphen0"
        " libmythes-1.2-0 libnumbertext-1.0-0 liborcus-0.17-0 liborcus-parser-0.17-0 libboost-locale1.74.0"
        " libboost-thread1.74.0 libboost-chrono1.74.0 librdf0 librasqal3 libraptor2-0 libharfbuzz-icu0 libeot0"
        " liblangtag1 libmhash2 libyajl2 libxslt1.1 libassuan0 libgpgme11",
        ["/usr/bin/python3", "-c", OFFICE],
    ),
    "firefox-esr": (
        ("140.12.0esr-1~deb12u1", "153.7.0esr-1~deb12u1"),
        "firefox-esr",
        "libvpx7",
        ["usr/lib/firefox-esr/firefox-esr", "--headless", "--screenshot", "/dev/null", "about:blank"],
    ),
    "chromium": (
        ("150.0.7871.100-1~deb12u1", "156.0.8078.79-1~deb12u1"),
        "chromium chromium-common",
        "",
        ["usr/lib/chromium/chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "about:blank"],
    ),
}
STABILITIES = ("0.2", "0.5", "1")
# bsdiff and HDiffPatch sort all suffixes of the old image, for minutes and in 17 and 10 times its bytes; xdelta3
# takes a minute for 60 MB.
BYTES_MAX = {"xdelta3": 80 << 20, "bsdiff": 32 << 20, "hdiffpatch": 32 << 20}
DEVICES = ("usb2", "host")
# Of zstd; the largest programs are compressed sooner with less.
LEVEL = os.environ.get("COLDPRESS_BENCH_LEVEL", "15")

coldpress, work, run = sys.argv[1], pathlib.Path(sys.argv[2]).absolute(), pathlib.Path(sys.argv[3])


def call(*words, may_warn=False, **options):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, **options)
    if done.returncode not in ((0, 1) if may_warn else (0,)):
        sys.exit(f"releases.py: {words} ended with {done.returncode}")
    return done.stdout


def tree(name, side, version, packages, libraries):
    """The unpacked packages of one side."""
    directory = work / f"{name}-{side}"
    root = directory / "root"
    if root.is_dir():
        return root
    (directory / "packages").mkdir(parents=True, exist_ok=True)
    if name == "debian":
        base = work / "base"
        if not base.is_dir():
            call("mmdebstrap", "--quiet", "--variant=minbase", "--include=python3,git,perl,vim,gdb", "bookworm", base)
        call("cp", "-a", base, directory / "unpacked")
    wanted = [f"{package}={version}" for package in packages.split()] + libraries.split()
    for package in wanted:
        call("apt-get", "download", "-qq", package, cwd=directory / "packages", stderr=subprocess.DEVNULL)
    for package in sorted((directory / "packages").iterdir()):
        call("dpkg-deb", "-x", package, directory / "unpacked")
    for link in list((directory / "unpacked").rglob("*")):
        # The start is not in a root of its own.
        if link.is_symlink() and os.readlink(link).startswith("/"):
            target = (directory / "unpacked").joinpath(os.readlink(link).lstrip("/"))
            if os.path.lexists(target):
                link.unlink()
                link.symlink_to(os.path.relpath(target, link.parent))
    (directory / "unpacked").rename(root)
    return root


def recorded(root, command):
    """The profile of a start."""
    trace = root.parent / "trace"
    if not trace.exists():
        home = root.parent / "home"
        home.mkdir(exist_ok=True)
        # In the shell, for the place of {root} is known there.
        shell = (
            'root=$1; program=$2; shift 2; lib=$root/usr/lib; '
            'export LD_LIBRARY_PATH=$lib/libreoffice/program:$lib/x86_64-linux-gnu; '
            'case $program in /*) ;; *) program=$root/$program ;; esac; exec "$program" "$@"'
        )
        call(coldpress, "-q", "record", root, "-o", trace, "--", "/bin/sh", "-c", shell, "sh", "{root}", *command,
             env={**os.environ, "HOME": str(home)}, stderr=subprocess.DEVNULL, may_warn=True)
    return trace


def mksquashfs(root, image, *options):
    if image.exists():
        return
    call("mksquashfs", root, image, "-comp", "zstd", "-Xcompression-level", LEVEL, "-noappend", "-quiet",
         "-no-progress", *options)


def sort_file(root, trace):
    """The order of a start, for mksquashfs."""
    plan, sort = root.parent / "plan", root.parent / "sort"
    call(coldpress, "-q", "profile", "plan", trace, "--source", root, "-o", plan, may_warn=True)
    call(coldpress, "-q", "plan", "convert", "--from", "plan", "--to", "mksquashfs", "-o", sort, plan,
         may_warn=True, stderr=subprocess.DEVNULL)
    return sort


def build(root, image, *options):
    if image.exists():
        return
    call(coldpress, "-q", "build", root, image, "-c", "zstd", "-l", LEVEL, *options, may_warn=True,
         stderr=subprocess.DEVNULL)


def images(name, roots, traces):
    """Contestants: for each the old and the new image."""
    at = {side: work / f"{name}-{side}" for side in roots}
    made = {}
    for side, root in roots.items():
        pairs = {"mksquashfs": [], "mksquashfs -sort": ["-sort", sort_file(root, traces[side])]}
        for contestant, options in pairs.items():
            image = at[side] / f"{contestant.replace(' ', '')}.sqfs"
            mksquashfs(root, image, *options)
            made.setdefault(contestant, {})[side] = image
        image = at[side] / "coldpress.sqfs"
        build(root, image, "--profile", traces[side])
        made.setdefault("coldpress", {})[side] = image
    old = made["coldpress"]["old"]
    for stability in STABILITIES:
        image = at["new"] / f"stable-{stability}.sqfs"
        build(roots["new"], image, "--profile", traces["new"], "--stable-from", old, "--stability", stability,
              "--align", "4K", "--verify")
        made[f"--stability {stability}"] = {"old": old, "new": image}
    return made


def measured(pair, trace):
    """What updaters transfer, and what a start is predicted to wait for."""
    size_bytes = pair["old"].stat().st_size
    updaters = ["zsync", "casync", "rauc"]
    updaters += [name for name, limit in BYTES_MAX.items() if size_bytes <= limit]
    delta = json.loads(call(coldpress, "-q", "diff", pair["old"], pair["new"], "--json", "--delta", ",".join(updaters)))
    for row in delta["updaters"]:
        del row["share"]
    start = {}
    for device in DEVICES:
        said = call(coldpress, "-q", "predict", pair["new"], "--trace", trace, "--device", device, "--warm", "0.001",
                    "--json", may_warn=True, stderr=subprocess.DEVNULL)
        start[device] = json.loads(said)["time_s"] - 0.001
    return {
        "new_bytes": delta["second_bytes"],
        "start_s": start,
        "regions": delta["regions"],
        "updaters": delta["updaters"],
    }


def table(result):
    """A row for each contestant; figures beside those of mksquashfs."""
    base = {row["updater"]: row["bytes"] for row in result["mksquashfs"]["updaters"]}
    names = list(base)
    best = min(found["start_s"]["usb2"] for found in result.values())
    lines = ["| image | MB | start usb2 | beside the best | start host | " + " | ".join(names) + " |",
             "|---" * (5 + len(names)) + "|"]
    for contestant, found in result.items():
        rows = {row["updater"]: row["bytes"] for row in found["updaters"]}
        cells = [f"{rows[name] / 1e6:.2f} MB, {rows[name] / base[name]:.2f}" for name in names]
        start = found["start_s"]
        lines.append(f"| {contestant} | {found['new_bytes'] / 1e6:.1f} | {start['usb2']:.3f} s | {start['usb2'] / best:.2f} "
                     f"| {start['host']:.3f} s | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    for name in sys.argv[4:] or PAIRS:
        versions, packages, libraries, command = PAIRS[name]
        roots, traces = {}, {}
        for side, version in zip(("old", "new"), versions):
            roots[side] = tree(name, side, version, packages, libraries)
            traces[side] = recorded(roots[side], command)
        made = images(name, roots, traces)
        result = {contestant: measured(pair, traces["new"]) for contestant, pair in made.items()}
        (run / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        with open(run / "README.md", "a", encoding="utf-8") as readme:
            readme.write(f"\n## {name}, {versions[0]} to {versions[1]}, zstd -l {LEVEL}\n\n{table(result)}\n")
        print(name, table(result), sep="\n", flush=True)


main()
