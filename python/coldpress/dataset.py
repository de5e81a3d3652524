"""Samples of an image for training: a map-style dataset, and a shuffle that reads each block once.

Nothing here needs torch or jax. `Dataset` has `__len__`, `__getitem__` and `__getitems__`, which
is what `torch.utils.data.DataLoader` and grain ask of a dataset. `BlockShuffle` gives the batches
of an epoch as lists of indices, for `DataLoader(batch_sampler=...)` or a loop.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from coldpress.image import Image, ImageSource, Path

__all__ = ["BlockShuffle", "Dataset"]

_Sample = TypeVar("_Sample")


def _content(path: str, data: bytes) -> Any:
    return data


class Dataset(Generic[_Sample]):
    """The files of an image as samples, by index.

    It is pickled with its image, so that the processes of a `DataLoader` each have one of their
    own, whether they are forked or spawned.

    Args:
        source: An image, or what `coldpress.Image` takes.
        paths: The samples. Without them, every regular file, as `Image.walk` finds them.
        suffixes: If given, only files whose names end with one of them, such as `(".jpg",)`.
        decode: Makes a sample of a path and its bytes; without it, a sample is the bytes. A worker
            that is spawned imports it, so it must be a function of a module.

    Example:
        >>> import coldpress
        >>> from coldpress.dataset import Dataset
        >>> measured = lambda path, data: (path, len(data))
        >>> dataset = Dataset(coldpress.example_image(), decode=measured)
        >>> len(dataset), dataset[0]
        (1, ('/greeting', 14))
    """

    def __init__(
        self,
        source: Image | ImageSource,
        paths: Iterable[Path] | None = None,
        *,
        suffixes: tuple[str, ...] = (),
        decode: Callable[[str, bytes], _Sample] | None = None,
    ) -> None:
        self.image = source if isinstance(source, Image) else Image(source)
        if paths is None:
            paths = [entry.path for entry in self.image.walk() if entry.is_file]
        named = [path if isinstance(path, str) else os.fsdecode(path) for path in paths]
        self.paths = [path for path in named if path.endswith(suffixes)] if suffixes else named
        self._decode: Callable[[str, bytes], _Sample] = decode or _content

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> _Sample:
        path = self.paths[index]
        return self._decode(path, self.image.read(path))

    def __getitems__(self, indices: Sequence[int]) -> list[_Sample]:
        """Many samples in the order of `indices`, each block decompressed once."""
        paths = [self.paths[index] for index in indices]
        return list(map(self._decode, paths, self.image.read_many(paths)))


class BlockShuffle:
    """Batches of an epoch in random order, such that each block is decompressed once.

    The samples stand in image order, cut into runs of `run_samples` neighbors. The runs are
    shuffled; `buffer_runs` of them at a time are put together, and the samples among them are
    shuffled. So a batch is drawn from `buffer_runs` places of the image, and each block is read
    while its run is in the buffer.

    How random that is: a sample is only ever beside samples of the runs that were drawn with its
    own. With as many runs in the buffer as there are, it is a uniform shuffle; with one, neighbors
    stay together. If samples of a class lie together in the image, the classes of a batch follow
    from `buffer_runs`: of `c` equal classes a batch with `b` runs has about `c (1 - (1 - 1/c)**b)`.
    An image whose files are in random order has no such limit (docs/datasets.md).

    Args:
        dataset: The samples.
        batch_size: Samples of a batch.
        run_samples: Neighbors in the image that stay in one buffer.
        buffer_runs: Runs in a buffer.
        seed: The same seed and epoch give the same batches.
        drop_last: Whether to leave out a last batch with fewer samples.
        rank: Which of `world_size` processes this is: each has its own runs.
        world_size: How many processes share an epoch.

    Example:
        >>> import coldpress
        >>> from coldpress.dataset import BlockShuffle, Dataset
        >>> dataset = Dataset(coldpress.example_image())
        >>> list(BlockShuffle(dataset, batch_size=8))
        [[0]]
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        *,
        batch_size: int,
        run_samples: int = 64,
        buffer_runs: int = 64,
        seed: int = 0,
        drop_last: bool = False,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        for name, value in (
            ("batch_size", batch_size),
            ("run_samples", run_samples),
            ("buffer_runs", buffer_runs),
            ("world_size", world_size),
        ):
            if value < 1:
                raise ValueError(f"{name} is at least 1, not {value}")
        if not 0 <= rank < world_size:
            raise ValueError(f"rank is 0 to {world_size - 1}, not {rank}")
        self._order = dataset.image.image_order(dataset.paths)
        self._batch_size = batch_size
        self._run_samples = run_samples
        self._buffer_runs = buffer_runs
        self._seed = seed
        self._drop_last = drop_last
        self._rank = rank
        self._world_size = world_size
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Chooses the order of the next iteration; without it, each has another."""
        self._epoch = epoch

    def _runs(self, dice: random.Random) -> list[list[int]]:
        cuts = range(0, len(self._order), self._run_samples)
        runs = [self._order[start : start + self._run_samples] for start in cuts]
        dice.shuffle(runs)
        return runs[self._rank :: self._world_size]

    def __iter__(self) -> Iterator[list[int]]:
        # The same for every rank up to here, so that the ranks have different runs.
        dice = random.Random(f"{self._seed} {self._epoch}")
        self._epoch += 1
        runs = self._runs(dice)
        batch: list[int] = []
        for start in range(0, len(runs), self._buffer_runs):
            buffer = [index for run in runs[start : start + self._buffer_runs] for index in run]
            dice.shuffle(buffer)
            for index in buffer:
                batch.append(index)
                if len(batch) == self._batch_size:
                    yield batch
                    batch = []
        if batch and not self._drop_last:
            yield batch

    def __len__(self) -> int:
        """How many batches the next epoch has for this rank."""
        runs = self._runs(random.Random(f"{self._seed} {self._epoch}"))
        samples = sum(map(len, runs))
        return samples // self._batch_size if self._drop_last else -(-samples // self._batch_size)
