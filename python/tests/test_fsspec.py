"""`squashfs://`, tested by fsspec's own tests and by those who read through fsspec."""

from __future__ import annotations

import errno
import functools
import http.server
import io
import pickle
import threading
import warnings

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem, make_path_posix
from fsspec.tests import abstract

import coldpress
from coldpress.fsspec import SquashfsFileSystem
from conftest import mksquashfs

SCENARIOS = {
    "bulk_operations_scenario_0": "bulk",
    "glob_edge_cases_files": "glob",
    "dir_and_file_with_same_name_prefix": "names",
    "10_files_with_hashed_names": "hashed",
}


@pytest.fixture(scope="session")
def scenarios(tmp_path_factory):
    """An image with the trees of all scenarios of fsspec's tests."""
    base = tmp_path_factory.mktemp("scenarios")
    local = LocalFileSystem(auto_mkdir=True)
    for scenario, directory in SCENARIOS.items():
        make = getattr(abstract.BaseAbstractFixtures, f"_{scenario}")
        path = make_path_posix(str(base / "tree" / directory))
        make(abstract.BaseAbstractFixtures(), local, join, path)
    mksquashfs(base / "tree", base / "image")
    return base / "image"


def join(*parts):
    return "/".join(parts)


class ReadOnlyFixtures(abstract.AbstractFixtures):
    @pytest.fixture
    def fs(self, scenarios):
        return SquashfsFileSystem(str(scenarios))

    @pytest.fixture
    def fs_path(self):
        return ""

    @pytest.fixture
    def fs_join(self):
        return join

    @pytest.fixture
    def fs_bulk_operations_scenario_0(self):
        return "bulk/source"

    @pytest.fixture
    def fs_glob_edge_cases_files(self):
        return "glob/source"

    @pytest.fixture
    def fs_dir_and_file_with_same_name_prefix(self):
        return "names/source"

    @pytest.fixture
    def fs_10_files_with_hashed_names(self):
        return "hashed/source"


class TestGet(abstract.AbstractGetTests, ReadOnlyFixtures):
    """All that reads. Copy, put and pipe write, and so does the one test of open."""

    @pytest.mark.skip(reason="it makes its directory in the file system, which is read only")
    def test_get_directory_recursive(self):
        pass


@pytest.fixture
def fs(made):
    return SquashfsFileSystem(str(made.image))


def test_a_url_leads_into_an_image(made):
    with fsspec.open(f"coldpress://many/1/0001.txt::file://{made.image}", "rt") as file:
        assert file.readline() == "number 1\n"
    files = fsspec.open_files(f"coldpress://many/*/*.txt::{made.image}")
    assert len(files) == 400


def test_listing_is_that_of_the_tree(made, fs):
    local = LocalFileSystem()
    there = {path[len(str(made.tree)) + 1 :] for path in local.find(str(made.tree))}
    assert {name for name in fs.find("") if "\udcff" not in name} == {
        name for name in there if "\udcff" not in name
    }
    assert fs.ls("", detail=False) == [entry.name for entry in fs.image.listdir("/")]
    assert fs.info("many")["type"] == "directory"
    assert fs.info("sizes/text-4096")["size"] == fs.size("sizes/text-4096") == 4096
    assert fs.info("up")["type"] == "link"
    assert fs.ls("up") == [{**each, "name": "up" + each["name"][6:]} for each in fs.ls("many/1")]
    assert fs.info("link")["destination"] == "many/1/0001.txt"
    assert fs.info("lost")["type"] == "link"
    assert fs.isfile("link")
    assert fs.isdir("up")
    assert not fs.exists("none")
    assert sorted(fs.glob("many/3/*7.txt"))[0] == "many/3/0017.txt"
    assert fs.du("sizes") == sum(
        len(data) for path, data in made.content.items() if "sizes" in path
    )
    found = fs.find("many", maxdepth=1, withdirs=True)
    assert set(found) >= {f"many/{number}" for number in range(7)}
    assert set(fs.find("many", withdirs=True)) == {
        entry.path[1:] for entry in fs.image.walk("/many") if entry.path != "/many"
    }
    with pytest.raises(FileNotFoundError):
        fs.ls("none")
    with pytest.raises(FileNotFoundError):
        fs.info("none")


def test_cat_is_slices(made, fs):
    content = made.content["/sizes/text-700000"]
    for start, end in [
        (None, None),
        (5, 10),
        (-5, None),
        (3, -3),
        (-9, -2),
        (700_000, None),
        (9, 5),
    ]:
        assert fs.cat_file("sizes/text-700000", start, end) == content[start:end]
    paths = ["sizes/text-700000", "none", "sizes/text-1"]
    got = fs.cat_ranges(paths, [-3, -3, 0], [None, None, 1])
    assert got[0] == content[-3:]
    assert isinstance(got[1], FileNotFoundError)
    assert got[2] == made.content["/sizes/text-1"]
    assert fs.cat_ranges(["sizes/text-4096"] * 2, 0, 10)[1] == made.content["/sizes/text-4096"][:10]
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges(paths, 0, 1, on_error="raise")
    with pytest.raises(ValueError, match="different lengths"):
        fs.cat_ranges(paths, [1], [2])
    whole = fs.cat("many", recursive=True)
    assert whole == {path[1:]: data for path, data in made.content.items() if "/many/" in path}
    assert fs.cat(["hard"]) == {"hard": fs.cat("hard")}
    with pytest.raises(FileNotFoundError):
        fs.cat("none")


def test_nothing_writes(fs):
    for write in (
        lambda: fs.open("new", "wb"),
        lambda: fs.open("hard", "ab"),
        lambda: fs.pipe("new", b""),
        lambda: fs.mkdir("new"),
        lambda: fs.rm("hard"),
        lambda: fs.touch("hard"),
        lambda: fs.mv("hard", "new"),
        lambda: fs.copy("hard", "new"),
        lambda: fs.put(__file__, "new"),
    ):
        with pytest.raises(OSError, match="read only") as caught:
            write()
        assert caught.value.errno == errno.EROFS


def test_a_file_system_is_pickled_and_described(made, fs):
    for copy in (pickle.loads(pickle.dumps(fs)), fsspec.AbstractFileSystem.from_json(fs.to_json())):
        assert copy.cat("hard") == fs.cat("hard")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves one file, with ranges."""

    content = b""
    requests = 0

    def do_HEAD(self):
        self.answer(send=False)

    def do_GET(self):
        self.answer(send=True)

    def answer(self, send):
        type(self).requests += 1
        start, stop = 0, len(self.content)
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes="):
            first, _, last = asked[6:].partition("-")
            start, stop = int(first), min(int(last or stop - 1) + 1, stop)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{stop - 1}/{len(self.content)}")
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(stop - start))
        self.end_headers()
        if send:
            self.wfile.write(self.content[start:stop])

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(made):
    handler = type("One", (Handler,), {"content": made.image.read_bytes(), "requests": 0})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/made.sqfs", handler
        server.shutdown()
        thread.join()


def test_an_image_on_a_server_is_read_in_few_requests(made, server):
    url, handler = server
    with coldpress.Image(url) as image:
        paths = sorted(path for path in made.content if "/many/" in path)
        assert image.read_many(paths) == [made.content[path] for path in paths]
        copy = pickle.loads(pickle.dumps(image))
        assert copy.read("/hard") == image.read("/hard")
    assert handler.requests < 20


def test_fsspec_chains_to_a_server(made, server):
    pytest.importorskip("aiohttp")
    url, handler = server
    fs, path = fsspec.core.url_to_fs(f"coldpress://many::{url}")
    assert fs.cat(path, recursive=True) == {
        path[1:]: data for path, data in made.content.items() if "/many/" in path
    }
    assert handler.requests < 30


def test_another_provider_of_the_protocol_is_told(made, monkeypatch):
    from coldpress import fsspec as module

    monkeypatch.setattr(module, "_other_providers", lambda: ("other:FileSystem",))
    with pytest.warns(UserWarning, match="also provided by other:FileSystem"):
        SquashfsFileSystem(str(made.image))
    monkeypatch.setattr(module, "_other_providers", functools.cache(lambda: ()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SquashfsFileSystem(io.BytesIO(made.image.read_bytes()))
