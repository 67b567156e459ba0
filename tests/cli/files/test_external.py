"""Files that an HDF5 file names: raw files, sources of virtual datasets, targets of links."""

import os

import h5py
import numpy as np
import pytest

import support

VALUES = np.arange(6.0)
SECRET = b"root:x:0:0:root:/root:/bin/bash\nuser:x:1000:"


def virtual(path, *sources, shape=(6,)):
    """`values` made of (where, file, dataset), or of all of a file's `values`."""
    layout = h5py.VirtualLayout(shape, "f8")
    for where, file, dataset in sources:
        layout[where] = h5py.VirtualSource(str(file), dataset, shape)[where]
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("values", layout)


def raw(path, data):
    with h5py.File(path, "w") as file:
        file.create_dataset("values", (len(VALUES),), "f8", external=[(str(data), 0, 48)])


@pytest.fixture
def uploads(folder):
    """Files whose elements lie in each way in the folder itself, or in another; by names."""
    inside, outside = folder / "in", folder / "out"
    for each in (inside, outside):
        each.mkdir()
        (each / "raw").write_bytes(VALUES.tobytes())
        support.write(each / "plain.h5", VALUES, "f64")
    (inside / "link").symlink_to(outside / "raw")
    (inside / "link.h5").symlink_to(outside / "plain.h5")
    for kind, where in (("in", inside), ("out", outside)):
        raw(inside / f"raw-{kind}.h5", where / "raw")
        virtual(inside / f"virtual-{kind}.h5", (slice(None), where / "plain.h5", "values"))
        with h5py.File(inside / f"link-{kind}.h5", "w") as file:
            file["values"] = h5py.ExternalLink(str(where / "plain.h5"), "values")
        virtual(inside / f"raw-of-virtual-{kind}.h5", (slice(None), f"raw-{kind}.h5", "values"))
        virtual(inside / f"link-of-virtual-{kind}.h5", (slice(None), f"link-{kind}.h5", "values"))
        virtual(inside / f"twice-{kind}.h5", (slice(None), f"virtual-{kind}.h5", "values"))
        with h5py.File(inside / f"group-{kind}.h5", "w") as file:
            file["group"] = h5py.ExternalLink(f"link-{kind}.h5", "/")
            file["values"] = h5py.SoftLink("group/values")
    raw(inside / "raw-symlink-out.h5", inside / "link")
    raw(inside / "raw-dots-out.h5", inside / ".." / "out" / "raw")
    virtual(inside / "virtual-symlink-out.h5", (slice(None), "link.h5", "values"))
    with h5py.File(inside / "link-symlink-out.h5", "w") as file:
        file["values"] = h5py.ExternalLink("link.h5", "values")
    return {path.stem: path for path in inside.glob("*-*.h5")}


def test_the_rule_on_external_files(uploads):
    for name, path in uploads.items():
        for rule in ("any", "same-folder", "none"):
            words = ("reduce", path, "values", "--ops", "sum", "--external", rule)
            if rule == "any" or (rule == "same-folder" and name.endswith("-in")):
                outcome = support.run(*words, "--json", "-")
                assert outcome.results == {"sum": VALUES.sum()}, name
                continue
            refusal = support.fail(*words, code=1, mentions=["--external any", "are refused"])
            assert "'" in refusal.errors[0] and ".h5" in refusal.errors[0]
            assert "sum" not in refusal.stdout


@pytest.mark.parametrize("ranks", [None, 2])
def test_every_command_refuses(uploads, ranks):
    path, output = uploads["raw-out"], uploads["raw-out"].parent / "made.h5"
    refused = [
        ("info", path, "values"),
        ("histogram", path, "values"),
        ("scan", path, "values", "-o", output),
        ("compact", path, "values", "--where", ">0", "-o", output),
        ("reduce", uploads["raw-in"].parent / "plain.h5", "values", "--mask", f"{path}::values"),
        ("reduce", uploads["raw-in"].parent / "plain.h5", path, "values", "--concat", "0"),
    ]
    for words in refused:
        support.fail(*words, "--external", "same-folder", code=1, ranks=ranks,
                     mentions=["out/raw", "--external any"])  # fmt: skip
    assert not output.exists()


def test_a_password_file(folder):
    (folder / "secret").mkdir()
    (folder / "secret" / "passwd").write_bytes(SECRET)
    with h5py.File(folder / "upload.h5", "w") as file:
        file.create_dataset(
            "values", (8,), "u1", external=[(str(folder / "secret" / "passwd"), 0, 8)]
        )
        file["good"] = VALUES
    read = ("reduce", folder / "upload.h5", "--all", "--ops", "sum", "--json", "-")
    assert support.run(*read).report["datasets"][1]["results"]["sum"] == sum(SECRET[:8])
    outcome = support.attempt(*read, "--external", "none")
    assert outcome.code == 1
    good, values = outcome.report["datasets"]
    assert good["results"]["sum"] == VALUES.sum()
    assert "passwd" in values["skipped"] and "`" not in values["skipped"]
    assert "results" not in values


def test_listings_follow_no_refused_links(uploads):
    def listed(name, *words):
        report = support.run("info", uploads[name], "--json", "-", *words).report
        return {each["name"]: each["unsupported"] for each in report["results"]["datasets"]}

    assert listed("group-out") == {"values": ""}
    assert list(listed("group-in", "--external", "same-folder")) == ["values"]
    for name, rule in (("group-out", "same-folder"), ("group-in", "none")):
        reasons = listed(name, "--external", rule)
        assert all("are refused" in reason for reason in reasons.values()), reasons
        outcome = support.attempt("reduce", uploads[name], "*", "--external", rule)
        assert outcome.code == 1 and "are refused" in outcome.stdout + outcome.stderr


def test_sources_that_are_counted_are_refused(folder):
    """HDF5 opens these to find out the extent."""
    with h5py.File(folder / "in.h5", "w", libver="latest") as file:
        for i in range(2):
            file[f"part{i}"] = VALUES
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        space = h5py.h5s.create_simple((2, 6), (h5py.h5s.UNLIMITED, 6))
        space.select_hyperslab((0, 0), (h5py.h5s.UNLIMITED, 1), (1, 1), (1, 6))
        source = h5py.h5s.create_simple((6,))
        properties.set_virtual(space, b".", b"part%b", source)
        h5py.h5d.create(file.id, b"values", h5py.h5t.NATIVE_DOUBLE, space, properties)
    for rule in ("same-folder", "none"):
        words = ("info", folder / "in.h5", "values", "--external", rule)
        support.fail(*words, code=1, mentions=["part%b", "--external any"])


def test_scales_and_labels_lie_in_allowed_files(folder):
    (folder / "other").mkdir()
    (folder / "other" / "raw").write_bytes(VALUES.tobytes())
    raw(folder / "in.h5", folder / "other" / "raw")
    with h5py.File(folder / "in.h5", "a") as file:
        file["values"].make_scale("x")
        file["v"] = VALUES
        file["v"].dims[0].attach_scale(file["values"])
    words = ("reduce", folder / "in.h5", "v", "--select", "values=2", "--ops", "sum", "--json", "-")
    assert support.run(*words).results["sum"] == 2
    support.fail(*words, "--external", "none", code=1, mentions=["other/raw"])


def test_a_link_to_the_file_itself_has_the_folder_of_what_it_leads_to(uploads):
    path = uploads["raw-in"]
    (path.parent.parent / "out" / "alias.h5").symlink_to(path)
    alias = path.parent.parent / "out" / "alias.h5"
    words = ("values", "--external", "same-folder", "--ops", "sum", "--json", "-")
    assert support.run("reduce", alias, *words).results["sum"] == VALUES.sum()


def test_info_names_the_files(uploads):
    folder = uploads["raw-out"].parent
    for name, others in (
        ("raw-out", [folder.parent / "out" / "raw"]),
        ("virtual-out", [folder.parent / "out" / "plain.h5"]),
        ("link-out", [folder.parent / "out" / "plain.h5"]),
        ("raw-of-virtual-in", [folder / "raw", folder / "raw-in.h5"]),
    ):
        outcome = support.run("info", uploads[name], "values", "--json", "-")
        assert outcome.results["other_files"] == [str(each) for each in others]
        text = support.run("info", uploads[name], "values").stdout
        assert all(str(each) in text for each in others)
    plain = support.run("info", folder / "plain.h5", "values", "--json", "-").results
    assert "other_files" not in plain


def test_a_raw_file_that_is_a_pipe_is_not_waited_for(folder):
    os.mkfifo(folder / "pipe")
    raw(folder / "in.h5", folder / "pipe")
    support.fail("reduce", folder / "in.h5", "values", code=1, timeout=20,
                 mentions=["not a regular file"])  # fmt: skip


def test_raw_files_have_all_bytes(folder):
    """HDF5 takes zeros for what they lack."""
    with h5py.File(folder / "in.h5", "w") as file:
        for name, places in (
            ("whole", [("raw", 8, 32)]),
            ("unlimited", [("raw", 8, h5py.h5f.UNLIMITED)]),
            ("two", [("raw", 0, 16), ("raw", 24, 100)]),
            ("short", [("raw", 16, 32)]),
            ("later", [("raw", 0, 24), ("raw", 36, 8)]),
        ):
            places = [(str(folder / each), offset, size) for each, offset, size in places]
            file.create_dataset(name, (8,), "i4", external=places)
    np.arange(10, dtype="i4").tofile(folder / "raw")
    for name, expected in (("whole", range(2, 10)), ("unlimited", range(2, 10)),
                           ("two", [0, 1, 2, 3, 6, 7, 8, 9])):  # fmt: skip
        found = support.run("reduce", folder / "in.h5", name, "--ops", "sum", "--json", "-")
        assert found.results == {"sum": sum(expected)}
    for name, needed in (("short", 48), ("later", 44)):
        support.fail("reduce", folder / "in.h5", name, code=1, mentions=[
            f"has 40 bytes of {needed}", f"truncate -s {needed}"])  # fmt: skip
