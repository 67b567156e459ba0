"""What a model says: terms, how far off it was, and predictions."""

import csv
import io
import json

from .folder import write_whole
from .prediction import (
    LEAST_TO_CHECK, PARTS, is_exchange, limit_of, rank_counts_of, seconds_of,
)  # fmt: skip
from .summary import aligned

TERMS_HEADER = ("workload", "quantity", "start ms", "process ms", "GB/s a rank", "GB/s a host",
                "call us", "step us", "link us", "message us", "residuals %")  # fmt: skip
CHECK_HEADER = ("workload", "scaling", "quantity", "ranks", "measured ms", "predicted ms",
                "least ms", "most ms", "off %")  # fmt: skip
PREDICTION_HEADER = ("workload", "scaling", "quantity", "ranks", "hosts", "predicted ms",
                     "least ms", "most ms")  # fmt: skip
PARTS_HEADER = ("workload", "scaling", "quantity", "ranks", "hosts", "start ms", "rank ms",
                "host ms", "host's files ms", "files ms", "within hosts ms", "between hosts ms",
                "efficiency")  # fmt: skip


def rate_of(fit, term):
    """Bytes a second; None where the term was left out."""
    return 1 / fit.coefficient(term) if fit.coefficient(term) else None


def terms_of(model):
    """What was fitted, as JSON: seconds, and bytes a second."""
    for (workload, quantity), fit in model.fits.items():
        if is_exchange(workload, quantity):
            exchange, terms = fit, {"call": fit.coefficient("call")}
        else:
            exchange = model.exchange(workload, quantity, 1)
            terms = {"start": fit.coefficient("start"),
                     "process": fit.coefficient("process"), "rank_rate": rate_of(fit, "rank"),
                     "host_rate": rate_of(fit, "host")}
        for term in ("step", "link"):
            terms[term] = exchange.coefficient(term) if exchange else 0.0
        terms["message"] = exchange.message if exchange else 0.0
        yield {"workload": workload, "quantity": quantity, **terms, "relative_error": fit.error,
               "observations": len(fit.observations)}


def as_json(prediction):
    content = {name: getattr(prediction, name)
               for name in ("workload", "scaling", "quantity", "ranks", "hosts")}
    content.update(seconds=prediction.seconds.median, least=prediction.seconds.least,
                   most=prediction.seconds.most)
    if prediction.measured is not None:
        content.update(measured=prediction.measured, off_percent=prediction.off_percent)
    if prediction.parts is not None:
        content.update(limit=limit_of(prediction.parts), efficiency=prediction.efficiency,
                       parts=prediction.parts)
    return content


def as_line(prediction):
    """Of model.csv."""
    content = as_json(prediction)
    parts = content.pop("parts", {})
    return {**content, **{f"{part}_seconds": seconds for part, seconds in parts.items()}}


def write(folder, model, checks, predicted):
    """model.json: all there is; model.csv: held-out and predicted times."""
    first = model.rows[0]
    provenance = {name: first[name] for name in ("commit", "version", "build", "mpi")}
    document = {"schema": "warpfold.scaling-model/1", **provenance,
                "terms": list(terms_of(model)), "held_out": list(map(as_json, checks)),
                "predictions": list(map(as_json, predicted))}
    write_whole(folder / "model.json", json.dumps(document, indent=2) + "\n")
    text = io.StringIO()
    lines = list(map(as_line, [*checks, *predicted]))
    writer = csv.DictWriter(text, dict.fromkeys(name for line in lines for name in line),
                            lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    write_whole(folder / "model.csv", text.getvalue())
    return folder / "model.json", folder / "model.csv"


def figure(value, scale=1e3):
    return "" if value is None else f"{value * scale:.4g}"


def terms_line(terms):
    return (terms["workload"], terms["quantity"], figure(terms.get("start")),
            figure(terms.get("process")),
            figure(terms.get("rank_rate"), 1e-9), figure(terms.get("host_rate"), 1e-9),
            figure(terms.get("call"), 1e6), figure(terms["step"], 1e6),
            figure(terms["link"], 1e6), figure(terms["message"], 1e6),
            figure(terms["relative_error"], 100))  # fmt: skip


def interval_of(prediction):
    return tuple(figure(value) for value in (prediction.seconds.median, prediction.seconds.least,
                                             prediction.seconds.most))


def check_line(check):
    return (check.workload, check.scaling, check.quantity, str(check.ranks),
            figure(check.measured), *interval_of(check), f"{check.off_percent:+.1f}")


def prediction_line(prediction):
    return (prediction.workload, prediction.scaling, prediction.quantity, str(prediction.ranks),
            str(prediction.hosts), *interval_of(prediction))


def parts_line(prediction):
    efficiency = prediction.efficiency
    return (prediction.workload, prediction.scaling, prediction.quantity, str(prediction.ranks),
            str(prediction.hosts), *map(figure, prediction.parts.values()),
            "" if efficiency is None else f"{efficiency:.3f}")


def limit_line(prediction):
    """What limits, in words."""
    part = limit_of(prediction.parts)
    hosts = f"{prediction.hosts} host{'s' if prediction.hosts > 1 else ''}"
    return (f"{prediction.workload}, {prediction.scaling}, {prediction.quantity}: "
            f"{prediction.ranks} ranks on {hosts} are limited by {PARTS[part]} "
            f"({figure(prediction.parts[part])} of {figure(seconds_of(prediction.parts))} ms)")


def remarks(model, predicted):
    """What the measurements can't tell."""
    for workload, ranks in rank_counts_of(model.rows).items():
        if len(ranks) < LEAST_TO_CHECK:
            yield (f"note: {workload} was measured at {' and '.join(map(str, ranks))} ranks alone; "
                   "nothing checks what these predict")
    if any(each.seconds.least is None for each in predicted):
        yield "note: no intervals where there are no more runs than terms; make more --repeats"


def text_of(model, checks, predicted):
    headlines = [each for each in predicted if each.is_headline]
    parts = [
        "terms", aligned([TERMS_HEADER, *map(terms_line, terms_of(model))], 2),
        "", "the largest number of ranks, from fits to the others",
        aligned([CHECK_HEADER, *(check_line(each) for each in checks if each.is_headline)], 3),
        "", "predictions, with the interval for 90 % of runs",
        aligned([PREDICTION_HEADER, *map(prediction_line, headlines)], 3),
        "", "what they are made of: of rank, host and files only the longest counts",
        aligned([PARTS_HEADER, *map(parts_line, headlines)], 3),
        "", *map(limit_line, headlines), *remarks(model, predicted),
    ]  # fmt: skip
    return "\n".join(parts)
