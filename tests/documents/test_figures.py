"""Times and rates in documents are those of jobs/figures."""

import json
import re
import subprocess
import sys

import pytest

from documents import ROOT

sys.path.insert(0, str(ROOT / "jobs"))

import quote_figures  # noqa: E402
from scaling_study import figures  # noqa: E402

MACHINES = sorted(path for path in (ROOT / "jobs/figures").glob("*.json") if path.stem != "prefixes")


def rows_below(document, comment):
    """Cells of the table below a comment, the header first."""
    text = (ROOT / document).read_text().partition(comment)[2].partition("<!-- end")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("|") and "---" not in line]  # fmt: skip


def test_documents_state_the_figures():
    outcome = subprocess.run([sys.executable, ROOT / "jobs/quote_figures.py", "--check"],
                             capture_output=True, text=True)  # fmt: skip
    assert (outcome.returncode, outcome.stderr) == (0, "")


@pytest.mark.parametrize("path", MACHINES, ids=lambda path: path.stem)
def test_each_record_has_its_machine_date_version_and_command(path):
    content = json.loads(path.read_text())
    assert content["schema"] == "warpfold.figures/1"
    for record in content["records"].values():
        assert record["machine"]["processor"] and record["machine"]["cores"] > 0
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", record["date"])
        assert re.fullmatch(r"\d+\.\d+\.\d+", record["version"])
        assert record["command"] and record["figures"]


def test_cells_are_the_values_of_the_files():
    """Formats them by other code than the script."""
    seconds = json.loads((ROOT / "jobs/figures/two_cores.json").read_text())["records"]["tools"]["figures"]["seconds"]
    (_, *tools), *rows = rows_below("jobs/README.md", "<!-- figures: tools two_cores -->")
    assert len(rows) == sum(map(len, seconds.values()))
    for title, *cells in rows:
        source, task = title.split(": ")
        for tool, cell in zip(tools, cells):
            assert cell == ("%.2f" % seconds[source][task][tool] if tool in seconds[source][task] else "-")


@pytest.mark.parametrize(
    "text, figures",
    [("It takes 3.0 s.", ["3.0 s"]), ("35.5, 46.6 and 48.8 GB/s", ["35.5, 46.6 and 48.8 GB/s"]),
     ("3 min, 5 h, 7 TB/s, 4 GiB/s", ["3 min", "5 h", "7 TB/s", "4 GiB/s"]),
     ("2 seconds or 3.3 µs", ["2 seconds", "3.3 µs"]),
     ("from 5 ms to 20 us", ["5 ms", "20 us"]), ("1,024 GPUs, 16 cores, 2 spaces", []),
     ("`warpfold ... 1.92 GB/s`\n```\n5 s\n```\n", []), ("at 40 GB/s of elements", ["40 GB/s"])],
)  # fmt: skip
def test_stated_figures_are_found(text, figures):
    assert quote_figures.unquoted(text, []) == figures


def test_quotations_and_tables_cover_figures():
    text = "It reaches 40\nGB/s.\n<!-- figures: tools two_cores -->\n3 s\n<!-- end of figures -->\n9 ms"
    assert quote_figures.unquoted(text, ["reaches 40 GB/s"]) == ["9 ms"]
    assert quote_figures.unquoted(text, ["reaches 41 GB/s"]) == ["40 GB/s", "9 ms"]


def known(**document):
    return {"document": [{"path": "jobs/examples/h200/README.md", **document}]}


def test_a_figure_that_differs_is_an_error():
    series = "jobs/examples/h200/four_gpus/contiguous-cuda: bench ingest, strong, statistics (warpfold)"
    quote = f"One GPU reaches {{{series}: 1: rate * 1e-9 | .2f}} GB/s"
    with pytest.raises(quote_figures.Wrong, match=r"does not state 'One GPU reaches 46.59 GB/s'"):
        quote_figures.check_quotes(known(quotes=[quote]))
    with pytest.raises(quote_figures.Wrong, match=r"no longer states 'It takes 7 s'"):
        quote_figures.check_quotes(known(others=[{"text": "It takes 7 s", "why": ""}]))
    with pytest.raises(quote_figures.Wrong, match="which quotes.toml lacks"):
        quote_figures.check_quotes(known())
    with pytest.raises(quote_figures.Wrong, match="there is no heading 'Nothing'"):
        quote_figures.check_quotes(known(sections=["Nothing"]))


@pytest.mark.parametrize(
    "reference, error",
    [("two_cores: tools: seconds: no", "'no'"), ("two_cores: tools: seconds", "is not a number"),
     ("none: tools: steps", "there is no jobs/figures/none.json"), ("two_cores: no: steps", "no figures of 'no'")],
)  # fmt: skip
def test_a_reference_to_nothing_is_one_error(reference, error):
    with pytest.raises(quote_figures.Wrong, match=error):
        quote_figures.check_quotes(known(quotes=[f"{{{reference} | .1f}}"]))


def test_a_wrong_format_or_table_is_one_error():
    with pytest.raises(quote_figures.Wrong, match="quotes.toml: "):
        quote_figures.check_quotes(known(quotes=["{two_cores: tools: steps | nothing}"]))
    for table, error in (("none two_cores", "is not a table. Choose from tools"),
                         ("many_gpus two_cores", "no figures of")):  # fmt: skip
        with pytest.raises(quote_figures.Wrong, match=error):
            quote_figures.with_tables(f"<!-- figures: {table} -->\n<!-- end of figures -->")


def test_series_of_a_study_are_distinguished(monkeypatch):
    """Reductions and scans have whole runs; the same series twice is an error."""
    study = "jobs/examples/h100/ranks"
    assert {"reduce, weak, whole run", "scan, weak, whole run"} <= set(quote_figures.study_of(study))
    series = figures.series_of(figures.read_rows(ROOT / study / "study.csv"))
    monkeypatch.setattr(figures, "series_of", lambda rows: series * 2)
    with pytest.raises(quote_figures.Wrong, match="twice"):
        quote_figures.study_of(study)


def test_a_table_that_differs_is_written_again():
    text = (ROOT / "jobs/README.md").read_text()
    changed = text.replace("| gzip: mean | ", "| gzip: mean | 9")
    assert changed != text
    assert quote_figures.with_tables(changed) == text
