"""Several hosts give what one process gives, and see what is wrong."""

import os
import shutil

import h5py
import numpy as np
import pytest

import support


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "in.h5"
    noise = np.random.default_rng(1)
    with h5py.File(path, "w") as made:
        made["x"] = noise.normal(0, 1e10, (60, 500)).astype("f4")
        made.create_dataset("packed", data=noise.integers(-99, 99, (60, 500)).astype("i2"),
                            chunks=(7, 100), compression=3, shuffle=True)  # fmt: skip
    return path


COMMANDS = {
    "reduce": ["reduce", "IN", "x", "--ops", "all", "--json", "-", "--quiet"],
    "along an axis": ["reduce", "IN", "x", "--axis", "0", "--ops", "mean,std", "-o", "OUT"],
    "quantiles": ["reduce", "IN", "packed", "--ops", "median,q05", "--json", "-", "--quiet"],
    "scan": ["scan", "IN", "x", "-o", "OUT"],
    "chunked scan": ["scan", "IN", "packed", "--axis", "0", "--chunks", "9,40", "--deflate", "1", "-o", "OUT"],
    "compact": ["compact", "IN", "x", "--where", ">0", "--indices", "-o", "OUT"],
    "histogram": ["histogram", "IN", "packed", "--bins", "7", "--json", "-", "--quiet"],
}  # fmt: skip


def contents(path):
    found = {}
    with h5py.File(path) as made:
        made.visititems(lambda name, item: found.update({name: item[()].tobytes()})
                        if isinstance(item, h5py.Dataset) else None)  # fmt: skip
    return found


def words_of(command, file, output):
    return [{"IN": file, "OUT": output}.get(word, word) for word in COMMANDS[command]]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("command", COMMANDS)
def test_several_hosts_give_what_one_process_gives(hosts, file, tmp_path, command, count):
    alone = support.run(*words_of(command, file, tmp_path / "alone.h5"))
    words = words_of(command, file, tmp_path / "out.h5")
    ended = hosts.run(*words, hosts=hosts.hosts[:count])
    assert ended.code == 0, ended.stderr
    if "--json" in words:
        several = support.Outcome(0, ended.stdout, "")
        report = several.report
        assert (report["hosts"], report["ranks"]) == (count, 2 * count)
        assert report["results"] == alone.report["results"]
    else:
        assert contents(tmp_path / "out.h5") == contents(tmp_path / "alone.h5")


def test_a_damaged_chunk_is_one_error(hosts, file, tmp_path):
    with h5py.File(file) as made:
        where = made["packed"].id.get_chunk_info(30).byte_offset
    with open(file, "r+b") as damaged:
        damaged.seek(where)
        damaged.write(b"\xff" * 16)
    ended = hosts.run("scan", file, "packed", "-o", tmp_path / "out.h5")
    assert ended.code == 1
    assert len(ended.errors) == 1 and "packed" in ended.errors[0]
    assert os.listdir(tmp_path) == ["in.h5"]


def other_values(path):
    with h5py.File(path, "r+") as made:
        made["x"][...] += 1


def another_shape(path):
    with h5py.File(path, "r+") as made:
        del made["x"]
        made["x"] = np.zeros((50, 500), "f4")


def shorter(path):
    os.truncate(path, os.path.getsize(path) // 2)


@pytest.mark.parametrize("keeps_times", [False, True])
@pytest.mark.parametrize("change", [other_values, another_shape, shorter])
def test_another_file_of_the_same_name_is_noticed(hosts, file, tmp_path, change, keeps_times):
    other = tmp_path / "other.h5"
    shutil.copy(file, other)
    change(other)
    if keeps_times:
        shutil.copystat(file, other)
    hosts.put_in_place_of(file, "h2", other)
    ended = hosts.run("reduce", file, "x")
    assert ended.code == 1, ended.stdout
    assert len(ended.errors) == 1 and str(file) in ended.errors[0] and "host h2" in ended.errors[0]


def test_copies_on_each_host_are_as_good(hosts, file, tmp_path):
    for host in ("h2", "h3"):
        copy = tmp_path / f"{host}.h5"
        shutil.copy(file, copy)
        hosts.put_in_place_of(file, host, copy)
    words = words_of("reduce", file, None)
    ended = hosts.run(*words)
    assert ended.code == 0, ended.stderr
    assert support.Outcome(0, ended.stdout, "").results == support.run(*words).results


def test_a_file_that_a_host_lacks_is_noticed(hosts, file, tmp_path):
    hosts.put_in_place_of(tmp_path, "h3", "/mnt")
    ended = hosts.run("reduce", file, "x")
    assert ended.code == 1
    assert len(ended.errors) == 1 and str(file) in ended.errors[0]
