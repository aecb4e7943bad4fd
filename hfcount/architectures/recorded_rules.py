"""What a rule of a recorded blueprint says under a config: expressions over keys, and decisions between them.

The module `stand_ins` explains how they are written.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

Decision = Any
"""A rule, null where there is nothing, or a list of a feature and its decisions by state."""

UNRESOLVED = "?"
"""The rule where none was found that holds for all probes."""

OTHERS = "*"
"""In place of all other states of a key that were probed."""


class Unprobed(Exception):
    """A config holds what was not probed when its type was recorded."""


def state(value: Any) -> str:
    """What of a value decides between tensors: null, switches, a word, a list's length or words, or a sign.

    Of an object, and a list of lists or of objects, all that it holds: nothing of it is varied apart.
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return "+" if value > 0 else "0" if value == 0 else "-"
    if isinstance(value, float):
        return "." if value else "0."
    if isinstance(value, str):
        return f"'{value}"
    if isinstance(value, dict) or any(isinstance(item, dict | list) for item in value):
        return json.dumps(value, sort_keys=True)
    if value and all(isinstance(item, str) for item in value):
        return "[" + " ".join(sorted(set(value))) + "]"
    if value and all(isinstance(item, bool) for item in value):
        return json.dumps(value)
    return f"[{len(value)}]"


class At:
    """A config with numbers at the braces of a name.

    Args:
        values: the config.
        numbers, ends: for each brace in turn its number, and the end of its range.
    """

    def __init__(self, values: Any, numbers: Sequence[int], ends: Sequence[int]) -> None:
        self.within, self.numbers, self.ends = values, tuple(numbers), tuple(ends)
        self._derived: dict[str, Any] = {}

    def get(self, key: str) -> Any:
        """The value of a key, or what is derived of it here."""
        if "!" not in key:
            return self.within.get(key)
        if key not in self._derived:
            self._derived[key] = derived(key, self.within.get, self.numbers, self.ends)
        return self._derived[key]

    def values(self) -> Any:
        """All values of the config, as mappings have it."""
        return self.within.values()


def derived(name: str, value: Callable[[str], Any], numbers: Sequence[int], ends: Sequence[int]) -> Any:
    """What is derived of a key, or of the number at a brace; None if there is nothing such.

    Of a number `key!log`, its logarithm to base 2 rounded down, and `key!inv`, how often it is in 1; of a list
    `key!len`, `key!sum`, `key!prod` and `key!last`. With the number i at brace 0, `!0` is i, `!0e` two to the i, `!0f`
    twice that, and `!0z` how many follow; `list!0` is the item at i, with `p` the one before, `n` the one after and
    `r` the one as far from the end. Of a list that is gone through again and again, `list!0c` is the item, and
    `list!0h` two to the round, from 1 on.
    `key!0m` and `key!0o` are what i and i + 1 leave when divided by the key, or by a number.
    """
    key, _, what = name.rpartition("!")
    if what == "log":
        whole = value(key)
        return whole.bit_length() - 1 if type(whole) is int and whole > 0 else None
    if what == "inv":
        share = value(key)
        return int(1 / share) if isinstance(share, float) and share > _LEAST_SHARE else None
    if what in _OF_LISTS:
        listed = value(key)
        if not isinstance(listed, list) or not 0 < len(listed) <= _MOST_ITEMS:
            return None
        whole = what == "len" or all(type(item) is int and abs(item) < 1 << 32 for item in listed)
        return _OF_LISTS[what](listed) if whole else None
    place = int(what.rstrip(_LETTERS))
    if place >= len(numbers):
        return None
    number, letter = numbers[place], what.lstrip("0123456789")
    if not key:
        return {"": number, "e": _doubled(number), "f": _doubled(number + 1), "z": ends[place] - 1 - number}[letter]
    return _at_number(int(key) if key.isdecimal() else value(key), number, letter)


def _at_number(value: Any, number: int, letter: str) -> Any:
    if letter in ("m", "o"):
        return (number + (letter == "o")) % value if type(value) is int and value > 0 else None
    if not isinstance(value, list) or not value:
        return None
    if letter == "h":
        return _doubled(number // len(value) + 1)
    at = {"": number, "p": number - 1, "n": number + 1, "r": len(value) - 1 - number, "c": number % len(value)}[letter]
    return value[at] if 0 <= at < len(value) and not isinstance(value[at], list | dict) else None


def _doubled(times: int) -> int | None:
    return 1 << times if times <= _MOST_DOUBLED else None


_OF_LISTS: Mapping[str, Callable[[list[Any]], Any]] = {
    "len": len,
    "sum": sum,
    "prod": prod,
    "last": lambda all_: all_[-1],
}


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


_MOST_DOUBLED, _MOST_ITEMS, _LEAST_SHARE = 32, 64, 1e-3


def decided(decision: Decision, values: Any) -> Any:
    """The rule that holds.

    Raises:
        Unprobed: for what the config holds none was recorded.
    """
    context: list[str] = []
    while isinstance(decision, list):
        feature, by_state = decision
        now = feature_state(feature, values)
        context += [
            f"{key} = {json.dumps(values.get(key))}" for key in re.split("&|<=>", feature) if not key.isdecimal()
        ]
        if now not in by_state and OTHERS not in by_state:
            raise Unprobed(f"{' with '.join(context)} was not probed")
        decision = by_state[now if now in by_state else OTHERS]
    if decision == UNRESOLVED:
        raise Unprobed(f"{' with '.join(context) or 'what it builds'} follows no rule that was found")
    return decision


def feature_state(feature: str, values: Any) -> str:
    """The state of a key, those of several (`a&b`), or how a key compares with another, or a number (`a<=>b`)."""
    left, compared, right = feature.partition("<=>")
    if not compared:
        return "&".join(state(values.get(key)) for key in feature.split("&"))
    one, other = values.get(left), int(right) if right.isdecimal() else values.get(right)
    if not (is_number(one) and is_number(other)):
        return "?"
    return "<" if one < other else ">" if one > other else "="


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def evaluated(expression: str, value: Callable[[str], Any]) -> int:
    """The value of an expression; `value` gives that of a key.

    Raises:
        Unprobed: a key holds no number, or the result is not whole.
    """
    total = sum((_product(term, value) for term in expression.split("+")), Fraction(0))
    if total.denominator != 1:
        raise Unprobed(f"{expression} is no whole number")
    return int(total)


def _product(term: str, value: Callable[[str], Any]) -> Fraction:
    product, factors = Fraction(1), _FACTORS.findall(term)
    if len(factors) == 2 and (whole := _rounded(factors, value)) is not None:
        return Fraction(whole)
    for factor in factors:
        above, floored, below = factor.partition("//")
        number = _multiplied(above.removeprefix("/"), value)
        if floored:
            divisor = _multiplied(below, value)
            if not divisor:
                raise Unprobed(f"{below} is 0")
            number = Fraction(number // divisor)
        product = product / _divisor(factor[1:], value) if factor.startswith("/") else product * number
    return product


def _rounded(factors: Sequence[str], value: Callable[[str], Any]) -> int | None:
    """The product of two keys of which one holds a fraction, if that is whole as a machine multiplies."""
    held = [value(name) for name in factors if name[0] not in "/-0123456789" and "//" not in name]
    if len(held) < 2 or not all(map(is_number, held)) or not any(isinstance(item, float) for item in held):
        return None
    product = float(held[0]) * float(held[1])
    return int(product) if product.is_integer() else None


_FACTORS = re.compile(r"/?[^*/+]+(?://[^*/+]+)?")


def _multiplied(names: str, value: Callable[[str], Any]) -> Fraction:
    product = Fraction(1)
    for name in names.split("^"):
        product *= _number(name, value)
    return product


def _divisor(name: str, value: Callable[[str], Any]) -> Fraction:
    number = _number(name, value)
    if not number:
        raise Unprobed(f"{name} is 0")
    return number


def _number(name: str, value: Callable[[str], Any]) -> Fraction:
    if name.lstrip("-").isdecimal():
        return Fraction(name)
    number = value(name)
    if not is_number(number):
        raise Unprobed(f"{name} is {json.dumps(number)}, where numbers were probed")
    return Fraction(repr(number))
