"""The kernels' usage as a table of files, as Markdown and as CSV."""

import collections
import csv
import dataclasses

from kernel_usage import KernelUsage


def grouped(usages, key):
    groups = collections.defaultdict(list)
    for usage in usages:
        groups[key(usage)].append(usage)
    return groups


def file_table(usages):
    """A line for each file and architecture: the most that any of its kernels takes."""
    lines = [f"{'file':44} {'GPU':>5} {'nvcc':>5} {'kernels':>7} {'registers':>9} {'shared':>6} "
             f"{'stack':>5} {'spilling':>8}"]
    files = grouped(usages, lambda usage: (usage.file, usage.architecture, usage.compiler))
    for (file, architecture, compiler), kernels in sorted(files.items()):
        lines.append(
            f"{file:44} sm_{architecture:2} {compiler:>5} {len(kernels):7} "
            f"{max(usage.registers for usage in kernels):9} "
            f"{max(usage.static_shared_bytes for usage in kernels):6} "
            f"{max(usage.stack_bytes for usage in kernels):5} "
            f"{sum(usage.spills for usage in kernels):8}")
    return "\n".join(lines)


def per_architecture(usages, figure):
    """A figure for each architecture: one where all are the same."""
    figures = [figure(usage) for usage in sorted(usages, key=lambda usage: usage.architecture)]
    return str(figures[0]) if len(set(figures)) == 1 else " / ".join(map(str, figures))


def figures(usages):
    return (per_architecture(usages, lambda usage: usage.registers),
            per_architecture(usages, lambda usage: usage.static_shared_bytes),
            per_architecture(usages, lambda usage: usage.stack_bytes),
            per_architecture(usages,
                             lambda usage: usage.spill_store_bytes + usage.spill_load_bytes))


def without_repetition(arguments):
    """Template arguments without the first one where later ones take it as well."""
    depth = 0
    for place, letter in enumerate(arguments):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            first, rest = arguments[:place], arguments[place:]
            return first + rest.replace(f"<{first}, ", "<")
    return arguments


def markdown_rows(usages):
    """The cells of each row; instantiations of a kernel that take the same share one."""
    rows = collections.defaultdict(list)
    instances = grouped(usages, lambda usage: (usage.file, usage.kernel))
    for (file, kernel), per_gpu in instances.items():
        template, _, arguments = kernel.removesuffix(">").partition("<")
        rows[(file, template, figures(per_gpu))].append(without_repetition(arguments))
    for (_, template, row), arguments in rows.items():
        named = "; ".join(sorted(filter(None, arguments)))
        yield f"`{template}`", f"`{named}`" if named else "", *row


def markdown(usages):
    gpus = sorted({(usage.architecture, usage.compiler) for usage in usages})
    compiled = ", ".join(f"sm_{architecture} by CUDA {compiler}" for architecture, compiler in gpus)
    lines = [
        f"For {compiled}, in this order; one figure where all are the same. Shared memory is the "
        "static part. Shared memory, stack and spills are in bytes.", "",
        "| kernel | of | registers | shared | stack | spills |",
        "|---|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(cells)} |" for cells in markdown_rows(usages)]
    return "\n".join(lines)


def write_csv(path, usages):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(KernelUsage)])
        writer.writeheader()
        writer.writerows(dataclasses.asdict(usage) for usage in usages)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [KernelUsage(**{field.name: field.type(row[field.name])
                               for field in dataclasses.fields(KernelUsage)})
                for row in csv.DictReader(file)]
