"""The verbs, run by the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import coldpress
from coldpress import command


@pytest.fixture(autouse=True)
def no_history(monkeypatch):
    monkeypatch.setenv("COLDPRESS_HISTORY", "off")


def test_an_image_is_built_checked_and_read(made, tmp_path):
    image = tmp_path / "image"
    report = coldpress.build(made.tree, image, compressor="zstd", block_size="64K")
    assert report.image_bytes == image.stat().st_size >= coldpress.Image(image).size_bytes
    assert report.data["inodes"] == report.inodes > 400
    checked = coldpress.check(image)
    assert checked.sound
    assert checked.problems == ()
    with coldpress.Image(image) as opened:
        assert opened.block_bytes == 65536
        assert dict(zip(made.content, opened.read_many(list(made.content)), strict=True)) == (
            made.content
        )


def test_damage_is_a_result_and_no_image_an_error(made, tmp_path):
    content = bytearray(made.image.read_bytes())
    with coldpress.Image(bytes(content)) as sound:
        at = sound._image.positions(["/sizes/text-700000"])[0]
    content[at : at + 99] = bytes(99)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content)
    report = coldpress.check(damaged)
    assert not report.sound
    problem = report.problems[0]
    assert (problem.path, problem.byte, problem.severity) == ("/sizes/text-700000", at, "error")
    # Both say the same words.
    with pytest.raises(coldpress.DamagedError) as read:
        coldpress.Image(damaged).read("/sizes/text-700000")
    assert read.value.rule in problem.text
    text = tmp_path / "text"
    text.write_text("no image" * 99)
    with pytest.raises(coldpress.CommandError) as checked:
        coldpress.check(text)
    with pytest.raises(coldpress.NotAnImageError) as opened:
        coldpress.Image(text, offset=0)
    assert str(checked.value) == str(opened.value)
    assert checked.value.hint == opened.value.hint
    assert checked.value.exit_code == 2
    with pytest.raises(coldpress.CommandError, match="cannot open"):
        coldpress.check(tmp_path / "none")


def test_a_start_is_recorded_predicted_and_tuned(made, tmp_path):
    tree = made.tree / "many/1"
    trace = coldpress.record(
        tree, tmp_path / "trace", ["/bin/ls", "-lR", "{root}"], recorder="opens"
    )
    assert trace.stat().st_size > 0
    image = tmp_path / "image"
    coldpress.build(tree, image)
    predicted = coldpress.predict(image, trace=trace, device="usb2", warm=0.01)
    assert predicted.time_s >= 0.01
    assert predicted.reads > 0
    report = coldpress.tune(tree, trace=trace, device="usb2", compressors="zstd,lz4")
    assert report.recommended in report.images
    assert report.build.startswith("coldpress build ")
    assert {image.compressor for image in report.images} >= {"zstd", "lz4"}


def test_rows_are_an_arrow_table(made, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    problem = command.Problem("error", "text", byte=3)
    table = coldpress.table([problem, problem])
    assert isinstance(table, pyarrow.Table)
    assert table.column("byte").to_pylist() == [3, 3]
    assert "data" not in table.column_names


def test_a_flag_that_is_wrong_is_told_in_the_words_of_the_program(made, tmp_path):
    with pytest.raises(coldpress.CommandError, match="no-such-flag"):
        coldpress.build(made.tree, tmp_path / "image", no_such_flag=True)
    assert command._flags({"level": 3, "sort": ["a", "b"], "quiet": True, "x_y": None}) == [
        "--level=3",
        "--sort=a",
        "--sort=b",
        "--quiet",
    ]


def test_an_exception_of_the_callback_ends_the_program(made, tmp_path):
    class Enough(Exception):
        pass

    def progress(line):
        raise Enough

    told = []
    command.run("check", made.image, json_output=False, progress=told.append)
    assert len(told) == 1
    assert "sound" in told[0]
    with pytest.raises(Enough):
        command.run("build", made.tree, tmp_path / "image", json_output=False, progress=progress)
    names = [name for name in os.listdir(tmp_path) if name != "image"]
    assert names == []


def test_ctrl_c_ends_the_program():
    script = """
import coldpress.command as command, signal
# A shell that starts this in the background has the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
command._run(["sleep", "60"], None)
"""
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=15)
    assert "KeyboardInterrupt" in error
