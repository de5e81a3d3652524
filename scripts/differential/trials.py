"""One random case of each kind: both tools get the same words, and what they made is compared."""

import dataclasses
import os
import pathlib
import random
import re
import shutil
import subprocess

import observe
import options
import trees

TIMEOUT_S = 120


@dataclasses.dataclass
class Tools:
    """The directories that hold `mksquashfs`, `sqfstar` and `unsquashfs`."""

    ours: str
    theirs: str


@dataclasses.dataclass
class Outcome:
    """What one tool did: its exit status, and what it printed."""

    status: int
    stdout: bytes
    stderr: bytes

    def has_crashed(self) -> bool:
        # 4.7.5 can free the name of a directory before it sets the time of it.
        has_lost_name = re.search(rb"^set_attributes: .* No such file or directory$", self.stderr,
                                  re.MULTILINE)
        return self.status < 0 or self.status in (134, 139) or has_lost_name is not None


@dataclasses.dataclass
class Case:
    """A case in its own directory, with all that a person needs to repeat it."""

    rng: random.Random
    directory: pathlib.Path
    tools: Tools
    commands: list[list[str]] = dataclasses.field(default_factory=list)
    differences: list[str] = dataclasses.field(default_factory=list)
    crashed: str = ""

    def both(self, tool: str, words: list[str], stdin: bytes = b"") -> tuple[Outcome, Outcome]:
        """Runs `tool` of both sides, each in a directory of its own."""
        self.commands.append([tool, *words])
        found = []
        for side, where in (("ours", self.tools.ours), ("theirs", self.tools.theirs)):
            cwd = self.directory / side
            cwd.mkdir(exist_ok=True)
            arguments = [os.fsencode(word) for word in [os.path.join(where, tool), *words]]
            # The original waits for terminals and clocks of its own: standard input is ended.
            ran = subprocess.run(arguments, cwd=cwd, input=stdin, capture_output=True,
                                 timeout=TIMEOUT_S, check=False)
            found.append(Outcome(ran.returncode, ran.stdout, ran.stderr))
        ours, theirs = found
        if ours.has_crashed():
            self.differences.append(f"ours crashed: status {ours.status}: {ours.stderr[-300:]!r}")
        elif theirs.has_crashed():
            self.crashed = f"theirs crashed: status {theirs.status}"
        elif (ours.status == 0) != (theirs.status == 0):
            self.differences.append(
                f"exit status: ours {ours.status} {ours.stderr[-300:]!r}, "
                f"theirs {theirs.status} {(theirs.stderr or theirs.stdout)[-300:]!r}")
        return ours, theirs

    def compare_images(self, name: str, offset: str | None = None) -> None:
        """Trees as the kernel shows them, and superblocks as the original prints them."""
        images = [str(self.directory / side / name) for side in ("ours", "theirs")]
        for image in images:
            # A loop device begins at the image, and shows whole sectors only.
            content = pathlib.Path(image).read_bytes()[int(offset or 0):]
            pathlib.Path(image).write_bytes(content + bytes(-len(content) % 4096))
        with observe.mounted(images[0], str(self.directory / "at-ours")) as at:
            ours_holds = observe.tree(at)
        try:
            with observe.mounted(images[1], str(self.directory / "at-theirs")) as at:
                theirs_holds = observe.tree(at)
        except (OSError, subprocess.CalledProcessError) as error:
            self.crashed = f"theirs made an image that cannot be read: {error}"
            return
        if observe.is_damaged(ours_holds):
            self.differences.append("ours made an image with xattrs that cannot be read")
        elif observe.is_damaged(theirs_holds):
            self.crashed = "theirs made an image with xattrs that cannot be read"
            return
        self.differences += observe.tree_differences(ours_holds, theirs_holds)
        unsquashfs = os.path.join(self.tools.theirs, "unsquashfs")
        ours, theirs = (observe.superblock(image, unsquashfs) for image in images)
        for line in sorted(set(ours) ^ set(theirs)):
            side = "ours" if line in ours else "theirs"
            self.differences.append(f"superblock: only {side}: {line}")


def _tree(case: Case, name: str, files: list[bytes] | None = None) -> trees.Tree:
    root = os.fsencode(case.directory / name)
    return trees.Tree(case.rng, root, files).fill(case.rng.choice([0, 3, 12, 40]))


def _plain_names(tree: trees.Tree) -> list[str]:
    """Names that are the same word to a shell, a pattern and a list of lines."""
    names = [name.decode("utf-8", "surrogateescape") for name in trees.names_below(tree.root)]
    return [name for name in names if all(char.isalnum() or char in "./_" for char in name)]


def _offset(words: list[str]) -> str | None:
    return words[words.index("-offset") + 1] if "-offset" in words else None


def _sources(case: Case) -> tuple[list[str], list[str], bytes]:
    """Sources, options that belong to them, and standard input."""
    tree = _tree(case, "src")
    form = case.rng.choice(["one", "one", "one", "two", "file", "contents", "no-strip", "cpio",
                            "tar"])
    names = _plain_names(tree)
    if form == "two":
        _tree(case, "more", tree.files)
        return ["../src", "../more"], [], b""
    if form == "file":
        (case.directory / "alone").write_text("alone\n")
        return ["../alone", "../src"], [], b""
    if form == "contents":
        tops = [f"../src/{os.fsdecode(name)}" for name in sorted(os.listdir(tree.root))]
        return (tops or ["../src"]), [], b""
    if form == "no-strip":
        return ["../src"], ["-no-strip"], b""
    if form == "cpio":
        lines = "".join(f"../src/{name}\n" for name in names)
        return ["-"], ["-cpiostyle"], lines.encode()
    if form == "tar":
        return ["-"], ["-tar"], archive(case, tree)
    return ["../src"], [], b""


def archive(case: Case, tree: trees.Tree) -> bytes:
    """The tree as a tar stream, by GNU tar or libarchive's, in one of their formats."""
    root = os.fsdecode(tree.root)
    what = case.rng.choice([["."], sorted(os.listdir(root)) or ["."]])
    gnu = ["tar", "-c", "--xattrs", "--xattrs-include=*", "-C", root, "--"]
    forms = [gnu[:1] + ["--format=pax"] + gnu[1:], gnu[:1] + ["--format=gnu"] + gnu[1:]]
    if shutil.which("bsdtar"):
        forms.append(["bsdtar", "-c", "-f", "-", "--format=pax", "-C", root, "--"])
    made = subprocess.run(case.rng.choice(forms) + what, capture_output=True, check=False)
    return made.stdout


def mksquashfs(case: Case) -> None:
    sources, belonging, stdin = _sources(case)
    tree = trees.names_below(os.fsencode(case.directory / "src"))
    words = options.mksquashfs(case.rng)
    names = [os.fsdecode(name) for name in tree]
    left_out = options.excludes(case.rng, sources, names) if not stdin else []
    ours, theirs = case.both(
        "mksquashfs",
        [*sources, "o.img", "-noappend", "-no-progress", *belonging, *words, *left_out], stdin)
    if ours.status == theirs.status == 0:
        case.compare_images("o.img", _offset(words))


def sqfstar(case: Case) -> None:
    stream = archive(case, _tree(case, "src"))
    words = options.sqfstar(case.rng)
    ours, theirs = case.both("sqfstar", ["-no-progress", *words, "o.img"], stream)
    if ours.status == theirs.status == 0:
        case.compare_images("o.img", _offset(words))


def append(case: Case) -> None:
    """An image, and one to three calls that add to it."""
    files = _tree(case, "src").files
    ours, theirs = case.both("mksquashfs", ["../src", "o.img", "-no-progress",
                                            *options.mksquashfs_plain(case.rng)])
    for index in range(case.rng.randint(1, 3)):
        if ours.status != 0 or theirs.status != 0:
            return
        sources = [f"../add{index}"]
        _tree(case, f"add{index}", files)
        if case.rng.random() < 0.4:
            sources.append("../src")
        words = case.rng.choice([[], [], ["-keep-as-directory"], ["-root-becomes", "old"],
                                 ["-no-recovery"], ["-p", "/made d 755 0 0"], ["-all-root"]])
        ours, theirs = case.both("mksquashfs", [*sources, "o.img", "-no-progress", *words])
    if ours.status == theirs.status == 0:
        case.compare_images("o.img")


def unsquashfs(case: Case) -> None:
    tree = _tree(case, "src")
    names = _plain_names(tree)
    image = str(case.directory / "in.img")
    subprocess.run([os.path.join(case.tools.theirs, "mksquashfs"), os.fsdecode(tree.root), image,
                    "-noappend", "-quiet", "-no-progress"], check=True, capture_output=True)
    before, paths = options.unsquashfs(case.rng, names)
    ours, theirs = case.both("unsquashfs", ["-no-progress", *before, "../in.img", *paths])
    if case.crashed:
        return
    if ours.status != theirs.status:
        case.differences.append(f"exit status: ours {ours.status}, theirs {theirs.status}")
    if ours.stdout != theirs.stdout:
        case.differences += printed_differences(ours.stdout, theirs.stdout)
    roots = [case.directory / side / "squashfs-root" for side in ("ours", "theirs")]
    held = [observe.tree(str(root)) if root.exists() else {} for root in roots]
    case.differences += observe.tree_differences(*held)


def printed_differences(ours: bytes, theirs: bytes) -> list[str]:
    """Lines that only one of them printed, or that the order is another."""
    mine, other = ours.splitlines(), theirs.splitlines()
    lines = [f"standard output: only ours: {line!r}" for line in mine if line not in other]
    lines += [f"standard output: only theirs: {line!r}" for line in other if line not in mine]
    return lines[:10] or ["standard output: the same lines in another order or number"]


KINDS = {"mksquashfs": mksquashfs, "sqfstar": sqfstar, "unsquashfs": unsquashfs, "append": append}
