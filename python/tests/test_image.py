"""Reading images."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

import coldpress
from coldpress.errors import (
    IsADirectoryInImageError,
    NotADirectoryInImageError,
    NotAFileError,
)


@pytest.fixture
def image(made):
    with coldpress.Image(made.image) as image:
        yield image


def sources(path):
    yield path
    yield str(path)
    yield os.fsencode(path)
    yield path.read_bytes()
    yield io.BytesIO(path.read_bytes())
    yield open(path, "rb")  # noqa: SIM115


def test_any_source_gives_the_same_image(made):
    files = made.content
    for source in sources(made.image):
        image = coldpress.Image(source)
        paths = sorted(files)
        assert image.read_many(paths) == [files[path] for path in paths]


def test_walk_is_what_the_tree_is(made, image):
    entries = {entry.path: entry for entry in image.walk()}
    expected = {"/"}
    for directory, directories, names in os.walk(made.tree):
        for name in directories + names:
            path = os.path.join(directory, name)
            inside = "/" + os.path.relpath(path, made.tree)
            expected.add(inside)
            there, entry = os.lstat(path), entries[inside]
            assert entry.mode == there.st_mode & 0o7777
            assert (entry.uid, entry.gid) == (there.st_uid, there.st_gid)
            assert entry.mtime_s == int(there.st_mtime)
            assert entry.link_count == there.st_nlink
            if entry.is_file or entry.is_symlink:
                assert entry.size_bytes == there.st_size
            if entry.is_symlink:
                assert entry.target == os.readlink(path)
    assert set(entries) == expected
    assert entries["/not\udcffutf8"].path_bytes == b"/not\xffutf8"
    assert [entry.path for entry in image.walk()] == list(entries)
    below = [entry.path for entry in image.walk("/many/1")]
    assert below == [path for path in entries if (path + "/").startswith("/many/1/")]


def test_listdir_and_stat_follow_links(image):
    assert [entry.name for entry in image.listdir("/up")] == [
        entry.name for entry in image.listdir("many/1")
    ]
    assert image.stat("/link").is_file
    assert image.stat("/link", follow_symlinks=False).target == "many/1/0001.txt"
    assert image.read("/link") == image.read("/hard") == image.read(b"many/1/0001.txt")
    assert image.exists("/many")
    assert not image.exists("/lost")


def test_ranges_are_slices(made, image):
    files = made.content
    dice = random.Random(1)
    for path, content in files.items():
        for _ in range(4):
            start = dice.randrange(len(content) + 2)
            stop = start + dice.randrange(300_000)
            assert image.read(path, start, stop) == content[start:stop]
        assert image.read(path) == content
    assert image.read("/sparse", 5, 3 << 20) == bytes((3 << 20) - 5)


def test_read_many_in_any_order_with_repetitions(made, image):
    files = made.content
    dice = random.Random(2)
    paths = [dice.choice(list(files)) for _ in range(1500)]
    assert image.read_many(paths) == [files[path] for path in paths]
    ranges = [(path, dice.randrange(5000), dice.randrange(200_000)) for path in paths]
    assert image.read_many(ranges) == [files[path][a:b] for path, a, b in ranges]
    assert image.read_many([]) == []
    assert image.read_many(path for path in paths[:3]) == [files[path] for path in paths[:3]]
    with pytest.raises(TypeError, match="not one path"):
        image.read_many("/hard")


def test_iter_many_is_in_image_order_and_bounded(made, image):
    files = made.content
    paths = sorted(files)
    got = dict(image.iter_many(paths, batch_bytes=50_000))
    assert [got[index] for index in range(len(paths))] == [files[path] for path in paths]
    order = [index for index, _ in image.iter_many(paths)]
    assert order == image.image_order(paths)
    assert len(list(image.iter_many())) == len(files)


def test_open_is_a_file(made, image):
    content = made.content["/sizes/text-700000"]
    with image.open("/sizes/text-700000") as file:
        assert isinstance(file, io.BufferedReader)
        assert file.read(10) == content[:10]
        assert file.seek(-7, io.SEEK_END) == 699_993
        assert file.read() == content[-7:]
        file.seek(131_070)
        assert file.read(5) == content[131_070:131_075]
        file.seek(0)
        assert file.read() == content
        assert file.read() == b""
        assert file.seek(10**15) == 10**15
        assert file.read(1) == b""
    with pytest.raises(ValueError, match="closed"):
        file.read()
    with image.open("/many/1/0001.txt") as file, io.TextIOWrapper(file) as text:
        assert next(text) == "number 1\n"


def test_what_is_not_there_is_named(image):
    with pytest.raises(coldpress.PathNotFoundError) as caught:
        image.read("/none")
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.path == "/none"
    assert str(caught.value) == "cannot read `/none`: the image has no such file"
    with pytest.raises(IsADirectoryInImageError, match="it is a directory"):
        image.read("/many")
    with pytest.raises(NotADirectoryInImageError):
        image.listdir("/hard")
    with pytest.raises(coldpress.PathNotFoundError):
        image.open("/lost")
    with pytest.raises(coldpress.PathNotFoundError):
        list(image.walk("/none"))
    returned = image.read_many(["/none", "/hard", "/many"], errors="return")
    assert isinstance(returned[0], coldpress.PathNotFoundError)
    assert returned[1] == image.read("/hard")
    assert isinstance(returned[2], IsADirectoryInImageError)
    with pytest.raises(coldpress.PathNotFoundError):
        image.read_many(["/hard", "/none"])


def test_a_pipe_is_no_file(tmp_path):
    from conftest import mksquashfs

    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree/pipe")
    mksquashfs(tmp_path / "tree", tmp_path / "image")
    image = coldpress.Image(tmp_path / "image")
    assert image.stat("/pipe").kind == "pipe"
    with pytest.raises(NotAFileError, match="not a regular file"):
        image.read("/pipe")


def test_what_is_no_image_is_told(tmp_path, made):
    empty, text = tmp_path / "empty", tmp_path / "text"
    empty.write_bytes(b"")
    text.write_bytes(b"no image" * 1000)
    for path in (empty, text):
        with pytest.raises(coldpress.NotAnImageError):
            coldpress.Image(path)
        with pytest.raises(coldpress.NotAnImageError, match="is not a SquashFS image"):
            coldpress.Image(path, offset=0)
    with pytest.raises(coldpress.OpenError, match="cannot open"):
        coldpress.Image(tmp_path / "none")
    with pytest.raises(coldpress.OpenError):
        coldpress.Image(tmp_path)
    with pytest.raises(TypeError):
        coldpress.Image(42)
    cut = tmp_path / "cut"
    cut.write_bytes(made.image.read_bytes()[:-9000])
    with pytest.raises(coldpress.DamagedError) as caught:
        coldpress.Image(cut)
    assert caught.value.part == "superblock"
    assert caught.value.rule.startswith("needs ")
    assert caught.value.hint


def test_an_image_inside_a_file_is_found(tmp_path, made):
    inside = tmp_path / "inside"
    inside.write_bytes(b"x" * 5000 + made.image.read_bytes())
    image = coldpress.Image(inside)
    assert image.start == 5000
    assert image.read("/hard") == coldpress.Image(inside, offset=5000).read("/hard")
    with pytest.raises(coldpress.NotAnImageError, match="`hsqs` at byte 7"):
        coldpress.Image(inside, offset=7)


def test_damage_costs_only_the_files_in_it(tmp_path, made):
    files = made.content
    content = bytearray(made.image.read_bytes())
    # The block of noise is stored as it is, so its place is known; its neighbors are compressed.
    sound = coldpress.Image(bytes(content))
    paths = sorted(files)
    first = min((path for path in paths if "text-700000" in path), key=len)
    position = sound._image.positions([first])[0]
    content[position : position + 200] = bytes(200)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content)
    results = coldpress.Image(damaged).read_many(paths, errors="return")
    wrong = [path for path, result in zip(paths, results, strict=True) if result != files[path]]
    assert wrong == [first]
    error = results[paths.index(first)]
    assert isinstance(error, coldpress.DamagedError)
    assert (error.path, error.position, error.part) == (first, position, "data block")
    assert first in str(error)
    with pytest.raises(coldpress.DamagedError):
        coldpress.Image(damaged).read(first)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.position, copy.rule) == (str(error), position, error.rule)


def test_more_than_the_memory_is_refused_before_it_is_read(made, image):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    count = memory // (3 << 20) + 1
    with pytest.raises(MemoryError, match="read them in parts"):
        image.read_many(["/sparse"] * count)


def read_hard(image):
    return image.read_many(["/hard"])[0]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_read_the_same_image(made, image, method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(read_hard, [image] * 4)) == [image.read("/hard")] * 4


def test_a_fork_while_threads_read_does_no_harm(made, image):
    files = made.content
    paths = sorted(files)
    ends = threading.Event()

    def read():
        while not ends.is_set():
            image.read_many(paths[:50])
            image.read(paths[0])

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(4):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                same = image.read_many(paths) == [files[path] for path in paths]
                os._exit(0 if same else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        ends.set()
        for thread in threads:
            thread.join()


def test_a_pickled_image_is_the_same_or_refused(tmp_path, made):
    path = tmp_path / "image"
    path.write_bytes(b"y" * 100 + made.image.read_bytes())
    pickled = pickle.dumps(coldpress.Image(path))
    assert pickle.loads(pickled).start == 100
    path.write_bytes(coldpress.example_image())
    with pytest.raises(coldpress.ColdpressError):
        pickle.loads(pickled)
    of_bytes = pickle.loads(pickle.dumps(coldpress.Image(coldpress.example_image())))
    assert of_bytes.read("greeting") == b"Hello, world!\n"


def test_many_threads_read_at_once(made, image):
    files = made.content
    paths = sorted(files)

    def read(seed):
        dice = random.Random(seed)
        for _ in range(30):
            chosen = dice.sample(paths, 20)
            assert image.read_many(chosen) == [files[path] for path in chosen]
            assert image.read(chosen[0]) == files[chosen[0]]

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(read, range(6)))


def test_a_closed_image_says_so(made):
    image = coldpress.Image(made.image)
    image.close()
    image.close()
    with pytest.raises(ValueError, match="closed"):
        image.read("/hard")


def test_ctrl_c_ends_a_long_call(tmp_path, made):
    # Each block is decompressed again for each of many calls in one list of requests.
    code = f"""
import coldpress, signal
# A shell that starts this in the background has the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
image = coldpress.Image({str(made.image)!r})
paths = [entry.path for entry in image.walk() if entry.is_file]
print("ready", flush=True)
while True:
    image.read_many(paths * 20)
"""
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with contextlib.closing(child.stdout):
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, error = child.communicate(timeout=20)
    assert "KeyboardInterrupt" in error
