"""What the validators of transformers' configuration classes ask for, as far as their source says it plainly.

A condition under which a class refuses a config is read where it names keys of the config alone: a word that is none of
those listed, lists of which one is longer than another, and numbers that one divides. All others are left out.
"""

import ast
from collections.abc import Iterator
from inspect import getsource
from textwrap import dedent
from typing import Any


def words(kind: Any) -> dict[str, str]:
    """The words that a key may hold, by key."""
    found: dict[str, str] = {}
    for test in _refusing(kind):
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn) and (key := _key(test.left)):
            said = test.comparators[0]
            inside = said.elts if isinstance(said, ast.List | ast.Tuple | ast.Set) else []
            known = [one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            if known and len(known) == len(inside) and not any(" " in word or not word for word in known):
                found[key] = " ".join(known)
    return found


def alike(kind: Any) -> list[str]:
    """Keys with lists that are all of one length."""
    groups: list[set[str]] = []
    for test in _refusing(kind):
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        inner = test.operand if isinstance(test, ast.UnaryOp) else test
        wanted = ast.Eq if negated else ast.NotEq
        if isinstance(inner, ast.Compare) and all(isinstance(one, wanted) for one in inner.ops):
            sides = [_length(one) or _key(one) for one in (inner.left, *inner.comparators)]
            if None not in sides and any(map(_length, (inner.left, *inner.comparators))):
                own = {str(one) for one in sides}
                near = [one for one in groups if one & own]
                groups = [one for one in groups if not one & own] + [own.union(*near)]
    declared = {*getattr(kind, "__dataclass_fields__", ()), *_computed(kind)}
    return sorted(" ".join(sorted(one & declared)) for one in groups if len(one & declared) > 1)


def _computed(kind: Any) -> set[str]:
    """What the class sets by itself beside the keys that it declares."""
    try:
        return set(vars(kind()))
    except Exception:  # a class that needs more
        return set()


def divided(kind: Any) -> list[str]:
    """Keys with a number that the number of another key divides, or that number itself: `hidden_size num_heads`."""
    found = {one for test in _refusing(kind) for one in _remainder(kind, test)}
    return sorted(f"{whole} {part}" for whole, part in found if whole != part)


def _remainder(kind: Any, test: ast.expr) -> Iterator[tuple[str, str]]:
    """What a condition wants divided without a remainder, and by what, by the names that the class declares."""
    wants = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotEq) and _number(test.comparators[0]) == 0
    rest = test.left if wants and isinstance(test, ast.Compare) else test
    if isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Mod):
        whole, part, number = _declared(kind, _key(rest.left)), _declared(kind, _key(rest.right)), _number(rest.right)
        if whole and (part or number):
            yield whole, part or str(number)


def _declared(kind: Any, name: str | None) -> str | None:
    """The key that the class declares of what it also knows by this name."""
    own = kind.attribute_map.get(name, name)
    return own if own in getattr(kind, "__dataclass_fields__", ()) else None


def _number(node: ast.expr) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _refusing(kind: Any) -> Iterator[ast.expr]:
    """Each condition that is enough for the class to refuse a config; of a validator, as the last class has it."""
    seen: set[str] = set()
    for base in kind.__mro__:
        if base.__module__.startswith("transformers.models."):
            for name, method in vars(base).items():
                if (name.startswith("validate_") and name not in seen) or name == "__post_init__":
                    yield from _conditions(method)
            seen.update(vars(base))


def _conditions(method: Any) -> Iterator[ast.expr]:
    try:
        body = ast.parse(dedent(getsource(method))).body[0]
    except (OSError, TypeError, SyntaxError):
        return
    for node in getattr(body, "body", []):  # not what is within another condition
        if isinstance(node, ast.If) and any(isinstance(one, ast.Raise) for one in node.body):
            either = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or)
            yield from node.test.values if either and isinstance(node.test, ast.BoolOp) else [node.test]


def _key(node: ast.expr) -> str | None:
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own and isinstance(node, ast.Attribute) else None


def _length(node: ast.expr) -> str | None:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"
    return _key(node.args[0]) if called and isinstance(node, ast.Call) else None
