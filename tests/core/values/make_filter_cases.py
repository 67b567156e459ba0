#!/usr/bin/env python3
"""Writes filter_cases.inc: elements of each type, how they compare with numbers, and which of them
conditions keep, by Python's fractions.

Usage: make_filter_cases.py > filter_cases.inc
"""

import struct
from fractions import Fraction

INTEGERS = {f"{sign}{bits}": (sign == "i", bits) for sign in "iu" for bits in (8, 16, 32, 64)}
FORMATS = {"f16": "e", "f32": "f", "f64": "d"}
INFINITY_BITS = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52}
NUMBERS = [
    "0", "-0", "1", "-1", "3", "0.5", "-0.5", "0.1", "-0.1", "255", "255.5", "256", "-128", "-129",
    "65504", "65520", "9007199254740993", "9007199254740993.5", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "1e3", "1e-3", "1e20", "1e400", "-1e400", "1e-400", "-1e-400",
    "1e999999999999999999999", "2.4703282292062327e-324", "2.5e-324", "4.9e-324", "-4.9e-324",
    "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "0x1.8p1",
    "0x.8p0", "0x1p-1074", "0x1p-1075", "0x1.fffffffffffff8p1023", "0xff", "-0X1P-1",
    "3.4028234663852886e38", "3.4028234663852887e38", "1." + "0" * 60 + "1", ".5", "5.", "+3",
    "0.100000001490116119384765625", "inf", "-inf", "Infinity",
]  # fmt: skip


def number_of(text):
    """The exact value: a Fraction, or an infinite float."""
    text = text.lower()
    if "inf" in text:
        return float(text)
    if "0x" not in text:
        mantissa, _, exponent = text.partition("e")
        # No element's value lies between numbers that are farther out than these.
        return Fraction(mantissa) * Fraction(10) ** max(-5000, min(5000, int(exponent or 0)))
    sign = -1 if text.startswith("-") else 1
    mantissa, _, exponent = text.lstrip("+-")[2:].partition("p")
    whole, _, part = mantissa.partition(".")
    digits = Fraction(int((whole + part) or "0", 16), 16 ** len(part))
    return sign * digits * Fraction(2) ** int(exponent or 0)


def float_value(name, bits):
    if name == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    code = {"f16": "H", "f32": "I", "f64": "Q"}[name]
    return struct.unpack("<" + FORMATS[name], struct.pack("<" + code, bits))[0]


def float_elements(name):
    """(stored bits, value) of the interesting elements of a floating-point type."""
    width = 64 if name == "f64" else 32 if name == "f32" else 16
    mantissa = {"f64": 52, "f32": 23, "f16": 10, "bf16": 7}[name]
    infinity = ((1 << (width - 1 - mantissa)) - 1) << mantissa
    one = (infinity >> 1) & ~((1 << mantissa) - 1)
    patterns = {0, 1, 2, infinity, infinity - 1, infinity | 1 << (mantissa - 1), one, one + 1,
                one - 1, one - (1 << mantissa), one + (1 << mantissa) + (1 << (mantissa - 1))}
    tenth = {"f64": 0x3FB999999999999A, "f32": 0x3DCCCCCD, "f16": 0x2E66, "bf16": 0x3DCD}[name]
    patterns |= {tenth, tenth - 1, tenth + 1}
    if name == "f64":
        patterns |= {0x4340000000000000, 0x4340000000000001}
    sign = 1 << (width - 1)
    for bits in sorted(patterns) + [pattern | sign for pattern in sorted(patterns)]:
        yield bits, float_value(name, bits)


def integer_elements(name):
    signed, width = INTEGERS[name]
    least = -(1 << (width - 1)) if signed else 0
    most = (1 << (width - signed)) - 1
    wanted = {least, least + 1, most, most - 1, 0, 1, 2, 3, 4, 127, 128, 255, 256}
    wanted |= {-1, -2, 9007199254740992, 9007199254740993, 9007199254740994}
    for value in sorted(wanted):
        if least <= value <= most:
            yield value % (1 << width), value


def elements(name):
    return list(integer_elements(name) if name in INTEGERS else float_elements(name))


def exact(value):
    if isinstance(value, int) or value in (float("inf"), float("-inf")):
        return value
    return Fraction(value)


def is_rounded(name, text):
    """Whether a literal stands for the floating-point number nearest to it."""
    return name not in INTEGERS and "x" not in text.lower() and "inf" not in text.lower()


def nearest(name, number):
    """The finite value of a floating-point type nearest to a number, ties to even, or the number
    itself where that would be infinite."""
    if number < 0:
        return -nearest(name, -number)
    below, beyond = 0, INFINITY_BITS[name]
    while beyond - below > 1:
        middle = (below + beyond) // 2
        if float_value(name, middle) <= number:
            below = middle
        else:
            beyond = middle
    low = Fraction(float_value(name, below))
    if below + 1 == INFINITY_BITS[name]:
        high = 2 * low - Fraction(float_value(name, below - 1))
    else:
        high = Fraction(float_value(name, below + 1))
    up = number - low > high - number or (number - low == high - number and below % 2)
    if up and below + 1 == INFINITY_BITS[name]:
        return number
    return high if up else low


def order(name, value, text):
    """How an element compares with a number: '<', '=', '>', or '?' for NaN."""
    number = number_of(text)
    if is_rounded(name, text):
        number = nearest(name, number)
    if value != value:
        return "?"
    value = exact(value)
    return "<" if value < number else ">" if value > number else "="


def is_kept(name, value, condition):
    infinite = value in (float("inf"), float("-inf"))
    if condition in ("nan", "==nan"):
        return value != value
    if condition == "!=nan":
        return value == value
    if condition == "finite":
        return value == value and not infinite
    if condition == "inf":
        return infinite
    relation = condition[:2] if condition[1] == "=" else condition[0]
    wanted = "<>?" if relation == "!=" else relation
    return order(name, value, condition[len(relation) :]) in wanted


LISTS = [
    [], ["nan"], ["==nan"], ["!=nan"], ["finite"], ["inf"], ["inf", ">0"], ["inf", "<0"],
    ["inf", "!=inf"], ["inf", "!=-inf"], ["inf", "<=1"], ["nan", ">0"], [">0", "<3"], [">3", "<0"],
    [">=1", "<=1"], ["!=0", "!=1", "!=-1"], ["<3", "!=1"], ["finite", "!=0"], [">=0", "!=inf"],
    ["!=nan", "!=0"], ["<inf", ">-inf"], ["== 1"], [" > 0 "],
]  # fmt: skip


def main():
    print("// Made by make_filter_cases.py; not to be edited.")
    for name in [*INTEGERS, "f16", "bf16", "f32", "f64"]:
        items = elements(name)
        print(f"{{ElementType::{name},\n {{{', '.join(hex(bits) for bits, _ in items)}}},\n {{")
        for text in NUMBERS:
            orders = "".join(order(name, value, text) for _, value in items)
            print(f'  {{"{text}", "{orders}"}},')
        print(" },\n {")
        for conditions in LISTS:
            kept = "".join(
                "01"[all(is_kept(name, value, text.replace(" ", "")) for text in conditions)]
                for _, value in items
            )
            quoted = ", ".join(f'"{text}"' for text in conditions)
            print(f'  {{{{{quoted}}}, "{kept}"}},')
        print(" }},")


if __name__ == "__main__":
    main()
