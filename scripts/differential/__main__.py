"""Runs coldpress and the original squashfs-tools on the same random cases, and compares them.

    python3 scripts/differential --minutes 60
    python3 scripts/differential --kinds unsquashfs --seed 7 --first 1234 --cases 1 --keep

Needs root (it mounts the images), and both tools. A case is made from its seed and number alone,
so that one that differed can be run again. Ends with 1 if a difference is not explained by the
documents (explained.py), and prints each with its commands.
"""

import argparse
import collections
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import explained
import trials

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=REPOSITORY / "target/release/coldpress",
                        type=pathlib.Path, help="the coldpress to test")
    parser.add_argument("--theirs", default=os.path.dirname(shutil.which("mksquashfs") or ""),
                        help="directory of the original mksquashfs, sqfstar and unsquashfs")
    parser.add_argument("--kinds", default=",".join(trials.KINDS), help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="at most so many")
    parser.add_argument("--minutes", type=float, default=1.0, help="at most so long")
    parser.add_argument("--keep", action="store_true", help="keep the directories of the cases")
    return parser.parse_args()


def tool_directory(coldpress: pathlib.Path, at: pathlib.Path) -> str:
    """coldpress under the names of the tools."""
    at.mkdir()
    for name in ("mksquashfs", "sqfstar", "unsquashfs"):
        (at / name).symlink_to(coldpress.resolve())
    return str(at)


def run_case(kind: str, seed: int, number: int, parent: pathlib.Path,
             tools: trials.Tools) -> trials.Case:
    rng = random.Random(f"{seed} {number} {kind}")
    case = trials.Case(rng, parent / f"{kind}-{seed}-{number}", tools)
    case.directory.mkdir()
    try:
        trials.KINDS[kind](case)
    except (subprocess.SubprocessError, OSError) as error:
        case.differences.append(f"not finished: {error}")
    return case


def main() -> int:
    wanted = arguments()
    if os.geteuid() != 0:
        print("this mounts images: run it as root", file=sys.stderr)
        return 2
    kinds = wanted.kinds.split(",")
    counts: collections.Counter[str] = collections.Counter()
    parent = pathlib.Path(tempfile.mkdtemp(prefix="differential-"))
    tools = trials.Tools(tool_directory(wanted.ours, parent / "ours"), wanted.theirs)
    # The files that a case makes have the modes that it gives them.
    os.umask(0o022)
    end_s = time.monotonic() + 60 * wanted.minutes
    number = wanted.first
    while number < wanted.first + wanted.cases and time.monotonic() < end_s:
        kind = kinds[number % len(kinds)]
        case = run_case(kind, wanted.seed, number, parent, tools)
        counts["cases"] += 1
        reasons = [explained.reason(line, case.commands) for line in case.differences]
        left = [line for line, why in zip(case.differences, reasons) if why is None]
        if case.crashed:
            counts["the original crashed, or wrote an image that cannot be read"] += 1
        elif left:
            counts["different"] += 1
            print(f"{kind}, seed {wanted.seed}, case {number}")
            for command in case.commands:
                print("   ", shlex.join(command))
            for line in left:
                print("       ", line)
            sys.stdout.flush()
        else:
            counts["explained" if case.differences else "equal"] += 1
        for why in {why for why in reasons if why}:
            counts[f"explained by {why}"] += 1
        if not wanted.keep:
            shutil.rmtree(case.directory)
        number += 1
    if not wanted.keep:
        shutil.rmtree(parent)
    for what, count in counts.items():
        print(f"{count:8} {what}")
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
