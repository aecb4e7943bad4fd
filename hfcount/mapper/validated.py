"""What the validators of transformers' configuration classes need of several keys at once (values.json)."""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from hfcount.mapper.class_defaults import Declared, declared

_LARGEST = 64
"""The numbers up to which powers are computed."""

_COMPARED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, among: one in among,
    ast.NotIn: lambda one, among: one not in among,
}
_COMPUTED: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
}
_CALLED: Mapping[str, Callable[..., Any]] = {"len": len, "min": min, "max": max, "sum": sum}

_UNKNOWN = (LookupError, TypeError, ValueError, ArithmeticError)
"""Errors that say that nothing can be told of a need: another check sees what is wrong."""


def unmet(needs: tuple[str, ...], values: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Any, str]]:
    """Needs that a config does not meet, each with a key that the config gives, and its value.

    Args:
        needs: expressions over keys of the config, and of those nested in it, such as `width == text_config.width`.
        values: the config.
        kind: its type.
    """
    known = declared(kind)
    for need in needs:
        tree = _parsed(need)
        given = next((found for name in _names(tree) if (found := _given(name, values, known))), None)
        try:
            if given and not _value(tree, values, known):
                yield *given, need
        except _UNKNOWN:
            continue


def paths(need: str) -> list[tuple[str, ...]]:
    """The paths of the keys that a need is about."""
    found = [*_names(_parsed(need))]
    above = {(path[0],) for path in found if len(path) > 1}
    return [path for path in dict.fromkeys(found) if path not in above]


@lru_cache(256)
def _parsed(need: str) -> ast.expr:
    return ast.parse(need, mode="eval").body


def _names(tree: ast.expr) -> Iterator[tuple[str, ...]]:
    """The paths of the keys that a need is about."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.value.id, node.attr
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in _CALLED:
            yield (node.id,)


def _given(path: tuple[str, ...], values: Mapping[str, Any], known: Declared) -> tuple[str, Any] | None:
    """A key as the config has it, with its value; None if it leaves it out, or has an object there."""
    *above, last = path
    inner = values.get(above[0]) if above else values
    if not isinstance(inner, Mapping):
        return None
    spelled = [] if above else [name for name in values if known.names.get(name, name) == last]
    names = known.counting(spelled) or [last]
    if names[0] not in inner or isinstance(inner[names[0]], Mapping):
        return None
    return ".".join([*above, names[0]]), inner[names[0]]


def _value(node: ast.expr, values: Mapping[str, Any], known: Declared) -> Any:
    """What an expression is worth.

    Raises:
        LookupError: it is about a key of which nobody knows what it is.
    """

    def of(part: ast.expr) -> Any:
        return _value(part, values, known)

    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple():
            return [of(item) for item in node.elts]
        case ast.Name():
            return _held((node.id,), values, known)
        case ast.Attribute(value=ast.Name(id=part)):
            return _held((part, node.attr), values, known)
        case ast.Subscript(slice=ast.Constant(value=int(place))):
            return of(node.value)[place]
        case ast.Call(func=ast.Name(id=name)):
            return _CALLED[name](*map(of, node.args))
    return _operated(node, of)


def _operated(node: ast.expr, of: Callable[[ast.expr], Any]) -> Any:
    match node:
        case ast.UnaryOp():
            return not of(node.operand) if isinstance(node.op, ast.Not) else -of(node.operand)
        case ast.BoolOp():
            return _either(node, of)
        case ast.Compare():
            return _compared(node, of)
        case ast.BinOp():
            return _computed(node.op, of(node.left), of(node.right))
    raise LookupError(ast.dump(node))


def _either(node: ast.BoolOp, of: Callable[[ast.expr], Any]) -> bool:
    if isinstance(node.op, ast.Or):
        return any(of(part) for part in node.values)
    return all(of(part) for part in node.values)


def _compared(node: ast.Compare, of: Callable[[ast.expr], Any]) -> bool:
    sides = [node.left, *node.comparators]
    pairs = zip(node.ops, sides, sides[1:], strict=False)
    return all(_COMPARED[type(op)](of(left), of(right)) for op, left, right in pairs)


def _computed(op: ast.operator, left: Any, right: Any) -> Any:
    if not all(type(side) in (int, float, bool) for side in (left, right)):
        raise TypeError("no numbers")
    if isinstance(op, ast.Pow):
        if not (0 <= left <= _LARGEST and 0 <= right <= _LARGEST):
            raise LookupError("a large power")
        return left**right
    return _COMPUTED[type(op)](left, right)


def _held(path: tuple[str, ...], values: Mapping[str, Any], known: Declared) -> Any:
    """What the class takes for a key: what the config says, or else its default.

    Raises:
        LookupError: there is none, or it is null, in place of which the class may compute something.
    """
    if found := _given(path, values, known):
        return found[1]
    *above, last = path
    usual = known.keys
    if above:
        inner = values[above[0]]
        part = known.part(above[0], inner)
        usual = {**declared(part.kind).keys, **(part.absent if part.merged else {})}
    if last in (values.get(above[0], {}) if above else values) or usual[last] is None:
        raise LookupError(last)
    return usual[last]
