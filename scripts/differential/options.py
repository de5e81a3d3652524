"""Random options of mksquashfs, sqfstar and unsquashfs, with arguments that make sense for a tree."""

import random

BLOCK_SIZES = ["4096", "8K", "64K", "128K", "1M"]
COMPRESSORS = {
    "gzip": [["-Xcompression-level", "1"], ["-Xwindow-size", "12"], ["-Xstrategy", "default,filtered"]],
    "lzo": [["-Xalgorithm", "lzo1x_1"], ["-Xcompression-level", "3"]],
    "lz4": [["-Xhc"]],
    "xz": [["-Xdict-size", "8K"], ["-Xbcj", "x86"], ["-Xdict-size", "75%"]],
    "zstd": [["-Xcompression-level", "3"]],
}
FLAGS = ["-noI", "-noId", "-noD", "-noF", "-noX", "-no-compression", "-no-sparse", "-no-tailends",
         "-no-fragments", "-no-duplicates", "-no-hardlinks", "-all-root", "-no-xattrs", "-repro",
         "-nopad", "-pseudo-override", "-exports"]
# sqfstar has none of these.
MKSQUASHFS_FLAGS = ["-tailends", "-no-exports", "-keep-as-directory", "-one-file-system"]
VALUES = {
    "-root-mode": ["700", "0755", "o-w", "u+s,g=rx", "a=r"],
    "-root-uid": ["7", "daemon"],
    "-root-gid": ["8"],
    "-root-time": ["0", "1000000000"],
    "-force-uid": ["3", "nobody"],
    "-force-gid": ["4"],
    "-force-file-mode": ["0640", "go-rwx", "u+x"],
    "-force-dir-mode": ["0711", "u+w", "a+X"],
    "-uid-gid-offset": ["10"],
    "-mkfs-time": ["0", "inode", "1700000000"],
    "-inode-time": ["0", "1600000000", "inode"],
    "-repro-time": ["1234567890"],
    "-xattrs-exclude": ["^user.a", "^trusted"],
    "-xattrs-include": ["^user"],
    "-xattrs-add": ["user.added=v", "user.hex=0x00ff", "user.text=0tab\\001"],
    "-offset": ["4096", "12345"],
}
MKSQUASHFS_VALUES = {"-max-depth": ["1", "2", "3"]}
SQFSTAR_VALUES = {"-default-mode": ["700", "u=rwx", "go-w"], "-default-uid": ["5"],
                  "-default-gid": ["6"]}
PSEUDO = ["/made d 755 0 0", "/made/deep d 0700 1 2", "/null c 666 0 0 1 3", "/disk b 640 0 6 8 1",
          "/pipe i 600 0 0 f", "/sock i 600 0 0 s", "/made2 D 1500000000 755 3 4",
          "/said f 644 0 0 echo said", "/Said F 1500000001 600 9 9 printf x", "/to s 777 0 0 made",
          "/To S 1400000000 777 1 1 ../x", "/ m 711 5 5", "/a m 600 1 1", "/f1 M 1300000000 604 2 2",
          "/a x user.pseudo=1", "/hard l f1", "/hard2 L 1 0 0 0 f1"]
WILDCARDS = ["a*", "*/b*", "... *1", "[!a]*", "?", "*", "usr", "f1"]
REGEX = ["^a", "1$", "b.*", "lib"]
LISTINGS = [["-ls"], ["-lls"], ["-lln"], ["-lc"], ["-llc"], ["-s"], ["-stat"], ["-mkfs-time"],
            ["-lls", "-full"], ["-lln", "-UTC"], ["-li", "-q"], ["-ll", "-max-depth", "1"]]


def _compression(rng: random.Random) -> list[str]:
    words = []
    if rng.random() < 0.6:
        words += ["-b", rng.choice(BLOCK_SIZES)]
    if rng.random() < 0.6:
        name = rng.choice(list(COMPRESSORS))
        words += ["-comp", name]
        if rng.random() < 0.5:
            words += rng.choice(COMPRESSORS[name])
    return words


def _values(rng: random.Random, table: dict[str, list[str]], count: int) -> list[str]:
    words = []
    for option in rng.sample(sorted(table), min(count, len(table))):
        words += [option, rng.choice(table[option])]
    return words


def _pseudo(rng: random.Random) -> list[str]:
    words = []
    for definition in rng.sample(PSEUDO, rng.choice([0, 0, 0, 1, 2, 4])):
        words += ["-p", definition]
    if words and rng.random() < 0.2:
        words += ["-pd", "d 750 1 1"]
    return words


def mksquashfs(rng: random.Random) -> list[str]:
    """What follows the destination, but for the excludes."""
    flags = rng.sample(FLAGS + MKSQUASHFS_FLAGS, rng.choice([0, 1, 1, 2, 4]))
    values = _values(rng, VALUES | MKSQUASHFS_VALUES, rng.choice([0, 0, 1, 2, 3]))
    return _compression(rng) + flags + values + _pseudo(rng)


def sqfstar(rng: random.Random) -> list[str]:
    """What precedes the destination."""
    flags = rng.sample(FLAGS, rng.choice([0, 1, 1, 2]))
    values = _values(rng, VALUES | SQFSTAR_VALUES, rng.choice([0, 1, 1, 2]))
    return _compression(rng) + flags + values + _pseudo(rng)


def excludes(rng: random.Random, sources: list[str], names: list[str]) -> list[str]:
    """The last words of mksquashfs: paths, patterns or regular expressions."""
    kind = rng.choice(["none", "none", "paths", "wildcards", "regex", "everything"])
    if kind == "none" or not names:
        return []
    if kind == "paths":
        chosen = rng.sample(names, min(len(names), 2))
        return ["-e"] + [f"{rng.choice(sources)}/{name}" for name in chosen]
    if kind == "wildcards":
        return ["-wildcards", "-e"] + rng.sample(WILDCARDS, 2)
    if kind == "everything":
        return ["-wildcards", "-e", "*"]
    return ["-regex", "-e", rng.choice(REGEX)]


def unsquashfs(rng: random.Random, names: list[str]) -> tuple[list[str], list[str]]:
    """Options in front of the image, and paths behind it."""
    words = list(rng.choice(LISTINGS)) if rng.random() < 0.6 else []
    extras = [["-no-xattrs"], ["-match"], ["-all-time", "0"], ["-no-wildcards"], ["-regex"],
              ["-excludes"], ["-max-depth", "2"], ["-follow"], ["-exclude-list", "a*", ";"],
              ["-exclude-list", "nope", ";"], ["-li"], ["-info"], ["-ignore-errors"],
              ["-strict-errors"], ["-no-exit-code"], ["-xattrs-exclude", "^user.a"]]
    for extra in rng.sample(extras, rng.choice([0, 0, 1, 1, 2])):
        words += extra
    paths = []
    if rng.random() < 0.5:
        paths = rng.sample(names, min(len(names), rng.randint(1, 3))) if names else []
        paths += rng.choice([[], ["nope"], ["*/a"], ["a*"], ["../a"], ["."]])
    return words, paths


def mksquashfs_plain(rng: random.Random) -> list[str]:
    """Options of an image that is appended to later."""
    return _compression(rng) + rng.sample(["-no-fragments", "-noI", "-noD", "-no-exports",
                                           "-no-duplicates", "-no-xattrs", "-all-root"],
                                          rng.choice([0, 0, 1, 2]))
