"""The global attribute `history` of outputs: the command, above the input's history."""

import shutil
import subprocess

import h5py
import numpy as np
import pytest

import support

COMMANDS = {
    "scan": ("scan", "in.h5", "values", "-o", "out.h5"),
    "scan-chunked": ("scan", "in.h5", "values", "-o", "out.h5", "--chunks", "2,2"),
    "compact": ("compact", "in.h5", "values", "-o", "out.h5", "--where", ">0", "--indices"),
    "reduce": ("reduce", "in.h5", "values", "-o", "out.h5", "--axis", "0", "--ops", "sum,min"),
}
INPUTS = {
    "missing": (None, ""),
    "fixed": (np.bytes_("ncks a b"), "\nncks a b"),
    "variable": ("cdo größe\nncks a b", "\ncdo größe\nncks a b"),
    "several": (np.array(["first", "second"], h5py.string_dtype()), "\nfirst\nsecond"),
    "several-fixed": (np.array([b"first", b"2nd"]), "\nfirst\n2nd"),
    "long": ("x" * 100_000, "\n" + "x" * 100_000),
    "empty": ("", ""),
    "null": (h5py.Empty("S5"), ""),
    "number": (np.int32(3), ""),
    "numbers": (np.arange(4.0), ""),
}


def write_input(folder, history=None):
    path = support.write(folder / "in.h5", np.arange(-3, 9).reshape(3, 4), "i32")
    with h5py.File(path, "r+", libver="latest") as file:
        if history is not None:
            file.attrs["history"] = history
    return path


def run(folder, command, ranks=None):
    """Runs a command; returns its line of history, and the output's."""
    words = [*COMMANDS[command], "--backend", support.BACKEND, "--share-gpu"]
    support.run(*words, cwd=folder, ranks=ranks, backend=None)
    with h5py.File(folder / "out.h5") as file:
        shown = " ".join(f"'{word}'" if word == ">0" else word for word in words)
        return f"warpfold {shown}", file.attrs["history"].decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_stands_above_the_history_of_the_input(folder, command):
    write_input(folder, "cdo mul a b in.h5\nncks a b")
    line, history = run(folder, command, ranks=2)
    assert history == f"{line}\ncdo mul a b in.h5\nncks a b"


@pytest.mark.parametrize("kind", INPUTS)
def test_every_kind_of_history_of_the_input(folder, kind):
    written, expected = INPUTS[kind]
    write_input(folder, written)
    line, history = run(folder, "scan")
    assert history == line + expected


def test_spaces_at_the_end_of_padded_text_are_none_of_it(folder):
    write_input(folder)
    with h5py.File(folder / "in.h5", "r+") as file:
        padded = h5py.h5t.FORTRAN_S1.copy()
        padded.set_size(10)
        made = h5py.h5a.create(file.id, b"history", padded, h5py.h5s.create(h5py.h5s.SCALAR))
        made.write(np.array(b"ncks a b  "), mtype=padded)
    line, history = run(folder, "scan")
    assert history == f"{line}\nncks a b"


def test_generate_begins_a_history(folder):
    support.run("generate", "iota", "in.h5", "values", "--shape", "3,4", cwd=folder)
    line, history = run(folder, "reduce")
    assert history == f"{line}\nwarpfold generate iota in.h5 values --shape 3,4"


def test_an_attribute_of_the_dataset_stays_its_own(folder):
    with h5py.File(write_input(folder, "ncks a b"), "r+") as file:
        file["values"].attrs["history"] = "averaged by hand"
    line, history = run(folder, "scan")
    assert history == f"{line}\nncks a b"
    with h5py.File(folder / "out.h5") as file:
        assert file["values"].attrs["history"] == "averaged by hand"
        assert file["values"].attrs["warpfold_command"].decode() == line


@pytest.mark.skipif(shutil.which("ncdump") is None, reason="ncdump of netcdf-bin is not here")
@pytest.mark.parametrize("command", COMMANDS)
def test_netcdf_reads_it(folder, command):
    write_input(folder, "ncks a b")
    line, _ = run(folder, command)
    shown = subprocess.run(["ncdump", "-h", "out.h5"], cwd=folder, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert f':history = "{line}\\nncks a b" ;' in shown.stdout.replace("\\'", "'")


LABELS = ["time", "level", "lat", "lon"]


@pytest.mark.parametrize("words, kept", [
    (["scan"], [0, 1, 2, 3]),
    (["scan", "--select", "1, :, ::2, -1"], [1, 2]),
    (["scan", "--axis", "1", "--select", "..., 0"], [0, 1, 2]),
    (["scan", "--offsets"], None),
    (["scan", "--offsets", "--select", "0, 0, :, 0"], [2]),
    (["reduce", "--axis", "1"], [0, 2, 3]),
    (["reduce", "--axis", "0,-1", "--ops", "max"], [1, 2]),
    (["reduce", "--axis", "0", "--select", ":, 0"], [2, 3]),
    (["reduce", "--axis", "0,2", "--keepdims"], [0, 1, 2, 3]),
    (["reduce", "--axis", "0,1,2,3"], None),
    (["compact", "--where", ">3"], None),
    (["compact", "--where", ">3", "--select", "0, 0, :, 0"], [2]),
])  # fmt: skip
@pytest.mark.parametrize("fixed", [False, True])
def test_labels_are_of_the_dimensions_that_are_left(folder, words, kept, fixed):
    with h5py.File(folder / "in.h5", "w") as file:
        made = file.create_dataset("values", data=np.arange(120.0).reshape(2, 3, 4, 5))
        for dimension, label in zip(made.dims, LABELS):
            dimension.label = label
        if fixed:
            made.attrs["DIMENSION_LABELS"] = np.array(LABELS, "S9")
        for number, label in enumerate(LABELS):
            file[label] = np.arange(float(made.shape[number]))
            file[label].make_scale(label)
            made.dims[number].attach_scale(file[label])
    command, *options = words
    support.run(command, folder / "in.h5", "values", "-o", folder / "out.h5", *options)
    with h5py.File(folder / "out.h5") as file:
        made = file["values"]
        if kept is None:
            assert "DIMENSION_LABELS" not in made.attrs
        else:
            labels = made.attrs["DIMENSION_LABELS"]
            assert labels.astype(str).tolist() == [LABELS[each] for each in kept]


def test_labels_for_fewer_dimensions_are_left_out(folder):
    path = support.write(folder / "in.h5", np.zeros((2, 3)), "f64")
    for labels in (np.array([b"x"]), "x, y", h5py.Empty("S1"), np.arange(2)):
        with h5py.File(path, "a") as file:
            file["values"].attrs["DIMENSION_LABELS"] = labels
        support.scan(path, folder / "out.h5")
        with h5py.File(folder / "out.h5") as file:
            assert "DIMENSION_LABELS" not in file["values"].attrs
