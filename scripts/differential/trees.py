"""Random trees: every kind of inode, awkward names, holes, duplicates, xattrs, hard links."""

import os
import random
import stat

NAMES = ["a", "b", "f1", "lib", "usr", "with space", "tab\tbed", "new\nline", "ünï", ".hidden",
         "-dash", "star*", "q?", "[set]", "back\\slash", "quo\"te", "x" * 200, "UPPER", "a.b.c"]
NOT_UTF8 = [b"\xff\xfe", b"caf\xe9"]
# mksquashfs takes times before 1970 and after 2106 modulo 2^32; docs/semantics.md takes the nearest.
TIMES_S = [0, 1, 86_400, 1_000_000_000, 1_700_000_000, 2**31, 2**32 - 1]
MODES = [0o644, 0o755, 0o600, 0o4755, 0o2755, 0o1777, 0o000, 0o777, 0o444, 0o711]
OWNERS = [0, 0, 0, 1, 1000, 65_534, 100_000]
XATTRS = [("user.a", b"1"), ("user.long", b"v" * 3000), ("user.empty", b""),
          ("user.sp ace", b"\x00\xff"), ("trusted.t", b"t"), ("user.b", b"2"),
          ("security.test", b"s" * 70)]


class Tree:
    """A tree below `root`; the files that a hard link may lead to are kept in `files`."""

    def __init__(self, rng: random.Random, root: bytes, files: list[bytes] | None = None):
        self.rng = rng
        self.root = root
        self.files = files if files is not None else []
        os.mkdir(root)

    def fill(self, budget: int) -> "Tree":
        """Adds up to `budget` entries, then sets the metadata of all, directories last."""
        directories = [self.root]
        made = []
        for _ in range(budget):
            path = self._new_path(self.rng.choice(directories))
            if path is None:
                continue
            kind = self.rng.choices(
                ["file", "dir", "symlink", "fifo", "socket", "device", "link", "copy"],
                [40, 18, 10, 3, 2, 5, 12, 10])[0]
            getattr(self, f"_add_{kind}")(path)
            if kind == "dir":
                directories.append(path)
            made.append(path)
        for path in reversed(made):
            self._dress(path)
        self._dress(self.root)
        return self

    def _new_path(self, directory: bytes) -> bytes | None:
        name = (self.rng.choice(NOT_UTF8) if self.rng.random() < 0.03
                else self.rng.choice(NAMES).encode())
        if self.rng.random() < 0.5:
            name = name[:200] + b"%d" % self.rng.randrange(30)
        path = os.path.join(directory, name)
        return None if os.path.lexists(path) or len(path) > 3000 else path

    def _add_file(self, path: bytes) -> None:
        size = self.rng.choice([0, 1, 100, 4095, 4096, 4097, 10_000, 131_072, 140_000, 300_000])
        with open(path, "wb") as file:
            if self.rng.random() < 0.2:
                file.truncate(size * self.rng.choice([1, 3]))
                file.seek(size // 2)
            pattern = self.rng.randbytes(self.rng.choice([1, 7, 4096]))
            file.write((pattern * (size // len(pattern) + 1))[:size])
        self.files.append(path)

    def _add_copy(self, path: bytes) -> None:
        source = self.rng.choice(self.files) if self.files else None
        if source is None:
            return self._add_file(path)
        with open(source, "rb") as old, open(path, "wb") as new:
            new.write(old.read())
        self.files.append(path)

    def _add_link(self, path: bytes) -> None:
        if not self.files:
            return self._add_file(path)
        os.link(self.rng.choice(self.files), path)

    def _add_dir(self, path: bytes) -> None:
        os.mkdir(path)
        if self.rng.random() < 0.04:
            for index in range(300):
                open(os.path.join(path, b"entry%04d" % index), "wb").close()

    def _add_symlink(self, path: bytes) -> None:
        targets = ["a", "../b", "/etc/passwd", ".", "x" * 300, "nowhere\nat all"]
        os.symlink(self.rng.choice(targets), path)

    def _add_fifo(self, path: bytes) -> None:
        os.mkfifo(path)

    def _add_socket(self, path: bytes) -> None:
        os.mknod(path, stat.S_IFSOCK | 0o600)

    def _add_device(self, path: bytes) -> None:
        kind = self.rng.choice([stat.S_IFBLK, stat.S_IFCHR])
        numbers = [(1, 3), (8, 0), (259, 300), (4095, 1_048_575)]
        os.mknod(path, kind | 0o600, os.makedev(*self.rng.choice(numbers)))

    def _dress(self, path: bytes) -> None:
        """Owner, mode, xattrs and time, in the order in which none undoes another."""
        rng = self.rng
        is_link = os.path.islink(path)
        os.lchown(path, rng.choice(OWNERS), rng.choice(OWNERS))
        if not is_link:
            os.chmod(path, rng.choice(MODES))
        if rng.random() < 0.15 and stat.S_IFMT(os.lstat(path).st_mode) in (stat.S_IFREG, stat.S_IFDIR):
            for name, value in rng.sample(XATTRS, rng.randint(1, 4)):
                os.setxattr(path, name, value, follow_symlinks=False)
        time_s = rng.choice(TIMES_S)
        os.utime(path, (time_s, time_s), follow_symlinks=False)


def names_below(root: bytes) -> list[bytes]:
    """Every path below `root`, relative to it."""
    found = []
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            found.append(os.path.relpath(os.path.join(directory, name), root))
    return sorted(found)
