"""The operators, methods and functions of C++ that the recorded functions of llama.cpp use, as Python has them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hfcount.verifier.loaders.llama_cpp.file import Refused


def _divided(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        if right == 0:
            raise Refused("aborts, since it divides by zero")
        return abs(left) // abs(right) * (1 if (left >= 0) == (right > 0) else -1)
    return left / right if right else float("inf")


def _rest(left: Any, right: Any) -> Any:
    return left - right * _divided(left, right)


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": _divided,
    "%": _rest,
    "|": lambda left, right: int(left) | int(right),
    "&": lambda left, right: int(left) & int(right),
    "<<": lambda left, right: int(left) << int(right) if isinstance(left, int) else left,
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    ">": lambda left, right: left > right,
    "<=": lambda left, right: left <= right,
    ">=": lambda left, right: left >= right,
}
"""Operators of two values."""

METHODS: Mapping[str, Callable[..., Any]] = {
    "size": len,
    "empty": lambda values: not values,
    "insert": lambda values, value: values.append(value) if value not in values else None,
    "resize": lambda values, *given: None,
    "set": lambda values, place: values.__setitem__(place, True),
    "fill": lambda values, value: values.__setitem__(slice(None), [value] * len(values)),
}
"""Methods of lists."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "std::to_string": str,
    "std::max": max,
    "std::min": min,
    "std::sqrt": lambda value: max(value, 0) ** 0.5,
    "sqrtf": lambda value: max(value, 0) ** 0.5,
    "powf": lambda value, exponent: value,
    "std::fill": lambda values, *given: values.__setitem__(slice(None), [given[-1]] * len(values)),
    "format": lambda text, *given: _formatted(text, given),
    "llm_ffn_op_type_from_string": lambda *given: 0,
}
"""Functions of the standard library, and those of llama.cpp whose result decides nothing about loading."""


def _formatted(text: str, given: Sequence[Any]) -> str:
    for length in ("zu", "llu", "lld", "ld", "lu", "u"):
        text = text.replace(f"%{length}", "%d")
    try:
        return text % tuple(given)
    except (TypeError, ValueError):
        return text
