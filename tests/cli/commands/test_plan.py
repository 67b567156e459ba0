"""`info --plan`: the steps of each command, printed before it runs."""

import numpy as np
import pytest

import support

SHAPE = (53, 4001)
ELEMENTS = SHAPE[0] * SHAPE[1]
STORAGE = {
    "contiguous": {},
    "chunked": {"chunks": (10, 450)},
    "gzip": {"chunks": (9, 1000), "compression": "gzip", "shuffle": True},
}
PLANS = [
    ("reduce", None, "slab"),
    ("histogram", None, "slab"),
    ("scan", None, "block"),
    ("compact", None, "block"),
    ("reduce", "0", "box"),
    ("reduce", "0,1", "box"),
    ("reduce", "-1", "box"),
    ("scan", "0", "box"),
    ("scan", "1", "box"),
]


@pytest.fixture(scope="module", params=STORAGE)
def path(request, tmp_path_factory):
    values = np.arange(ELEMENTS, dtype="i4").reshape(SHAPE)
    file = tmp_path_factory.mktemp("plan") / "in.h5"
    return support.write(file, values, "i32", **STORAGE[request.param])


def words_of(command, axis):
    return ["--plan", command, *(["--axis", axis] if axis else [])]


def plan_of(path, command, axis=None, *words, **options):
    report = support.run(
        "info", path, "values", *words_of(command, axis), "--json", "-", *words, **options
    ).report
    return report["results"]["plan"]


@pytest.mark.parametrize("ranks", [None, 3])
@pytest.mark.parametrize("command, axis, unit", PLANS)
def test_shares_hold_every_element_once(path, command, axis, unit, ranks):
    plan = plan_of(path, command, axis, "--slab", "64K", ranks=ranks)
    shares = plan["shares"]
    assert plan["command"] == command and plan["unit"] == unit
    assert len(shares) == (ranks or 1)
    assert sum(share["items"] for share in shares) == plan["items"]
    assert sum(share["elements"] for share in shares) == ELEMENTS
    items = [share["items"] for share in shares]
    assert max(items) - min(items) <= 1
    assert plan["unit_bytes"] == 4 * plan["unit_elements"]
    assert ("slots" in plan) == (unit != "block")


def test_slabs_and_blocks_are_as_large_as_asked_for(tmp_path):
    path = support.write(tmp_path / "in.h5", np.zeros(100_000), "f32")
    reduce = plan_of(path, "reduce", None, "--slab", "64K", "--threads", "2", ranks=3)
    assert reduce["unit_elements"] == 16384 and reduce["items"] == 7
    assert [share["items"] for share in reduce["shares"]] == [3, 2, 2]
    assert [share["elements"] for share in reduce["shares"]] == [49152, 32768, 18080]
    # Sums of f32 are f32: blocks are whole tiles of 4096, of which ranks have four each or more.
    scan = plan_of(path, "scan", None, "--slab", "16K", ranks=3)
    assert scan["unit_elements"] == 12288 and scan["items"] == 9
    assert [share["elements"] for share in scan["shares"]] == [36864, 36864, 26272]
    compact = plan_of(path, "compact", None, "--slab", "16K", ranks=3)
    assert compact["unit_elements"] == 12288
    assert [share["elements"] for share in compact["shares"]] == [36864, 36864, 26272]


def test_a_plan_is_of_what_is_selected(path):
    plan = plan_of(path, "scan", "1", "--select", "5:15, 3:4000:7", ranks=2)
    assert sum(share["elements"] for share in plan["shares"]) == 10 * 571


def test_a_scan_of_one_line_is_of_the_whole(tmp_path):
    path = support.write(tmp_path / "in.h5", np.zeros((1, 5000)), "f64")
    assert plan_of(path, "scan", "1") == plan_of(path, "scan") | {"axis": [1]}


def test_nothing_has_no_items(tmp_path):
    path = support.write(tmp_path / "in.h5", np.zeros((0, 3)), "f64")
    for command, axis, _ in PLANS:
        plan = plan_of(path, command, axis, ranks=2)
        assert plan["items"] == 0 and plan["shares"] == [{"items": 0, "elements": 0}] * 2


def test_text_tells_the_plan(tmp_path):
    path = support.write(tmp_path / "in.h5", np.zeros(100_000), "f32")
    words = ("--plan", "scan", "--slab", "16K")
    text = " ".join(support.run("info", path, "values", *words, ranks=3).stdout.split())
    assert "plan of scan" in text and "block 12288 elements, 48.00 KiB" in text
    assert "items 9 items a rank 3 elements a rank 26272 to 36864" in text
    assert "plan of" not in support.run("info", path, "values").stdout


@pytest.mark.parametrize(
    "words, mentions",
    [
        (["--plan", "sort"], ["reduce, histogram, scan"]),
        (["--axis", "0"], ["--axis", "--plan"]),
        (["--plan", "compact", "--axis", "0"], ["--axis", "--plan"]),
        (["--plan", "scan", "--axis", "0,1"], ["one axis"]),
        (["--plan", "reduce", "--axis", "2"], ["no axis 2"]),
        (["--plan", "scan", "--axis", "-3"], ["no axis -3"]),
    ],
)
def test_plans_that_cannot_be(path, words, mentions):
    support.fail("info", path, "values", *words, code=2, mentions=mentions, ranks=2)


def test_a_plan_goes_with_a_dataset(path):
    support.fail("info", path, "--plan", "scan", code=2, mentions=["--plan", "none is named"])
