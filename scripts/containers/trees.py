"""Builds images of real container images, and compares their trees with those of other tools.

    python3 scripts/containers/trees.py
    python3 scripts/containers/trees.py --images large --work /var/tmp/containers

For each image, the tree that the kernel shows of the built image is compared with (a) an overlay
of the kernel over layers unpacked by GNU tar, and (b) what `umoci unpack` makes, entry by entry;
`coldpress diff` compares them too. Then the image is built from every other form of the container
image, and must be the same, byte by byte.

Needs root, the network of a Debian mirror, and mmdebstrap, buildah, umoci, skopeo,
docker-registry, GNU tar, zstd, and for eStargz go. Ends with 1 if a difference is not explained
by docs/containers.md.
"""

import argparse
import collections
import json
import pathlib
import sys
import tempfile

import images
import merged
import peers
from peers import copy, digest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "scripts/differential"))
import observe  # noqa: E402

IMAGES = ("debian", "python", "repacked", "zstd", "zstd:chunked", "estargz")
FORMS = ("oci-archive", "docker-archive", "docker")
Tree = dict[bytes, tuple]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours", default=REPOSITORY / "target/release/coldpress",
                        type=pathlib.Path, help="the coldpress to test")
    parser.add_argument("--images", default=",".join(IMAGES),
                        help="default: %(default)s; large has 2 GB")
    parser.add_argument("--forms", default=",".join(FORMS),
                        help="forms of each image to build from besides the layout; "
                             "default: %(default)s")
    parser.add_argument("--work", type=pathlib.Path,
                        help="where images are made and kept; without it a directory of its own")
    return parser.parse_args()


def layout_of(name: str, maker: images.Maker) -> pathlib.Path:
    match name:
        case "zstd" | "zstd:chunked":
            return maker.compressed(maker.python(), name)
        case "estargz":
            return maker.estargz(maker.python())
        case _:
            return getattr(maker, name)()


def has_zstd(layout: pathlib.Path) -> bool:
    manifest, _ = images.documents(layout)
    return any("zstd" in layer["mediaType"] for layer in manifest["layers"])


def lineage(path: bytes) -> list[bytes]:
    """A path and those above it, without the root."""
    names = path.split(b"/")
    return [b"/".join(names[:length]) for length in range(1, len(names) + 1)]


class Comparison:
    """The trees of one image."""

    def __init__(self, unpacked: merged.Unpacked) -> None:
        self.unpacked = unpacked
        self.described = set().union(*unpacked.described)
        self.explained: collections.Counter[str] = collections.Counter()
        self.left: list[str] = []

    def of(self, what: str, ours: Tree, theirs: Tree) -> None:
        for path in sorted(ours.keys() | theirs.keys()):
            if ours.get(path) == theirs.get(path):
                continue
            if path not in ours or path not in theirs:
                self.note(what, path, "is there" if path in ours else "is missing")
                continue
            for (name, own), (_, other) in zip(ours[path], theirs[path]):
                # An overlay counts hidden names of a file too; which names are one file is
                # compared by itself.
                if own != other and name != "links":
                    self.note(what, path, name, f"{own} against {other}")

    def note(self, what: str, path: bytes, prop: str, values: str = "") -> None:
        why = self.reason(what, path, prop)
        if why:
            self.explained[f"{what}: {why}"] += 1
        else:
            self.left.append(f"{what}: {path.decode(errors='backslashreplace')}: {prop} {values}")

    def reason(self, what: str, path: bytes, prop: str) -> str | None:
        """Which sentence of docs/containers.md a difference is about."""
        if prop == "time" and path not in self.described:
            return "the time of a directory that no layer describes"
        if what != "overlay":
            return None
        if path in self.unpacked.lost:
            return "a hard link into a lower layer, which tar cannot make"
        layers = self.unpacked.described
        tops = [any(path in lineage(name)[:-1] for name in layer) for layer in layers]
        last = max((number for number, has in enumerate(tops) if has), default=-1)
        if path != b"." and last >= 0 and path not in layers[last] and path in self.described:
            return "a directory that the last layer with something in it does not describe"
        if path == b"." and b"." not in layers[-1]:
            return "the root, which the last layer does not describe"
        return None


def compare(layout: pathlib.Path, image: pathlib.Path, ours: pathlib.Path,
            work: pathlib.Path) -> Comparison:
    """Compares the image of a layout with the other tools; prints what was compared."""
    unpacked = merged.Unpacked(layout, work / "layers")
    comparison = Comparison(unpacked)
    with observe.mounted(str(image), str(work / "mounted")) as at:
        own = observe.tree(at)
    with unpacked.mounted() as at:
        comparison.of("overlay", own, observe.tree(at))
        by_diff = {"overlay": differences(ours, image, at)}
    # umoci 0.4 knows no zstd either.
    if not has_zstd(layout):
        root = merged.umoci(layout, work / "umoci")
        comparison.of("umoci", own, observe.tree(root))
        by_diff["umoci"] = differences(ours, image, root)
    layers = len(unpacked.described)
    print(f"    {layers} layers, {len(own)} entries; coldpress diff finds {by_diff}")
    return comparison


def differences(ours: pathlib.Path, image: pathlib.Path, root: str) -> int:
    ran = peers.coldpress(ours, ["diff", "--tree-only", "--all", "--json", image, root])
    if ran.returncode not in (0, 1):
        raise SystemExit(ran.stderr)
    return json.loads(ran.stdout)["tree_differences"]


def references(layout: pathlib.Path, forms: list[str], registry: str,
               work: pathlib.Path) -> list[str]:
    """References to the same image in several forms, that of the layout first."""
    source = f"oci:{layout}:app"
    found = [source]
    for form in forms:
        if form == "docker":
            found.append(f"docker://{registry}/{layout.name}:app")
            copy(source, found[-1])
        # Docker's manifests know no zstd.
        elif form == "oci-archive" or not has_zstd(layout):
            archive = work / f"{form}.tar"
            archive.unlink(missing_ok=True)
            copy(source, f"{form}:{archive}:{layout.name}:app")
            found.append(f"{form}:{archive}")
    return found


def test(layout: pathlib.Path, sources: list[str], ours: pathlib.Path, work: pathlib.Path) -> bool:
    """Whether everything about an image is as it must be."""
    image = work / "image.sqfs"
    first = ""
    for reference in sources:
        ran = peers.coldpress(ours, ["build", "-q", "-l", "1", reference, image],
                              XDG_CACHE_HOME=work / "cache")
        if ran.returncode not in (0, 1):
            raise SystemExit(f"{reference}: {ran.stderr}")
        form = reference.split(":")[0]
        if not first:
            first = digest(image)
            print(ran.stderr, end="")
            comparison = compare(layout, image, ours, work)
        elif digest(image) != first:
            comparison.left.append(f"{form}: another image than that of the layout")
    for why, count in sorted(comparison.explained.items()):
        print(f"    {count} explained, {why}")
    for line in comparison.left[:50]:
        print(f"    {line}")
    print(f"    {len(comparison.left)} not explained", flush=True)
    return not comparison.left


def main() -> int:
    wanted = arguments()
    peers.need("mmdebstrap", "buildah", "umoci", "skopeo", "docker-registry", "tar", "zstd")
    with tempfile.TemporaryDirectory(prefix="containers-") as own:
        work = (wanted.work or pathlib.Path(own)).resolve()
        maker = images.Maker(work / "images")
        is_good = True
        with tempfile.TemporaryDirectory(dir=work) as scratch, \
                peers.registry(pathlib.Path(scratch) / "registry") as registry:
            for name in wanted.images.split(","):
                layout = layout_of(name, maker)
                print(name, flush=True)
                at = pathlib.Path(scratch)
                forms = [form for form in wanted.forms.split(",") if form]
                sources = references(layout, forms, registry, at)
                is_good &= test(layout, sources, wanted.ours, at)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
