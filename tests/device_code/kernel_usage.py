"""Resource usage of kernels, as ptxas reports it."""

import dataclasses
import re
import subprocess


@dataclasses.dataclass
class KernelUsage:
    """Resources of a kernel and the functions that it calls."""

    file: str
    kernel: str
    architecture: int
    compiler: str
    registers: int = 0
    static_shared_bytes: int = 0
    stack_bytes: int = 0
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0

    @property
    def spills(self):
        return self.spill_store_bytes + self.spill_load_bytes > 0


ENTRY = re.compile(r"Compiling entry function '(\S+)' for 'sm_(\d+)")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
REGISTERS = re.compile(r"Used (\d+) registers")
STACK = re.compile(r"(\d+) bytes cumulative stack size")
SHARED = re.compile(r"(\d+) bytes smem")

ELEMENT_TYPES = {
    "unsigned char": "u8", "signed char": "i8", "unsigned short": "u16", "short": "i16",
    "unsigned int": "u32", "int": "i32", "unsigned long long": "u64", "unsigned long": "u64",
    "long long": "i64", "long": "i64", "unsigned __int128": "u128", "__int128": "i128",
    "float": "f32", "double": "f64", "Float16Bits<10>": "f16", "Float16Bits<7>": "bf16",
}
ELEMENT_TYPE = re.compile(
    r"(?<!\w)(?:" + "|".join(map(re.escape, sorted(ELEMENT_TYPES, key=len, reverse=True))) +
    r")(?!\w)")
QUALIFIER = re.compile(r"(?:\(anonymous namespace\)|\b[A-Za-z_]\w*)::")


def without_parameters(function):
    """A demangled function without its list of parameters."""
    if not function.endswith(")"):
        return function
    depth = 0
    for place in range(len(function) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(function[place], 0)
        if depth == 0:
            return function[:place]
    return function


def short_name(demangled):
    """As `fold_kernel<f64, true>`: no qualifiers, result or parameters, types named as elements."""
    name = without_parameters(QUALIFIER.sub("", demangled)).removeprefix("void ")
    name = name.replace("(bool)1", "true").replace("(bool)0", "false").replace("> >", ">>")
    name = re.sub(r"\((?:unsigned )?(?:int|long)\)(?=\d)", "", name)
    return ELEMENT_TYPE.sub(lambda match: ELEMENT_TYPES[match.group()], name)


def demangled(symbols):
    if not symbols:
        return []
    filtered = subprocess.run(["c++filt"], input="\n".join(symbols), text=True,
                              capture_output=True, check=True)
    return filtered.stdout.splitlines()


def first_number(pattern, line):
    match = pattern.search(line)
    return int(match.group(1)) if match else 0


def parse(log, file, architecture, compiler):
    """The usage of each kernel for an architecture in what `ptxas --verbose` printed. The functions
    that a kernel calls follow it there."""
    usages = []
    for line in log.splitlines():
        entry = ENTRY.search(line)
        if entry:
            usages.append(KernelUsage(file, entry.group(1), int(entry.group(2)), compiler))
        if not usages:
            continue
        usage = usages[-1]
        frame = FRAME.search(line)
        if frame:
            stack, stores, loads = map(int, frame.groups())
            usage.stack_bytes = max(usage.stack_bytes, stack)
            usage.spill_store_bytes += stores
            usage.spill_load_bytes += loads
        elif REGISTERS.search(line):
            usage.registers = first_number(REGISTERS, line)
            usage.static_shared_bytes = first_number(SHARED, line)
            usage.stack_bytes = max(usage.stack_bytes, first_number(STACK, line))
    for usage, name in zip(usages, demangled([usage.kernel for usage in usages])):
        usage.kernel = short_name(name)
    return [usage for usage in usages if usage.architecture == architecture]
