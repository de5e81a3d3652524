"""Pulls and builds container images while networks, registries, disks and signals do wrong.

    python3 scripts/containers/faults.py
    python3 scripts/containers/faults.py --kinds kills --seed 7

After each fault there is either the image that an undisturbed run makes, or none. The cache has
no blob whose digest is another, nothing is left beside it, its indexes and the image, and an undisturbed run
with the same cache makes the image. Every place and moment comes from the seed, but what a moment
hits does not.

Needs root, and what trees.py needs. Ends with 1 if something was otherwise.
"""

import argparse
import collections
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import images
import peers
from proxy import Faults, Proxy

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# No run takes longer unless it hangs.
RUN_MAX_S = 120
# So slow that kills and second runs meet downloads too.
SLOW_BYTES_PER_S = 4_000_000


class Trial:
    """Directories of their own for one image, and runs that use them."""

    def __init__(self, test: "Test", name: str, faults: Faults) -> None:
        self.test, self.name = test, name
        self.directory = pathlib.Path(tempfile.mkdtemp(dir=test.scratch))
        for part in ("cache", "out", "tmp"):
            (self.directory / part).mkdir()
        test.proxy.faults = self.faults = faults

    def start(self, output: str = "image.sqfs") -> subprocess.Popen:
        variables = {**os.environ, "COLDPRESS_HISTORY": "off", "HOME": str(self.directory),
                     "TMPDIR": str(self.directory / "tmp")}
        reference = f"docker://{self.test.proxy.host}/{self.name}:app"
        words = [self.test.ours, "build", "-q", "-l", "1", reference,
                 self.directory / "out" / output, "--blob-cache", self.directory / "cache"]
        return subprocess.Popen(words, env=variables, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, errors="replace")

    def run(self) -> str:
        """What went wrong; nothing if nothing did."""
        return self.end(self.start())

    def end(self, process: subprocess.Popen, output: str = "image.sqfs") -> str:
        """Waits for a run, and looks at what it left."""
        try:
            _, said = process.communicate(timeout=RUN_MAX_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.find(f"no end after {RUN_MAX_S} s")
            return "hung"
        is_there = (self.directory / "out" / output).exists()
        if process.returncode not in (0, 2, 130, -signal.SIGKILL):
            self.find(f"exit status {process.returncode}: {said.strip()}")
        if process.returncode == 0 and not is_there:
            self.find("status 0, but no image")
        if process.returncode in (2, 130) and is_there:
            self.find(f"status {process.returncode}, but an image")
        return said.strip() or ("" if process.returncode == 0 else "ended")

    def look(self, may_be_partial: bool) -> None:
        """Looks at everything that is there."""
        for path in sorted(self.directory.rglob("*")):
            name = str(path.relative_to(self.directory))
            if path.is_dir() or name == "cache/lock":
                continue
            if name.startswith("out/image"):
                if peers.digest(path) != self.test.expected[self.name]:
                    self.find(f"{name} is another image")
            elif name.startswith("cache/blobs/sha256/") and path.suffix == ".partial":
                if not may_be_partial:
                    self.find(f"{name} is left")
            elif name.startswith("cache/blobs/sha256/") and path.suffix == ".index":
                if not path.with_suffix("").exists():
                    self.find(f"{name} is of no blob")
            elif name.startswith("cache/blobs/sha256/"):
                if peers.digest(path) != path.name:
                    self.find(f"{name} is another blob")
            else:
                self.find(f"{name} is left")
        for what in self.faults.wrong:
            self.find(what)

    def again(self) -> None:
        """An undisturbed run; the trial ends with it."""
        self.test.proxy.faults, faults = Faults(random.Random(0)), self.faults
        if said := self.run():
            self.find(f"the next run fails: {said}")
        self.look(False)
        self.test.counts += collections.Counter(faults.counts)
        subprocess.run(["rm", "-rf", self.directory], check=True)

    def find(self, text: str) -> None:
        where = f"{self.test.kind}, trial {self.test.number}, {self.name}"
        self.test.findings.append(f"{where}: {text}")
        print(self.test.findings[-1], flush=True)


class Test:
    """All trials."""

    def __init__(self, wanted: argparse.Namespace, proxy: Proxy, scratch: pathlib.Path) -> None:
        self.ours, self.seed, self.most = wanted.ours, wanted.seed, wanted.trials
        self.proxy, self.scratch = proxy, scratch
        self.expected: dict[str, str] = {}
        self.sent_bytes: dict[str, int] = {}
        self.took_s: dict[str, float] = {}
        self.findings: list[str] = []
        self.counts: collections.Counter[str] = collections.Counter()
        self.kind, self.number = "", 0

    def learn(self, name: str) -> None:
        """What an undisturbed run makes, and how long it takes."""
        trial = Trial(self, name, Faults(random.Random(0), bytes_per_s=SLOW_BYTES_PER_S))
        begin_s = time.monotonic()
        if said := trial.run():
            sys.exit(said)
        self.took_s[name] = time.monotonic() - begin_s
        self.sent_bytes[name] = trial.faults.sent_bytes
        self.expected[name] = peers.digest(trial.directory / "out/image.sqfs")
        trial.again()

    def trials(self, kind: str, count: int) -> Iterator[tuple[random.Random, str]]:
        self.kind, self.counts = kind, collections.Counter()
        count = min(count, self.most)
        for self.number in range(count):
            names = sorted(self.expected)
            rng = random.Random(f"{self.seed} {kind} {self.number}")
            yield rng, names[self.number % len(names)]
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self.counts.items()))
        print(f"{kind}: {count} trials; {counts}", flush=True)

    def disturbed(self, kind: str, count: int, faults_of: Callable) -> None:
        """Pulls from a registry, or over a network, with faults."""
        for rng, name in self.trials(kind, count):
            trial = Trial(self, name, faults_of(rng, self.sent_bytes[name]))
            said = trial.run()
            self.counts["no image" if said else "images"] += 1
            trial.look(bool(said))
            (trial.directory / "out/image.sqfs").unlink(missing_ok=True)
            trial.again()

    def kills(self, kind: str, count: int, number: int) -> None:
        """A signal at a random moment, from the start to after the end."""
        for rng, name in self.trials(kind, count):
            trial = Trial(self, name, Faults(rng, bytes_per_s=SLOW_BYTES_PER_S))
            process = trial.start()
            time.sleep(rng.random() * self.took_s[name] * 1.05)
            process.send_signal(number)
            said = trial.end(process)
            partial = list(trial.directory.rglob("*.partial"))
            self.counts["stopped" if said else "images"] += 1
            self.counts["stopped while a blob came"] += bool(partial)
            trial.look(True)
            trial.again()

    def pairs(self, kind: str, count: int, is_killed: bool) -> None:
        """Two runs at once with one cache; one is killed or both go on."""
        for rng, name in self.trials(kind, count):
            trial = Trial(self, name, Faults(rng, bytes_per_s=SLOW_BYTES_PER_S))
            first = trial.start()
            time.sleep(rng.random() * self.took_s[name] * rng.choice((0, 0.1, 1)))
            second = trial.start("image-2.sqfs")
            if is_killed:
                time.sleep(rng.random() * self.took_s[name])
                first.kill()
            ends = [trial.end(first), trial.end(second, "image-2.sqfs")]
            self.counts["images"] += ends.count("")
            if ends[1] or (ends[0] and not is_killed):
                trial.find(f"one of two fails: {ends}")
            trial.look(False)
            trial.again()

    def full_disks(self, kind: str, part: str, count: int, sizes: dict[str, int]) -> None:
        """A cache, or a directory of the image, with too little room; then it grows."""
        for rng, name in self.trials(kind, count):
            trial = Trial(self, name, Faults(rng))
            size = int(sizes[name] * (0.02 + rng.random())) + 4096
            with tmpfs(trial.directory / part, size) as grow:
                said = trial.run()
                self.counts["no image" if said else "images"] += 1
                if said and "No space left" not in said:
                    trial.find(f"another error: {said}")
                trial.look(bool(said))
                grow()
                self.proxy.faults = Faults(random.Random(0))
                if again := trial.run():
                    trial.find(f"with more room: {again}")
                trial.look(False)
            trial.again()


@contextlib.contextmanager
def tmpfs(at: pathlib.Path, size_bytes: int) -> Iterator[Callable[[], None]]:
    peers.run("mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", at)
    try:
        yield lambda: peers.run("mount", "-o", "remount,size=1G", at) and None
    finally:
        peers.run("umount", at)


def cut(rng: random.Random, sent_bytes: int) -> Faults:
    cuts = sorted(rng.randrange(sent_bytes) for _ in range(10))
    return Faults(rng, cuts=cuts, knows_ranges=rng.random() < 0.8)


def expiring(rng: random.Random, sent_bytes: int) -> Faults:
    cuts = sorted(rng.randrange(sent_bytes) for _ in range(3))
    return Faults(rng, cuts=cuts, token_uses=rng.randint(1, 3))


def everything(rng: random.Random, sent_bytes: int) -> Faults:
    return Faults(rng, cuts=cut(rng, sent_bytes).cuts, token_uses=3, busy_part=0.2, redirects=True)


KINDS: dict[str, Callable[[Test], None]] = {
    "cuts": lambda test: test.disturbed("cuts", 50, cut),
    "tokens": lambda test: test.disturbed("tokens", 30, expiring),
    "busy": lambda test: test.disturbed(
        "busy", 20, lambda rng, _: Faults(rng, busy_part=0.4, token_uses=rng.randint(0, 3))),
    "redirects": lambda test: test.disturbed(
        "redirects", 10, lambda rng, _: Faults(rng, redirects=True, token_uses=5)),
    "everything": lambda test: test.disturbed("everything", 30, everything),
    "full-cache": lambda test: test.full_disks("full-cache", "cache", 16, test.sent_bytes),
    "full-output": lambda test: test.full_disks("full-output", "out", 16, test.sent_bytes),
    "full-tmp": lambda test: test.full_disks("full-tmp", "tmp", 10, test.sent_bytes),
    "kills": lambda test: test.kills("kills", 50, signal.SIGKILL),
    "interrupts": lambda test: test.kills("interrupts", 20, signal.SIGINT),
    "pairs": lambda test: test.pairs("pairs", 20, False),
    "pairs-killed": lambda test: test.pairs("pairs-killed", 20, True),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=REPOSITORY / "target/release/coldpress",
                        type=pathlib.Path, help="the coldpress to test, with registries")
    parser.add_argument("--kinds", default=",".join(KINDS), help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=sys.maxsize,
                        help="at most so many of each kind")
    parser.add_argument("--work", type=pathlib.Path, help="where images are made and kept")
    wanted = parser.parse_args()
    peers.need("mmdebstrap", "umoci", "skopeo", "docker-registry", "tar", "mount")
    with tempfile.TemporaryDirectory(prefix="faults-") as own:
        work = (wanted.work or pathlib.Path(own)).resolve()
        maker = images.Maker(work / "images")
        small = maker.small()
        # Layers of zstd are kept in scratch files, those of gzip are not.
        layouts = (small, maker.compressed(small, "zstd"))
        with tempfile.TemporaryDirectory(dir=work) as scratch, \
                peers.registry(pathlib.Path(scratch) / "registry") as registry:
            for layout in layouts:
                peers.copy(f"oci:{layout}:app", f"docker://{registry}/{layout.name}:app")
            test = Test(wanted, Proxy(registry), pathlib.Path(scratch))
            for layout in layouts:
                test.learn(layout.name)
            for kind in wanted.kinds.split(","):
                KINDS[kind](test)
    print(f"{len(test.findings)} findings")
    return 1 if test.findings else 0


if __name__ == "__main__":
    sys.exit(main())
