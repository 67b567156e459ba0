"""Errors and warnings are those of Python."""

import pickle

import h5py
import numpy as np
import pytest
import warpfold


def test_a_missing_file(tmp_path):
    with pytest.raises(warpfold.Error) as caught:
        warpfold.reduce(tmp_path / "none.h5", "x")
    assert not isinstance(caught.value, ValueError)
    assert "none.h5" in caught.value.what and caught.value.advice
    assert isinstance(caught.value, RuntimeError)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"ops": "sums"}, "sums"),
        ({"where": "0<"}, "bad condition '0<'"),
        ({"backend": "tpu"}, "bad backend 'tpu'"),
        ({"threads": 0}, "bad threads '0'"),
        ({"slab": "1Q"}, "bad slab '1Q'"),
        ({"nan": "drop"}, "bad nan 'drop'"),
        ({"keepdims": True}, "keepdims needs axis"),
        ({"ops": "sum", "quantile_method": "lower"}, "quantile_method needs a quantile"),
        ({"axis": 0, "force": True}, "force cannot be given here"),
    ],
)
def test_usage_errors_name_keywords(path, options, words):
    with pytest.raises(warpfold.UsageError) as caught:
        warpfold.reduce(path, "temp", **options)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, warpfold.Error)
    assert words in str(caught.value)
    assert "--" not in str(caught.value).replace("--help", "")


@pytest.mark.parametrize(
    "function, given",
    [("reduce", {"opps": 1}), ("reduce", {"ops": "sum", "bins": 3}), ("scan", {"ops": "sum"}),
     ("compact", {"axis": 0}), ("histogram", {"output": "out.h5"}), ("info", {"progress": print})],
)  # fmt: skip
def test_options_of_other_names(path, function, given):
    wrong = list(given)[-1]
    for source in ((path, "temp"), (np.zeros(3),)):
        with pytest.raises(TypeError, match=rf"{function}\(\) got an unexpected.*'{wrong}'"):
            getattr(warpfold, function)(*source, **given)


@pytest.mark.parametrize("function", ["histogram", "compact", "read"])
def test_arrays_are_no_files(function):
    with pytest.raises(warpfold.UsageError, match="file is a ndarray"):
        getattr(warpfold, function)(np.zeros((2, 3)))


def test_words_that_look_like_options_are_names(path):
    with pytest.raises(warpfold.Error, match="--raw"):
        warpfold.reduce(path, "--raw")
    with pytest.raises(warpfold.UsageError):
        warpfold.reduce(path, "temp", mask="--raw")


def test_datasets_that_are_not_there(path):
    with pytest.raises(warpfold.Error, match="temp"):
        warpfold.reduce(path, "nothing")
    with pytest.raises(warpfold.UsageError, match="DATASET is required"):
        warpfold.reduce(path)
    with pytest.raises(warpfold.UsageError):
        warpfold.reduce(path, "temp", all=True)
    with pytest.raises(warpfold.UsageError, match="concat"):
        warpfold.reduce([path, path], "temp")


def test_a_message_has_what_why_and_advice():
    error = warpfold.Error("the file is gone", "it was removed", "Make it anew.")
    assert str(error) == "the file is gone: it was removed. Make it anew."
    assert str(warpfold.Error("gone", "", "Do it.")) == "gone. Do it."
    again = pickle.loads(pickle.dumps(error))
    assert (again.what, again.why, again.advice) == (error.what, error.why, error.advice)


def test_an_overflow(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["x"] = np.array([2**62, 2**62], "i8")
    with pytest.raises(warpfold.Error, match="overflow"):
        warpfold.scan(tmp_path / "in.h5", "x")
    wrapped = warpfold.scan(tmp_path / "in.h5", "x", overflow="wrap")
    assert np.array_equal(wrapped, [2**62, -(2**63)])


def test_files_in_memory_and_closed_ones_are_refused(path):
    with h5py.File("memory.h5", "w", driver="core", backing_store=False) as file:
        file["x"] = [1.0]
        with pytest.raises(warpfold.UsageError, match="driver core"):
            warpfold.reduce(file["x"], ops="sum")
    with pytest.raises(warpfold.UsageError, match="closed"):
        warpfold.reduce(file, "x")
    with h5py.File(path) as file, pytest.raises(warpfold.UsageError, match="names of others"):
        warpfold.reduce(file["temp"], "group")


def test_an_output_that_exists_is_kept(path, tmp_path):
    out = tmp_path / "out.h5"
    out.write_text("mine")
    with pytest.raises(warpfold.Error, match="force"):
        warpfold.scan(path, "temp", output=out)
    assert out.read_text() == "mine"


def test_what_progress_raises_comes_back(path):
    class Enough(Exception):
        pass

    def stop(now):
        raise Enough(now.seconds)

    with pytest.raises(Enough):
        warpfold.reduce(path, "temp", progress=stop)
    assert warpfold.reduce(path, "group", ops="count") == 6


def test_a_communicator_of_another_kind(path):
    pytest.importorskip("mpi4py")
    with pytest.raises(warpfold.UsageError, match="comm is a str"):
        warpfold.reduce(path, "temp", comm="world")
