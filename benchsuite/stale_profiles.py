#!/usr/bin/env python3
"""What a profile of one release is worth for the next: what of it is stale, and the start that it gives.

usage: stale_profiles.py COLDPRESS WORK RUN NAME...    NAME is a pair of releases.py, WORK its directory
For each pair, builds the new image without a profile, with that of the old release, with that of the new one, and with both merged, and
predicts the start of the new release from each. Writes RUN/NAME.json, and a table to RUN/README.md.
"""

import json
import pathlib
import subprocess
import sys

source = (pathlib.Path(__file__).parent / "releases.py").read_text()
releases = {"__name__": "releases"}
exec(compile(source.replace("\nmain()\n", "\n"), "releases.py", "exec"), releases)
coldpress, work, run = releases["coldpress"], releases["work"], releases["run"]
call = releases["call"]


def check(profile, root):
    """What of a profile a tree does not have, in percent, and the exit status of a check that allows a tenth."""
    said = json.loads(call(coldpress, "-q", "profile", "check", profile, root, "--json", may_warn=True, stderr=subprocess.DEVNULL))
    done = subprocess.run([coldpress, "-q", "profile", "check", profile, root, "--fail-stale", "10"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    return said, done.returncode


def main():
    for name in sys.argv[4:]:
        versions, packages, libraries, command = releases["PAIRS"][name]
        roots, profiles = {}, {}
        for side, version in zip(("old", "new"), versions):
            roots[side] = releases["tree"](name, side, version, packages, libraries)
            trace = releases["recorded"](roots[side], command)
            profiles[side] = work / f"{name}-{side}" / "profile"
            call(coldpress, "-q", "profile", "merge", trace, "--source", roots[side], "-o", profiles[side], may_warn=True,
                 stderr=subprocess.DEVNULL)
        profiles["merged"] = work / f"{name}-new" / "merged.profile"
        call(coldpress, "-q", "profile", "merge", profiles["old"], profiles["new"], "--source", roots["new"], "-o", profiles["merged"],
             may_warn=True, stderr=subprocess.DEVNULL)
        files = lambda root: {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file() and not path.is_symlink()}
        old, new = files(roots["old"]), files(roots["new"])
        changed = sum(old.get(path) != content for path, content in new.items()) / len(new)
        said, status = check(profiles["old"], roots["new"])
        merged, _ = check(profiles["merged"], roots["new"])
        result = {"files": len(new), "changed_share": changed, "check": said, "check_merged": merged, "fail_stale_10": status, "start_s": {}}
        trace = work / f"{name}-new" / "trace"
        for which in ("none", "old", "merged", "new"):
            image = work / f"{name}-new" / f"by-{which}.sqfs"
            if not image.exists():
                options = [] if which == "none" else ["--profile", profiles[which]]
                call(coldpress, "-q", "build", roots["new"], image, "-c", "zstd", "-l", "3", *options, may_warn=True,
                     stderr=subprocess.DEVNULL)
            result["start_s"][which] = {}
            for device in ("usb2", "host"):
                said = call(coldpress, "-q", "predict", image, "--trace", trace, "--device", device, "--warm", "0.001", "--json",
                            may_warn=True, stderr=subprocess.DEVNULL)
                result["start_s"][which][device] = json.loads(said)["time_s"] - 0.001
        (run / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        print(name, json.dumps(result), flush=True)


main()
