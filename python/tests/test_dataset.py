"""Samples by index, and shuffles."""

from __future__ import annotations

import collections
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import pytest

import coldpress
from coldpress.dataset import BlockShuffle, Dataset


def measured(path, data):
    return path, len(data)


def item(pair):
    dataset, index = pair
    return dataset[index]


def test_samples_are_the_files(made):
    dataset = Dataset(made.image, suffixes=(".txt",))
    assert len(dataset) == 400
    assert dataset[3] == made.content[dataset.paths[3]]
    indices = [5, 1, 399, 5]
    assert dataset.__getitems__(indices) == [made.content[dataset.paths[each]] for each in indices]
    with pytest.raises(IndexError):
        dataset[400]
    some = Dataset(coldpress.Image(made.image), [b"/hard", "/link"], decode=measured)
    assert some[1] == ("/link", len(made.content["/hard"]))
    assert pickle.loads(pickle.dumps(some))[0] == some[0]


def test_workers_have_the_dataset(made):
    dataset = Dataset(made.image, suffixes=(".txt",), decode=measured)
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        got = list(pool.map(item, [(dataset, index) for index in range(20)]))
    assert got == [dataset[index] for index in range(20)]


def epoch(shuffle):
    return [index for batch in shuffle for index in batch]


def test_an_epoch_has_each_sample_once_and_the_next_another_order(made):
    dataset = Dataset(made.image, suffixes=(".txt",))
    shuffle = BlockShuffle(dataset, batch_size=32, run_samples=16, buffer_runs=4, seed=7)
    batches = list(shuffle)
    assert len(batches) == 13
    assert {len(batch) for batch in batches[:-1]} == {32}
    first, second = [index for batch in batches for index in batch], epoch(shuffle)
    assert sorted(first) == sorted(second) == list(range(400))
    assert first != second
    shuffle.set_epoch(0)
    assert epoch(shuffle) == first
    last = BlockShuffle(dataset, batch_size=32, drop_last=True)
    assert len(list(last)) == len(last) == 12


def test_ranks_share_an_epoch(made):
    dataset = Dataset(made.image, suffixes=(".txt",))
    shuffles = [
        BlockShuffle(dataset, batch_size=10, run_samples=7, rank=rank, world_size=3)
        for rank in range(3)
    ]
    lengths = [len(shuffle) for shuffle in shuffles]
    epochs = [list(shuffle) for shuffle in shuffles]
    assert lengths == [len(batches) for batches in epochs]
    shared = [index for batches in epochs for batch in batches for index in batch]
    assert sorted(shared) == list(range(400))


def test_blocks_are_decompressed_once_for_each_buffer(made):
    # Of an epoch in blocks: which block each sample's content begins in.
    dataset = Dataset(made.image, suffixes=(".txt",))
    positions = dataset.image._image.positions(dataset.paths)
    shuffle = BlockShuffle(dataset, batch_size=400, run_samples=400, buffer_runs=1)
    assert len(list(shuffle)) == 1
    runs = collections.Counter()
    shuffle = BlockShuffle(dataset, batch_size=50, run_samples=50, buffer_runs=1)
    for batch in shuffle:
        runs.update({positions[index] for index in batch})
    # A block is in more than one run only if it lies across a border of runs.
    assert sum(runs.values()) <= len(runs) + 7


def test_more_runs_in_the_buffer_mix_more(made):
    dataset = Dataset(made.image, suffixes=(".txt",))
    order = {index: at for at, index in enumerate(dataset.image.image_order(dataset.paths))}

    def neighbors(buffer_runs):
        shuffle = BlockShuffle(dataset, batch_size=20, run_samples=20, buffer_runs=buffer_runs)
        return [len({order[index] // 20 for index in batch}) for batch in shuffle]

    assert set(neighbors(1)) == {1}
    assert min(neighbors(20)) >= 8


def test_wrong_sizes_are_refused(made):
    dataset = Dataset(made.image)
    with pytest.raises(ValueError, match="batch_size"):
        BlockShuffle(dataset, batch_size=0)
    with pytest.raises(ValueError, match="rank"):
        BlockShuffle(dataset, batch_size=1, rank=1)
