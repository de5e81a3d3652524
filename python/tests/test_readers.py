"""Those who read through fsspec: each a small test, skipped where it is not installed."""

from __future__ import annotations

import io
import tarfile

import fsspec
import pytest

from coldpress.fsspec import SquashfsFileSystem
from conftest import mksquashfs


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("readers")


def image_of(directory, name):
    image = directory / f"{name}.sqfs"
    mksquashfs(directory / name, image)
    return image


def test_pandas_reads_a_table(directory):
    pandas = pytest.importorskip("pandas")
    (directory / "csv").mkdir()
    frame = pandas.DataFrame({"a": range(1000), "b": [f"{each}" * 3 for each in range(1000)]})
    frame.to_csv(directory / "csv/t.csv", index=False)
    image = image_of(directory, "csv")
    read = pandas.read_csv(f"coldpress://t.csv::{image}", dtype={"b": str})
    assert read.equals(frame.astype({"b": read["b"].dtype}))


def test_pyarrow_reads_a_dataset(directory):
    pyarrow = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    parquet = pytest.importorskip("pyarrow.parquet")
    for part in range(3):
        path = directory / f"arrow/part={part}/data.parquet"
        path.parent.mkdir(parents=True)
        parquet.write_table(pyarrow.table({"x": list(range(part, part + 5000))}), path)
    fs = SquashfsFileSystem(str(image_of(directory, "arrow")))
    found = dataset.dataset("", filesystem=fs, format="parquet", partitioning="hive")
    table = found.to_table(filter=dataset.field("part") == 2)
    assert sorted(table.column("x").to_pylist()) == list(range(2, 5002))
    assert found.count_rows() == 15_000


def test_pil_opens_a_picture(directory):
    pil = pytest.importorskip("PIL.Image")
    (directory / "pil").mkdir()
    pil.new("RGB", (64, 48), (1, 2, 3)).save(directory / "pil/p.png")
    fs = SquashfsFileSystem(str(image_of(directory, "pil")))
    with fs.open("p.png") as file:
        assert pil.open(file).getpixel((5, 5)) == (1, 2, 3)


def test_webdataset_reads_shards(directory):
    webdataset = pytest.importorskip("webdataset")
    (directory / "wds").mkdir()
    with tarfile.open(directory / "wds/shard.tar", "w") as shard:
        for number in range(5):
            data = b"%d" % number
            member = tarfile.TarInfo(f"{number:03}.txt")
            member.size = len(data)
            shard.addfile(member, io.BytesIO(data))
    fs = SquashfsFileSystem(str(image_of(directory, "wds")))
    with fs.open("shard.tar") as file:
        shards = [{"url": "shard.tar", "stream": file}]
        files = webdataset.tariterators.tar_file_expander(shards)
        samples = list(webdataset.tariterators.group_by_keys(files))
    assert [sample["txt"] for sample in samples] == [b"%d" % number for number in range(5)]


def test_xarray_opens_a_zarr_store(directory):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    numpy = pytest.importorskip("numpy")
    data = xarray.Dataset({"t": (("x", "y"), numpy.arange(6000.0).reshape(60, 100))})
    data.to_zarr(directory / "zarr/s.zarr", consolidated=True)
    image = image_of(directory, "zarr")
    mapper = fsspec.get_mapper(f"coldpress://s.zarr::file://{image}")
    assert sorted(mapper)[:1]
    read = xarray.open_zarr(f"coldpress://s.zarr::file://{image}", chunks=None)
    assert read["t"].equals(data["t"])


class TestZarr:
    """What zarr's own tests of FsspecStore ask of reading, on a store that cannot be written."""

    @pytest.fixture
    def content(self):
        names = ["zarr.json", "c/0/0", "c/0/1", "c/1/0", "group/zarr.json", "empty"]
        return {name: (name * 7).encode() if name != "empty" else b"" for name in names}

    @pytest.fixture
    def store(self, tmp_path, content):
        pytest.importorskip("zarr")
        from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
        from zarr.storage import FsspecStore

        for name, data in content.items():
            path = tmp_path / "tree/root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        mksquashfs(tmp_path / "tree", tmp_path / "image")
        fs = AsyncFileSystemWrapper(SquashfsFileSystem(str(tmp_path / "image")), asynchronous=True)
        return FsspecStore(fs, read_only=True, path="root")

    def run(self, coroutine):
        import asyncio

        return asyncio.run(coroutine)

    def test_get(self, store, content):
        from zarr.core.buffer import default_buffer_prototype

        prototype = default_buffer_prototype()
        for name, data in content.items():
            buffer = self.run(store.get(name, prototype))
            assert buffer.to_bytes() == data
        assert self.run(store.get("none", prototype)) is None

    def test_ranges(self, store, content):
        from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
        from zarr.core.buffer import default_buffer_prototype

        prototype = default_buffer_prototype()
        data = content["c/0/0"]
        for request, expected in [
            (RangeByteRequest(1, 5), data[1:5]),
            (OffsetByteRequest(9), data[9:]),
            (SuffixByteRequest(3), data[-3:]),
        ]:
            assert self.run(store.get("c/0/0", prototype, request)).to_bytes() == expected
        keys = [("c/0/0", RangeByteRequest(0, 2)), ("c/1/0", None), ("none", None)]
        got = self.run(store.get_partial_values(prototype, keys))
        assert [each and each.to_bytes() for each in got] == [data[:2], content["c/1/0"], None]

    def test_exists_and_lists(self, store, content):
        assert self.run(store.exists("c/0/1"))
        assert not self.run(store.exists("none"))

        async def listed(items):
            return sorted([item async for item in items])

        assert self.run(listed(store.list())) == sorted(content)
        assert self.run(listed(store.list_prefix("c/0"))) == ["c/0/0", "c/0/1"]
        assert self.run(listed(store.list_dir("c"))) == ["0", "1"]

    def test_writing_is_refused(self, store):
        from zarr.core.buffer import default_buffer_prototype

        buffer = default_buffer_prototype().buffer.from_bytes(b"x")
        with pytest.raises(ValueError, match="read-only"):
            self.run(store.set("new", buffer))
