"""What the validators of transformers' configuration classes ask for, as far as their source says it plainly.

A condition under which a class refuses a config is read where it names keys of the config alone: a word that is none of
those listed, lists of which one is longer than another, and numbers that one divides. Of all others, those that
compare and compute with keys are written as what the class needs, and kept where the class was seen to refuse what does
not meet them, and nothing else.
"""

import ast
from collections.abc import Iterator
from inspect import getsource
from itertools import islice, product
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


_OPPOSITES = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Name, ast.Attribute, ast.Subscript, ast.UnaryOp, ast.BoolOp)
_PLAIN += (ast.Compare, ast.BinOp, ast.expr_context, ast.operator, ast.boolop, ast.cmpop, ast.Not, ast.USub)
_CALLED = ("len", "min", "max", "sum")
_MOST = 400
"""The configs by which a need is tried."""


def needs(name: str, kind: Any, described: dict[str, Any]) -> list[str]:
    """What the validators of a class need, as expressions over its keys, as far as they are plain.

    Args:
        name: the name of the class for hfcount.
        described: what is known of it already.
    """
    told = [{word} for word in described["words"]] if "words" in described else []
    told += [{*text.split()} for what in ("alike", "divided") for text in described.get(what, ())]
    found = list[ast.expr]()
    seen: set[str] = set()
    for base in kind.__mro__:
        if base.__module__.startswith("transformers.models."):
            for own, method in vars(base).items():
                if own.startswith("validate_") and own not in (*seen, "validate_rope"):
                    found += _Validator(kind).read(method)
            seen.update(vars(base))
    texts = dict.fromkeys(ast.unparse(part) for one in found for part in _parts(_opposite(one)))
    return [text for text in texts if not _is_told(text, told) and _is_seen(name, kind, text)]


def _is_told(need: str, told: list[set[str]]) -> bool:
    from hfcount.mapper.validated import paths

    keys = {".".join(path) for path in paths(need)}
    return any(keys <= one for one in told)


class _Validator:
    """Collects the conditions under which a validator refuses a config, in terms of keys."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.known = kind, {*getattr(kind, "__dataclass_fields__", ())}
        self.locals: dict[str, ast.expr | None] = {}
        self.found: list[ast.expr] = []

    def read(self, method: Any) -> list[ast.expr]:
        try:
            body = ast.parse(dedent(getsource(method))).body[0]
        except (OSError, TypeError, SyntaxError):
            return []
        self._walk(getattr(body, "body", []), [])
        return self.found

    def _walk(self, body: list[ast.stmt], guards: list[ast.expr | None]) -> None:
        for node in body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.locals[node.targets[0].id] = self._plain(node.value)
            elif isinstance(node, ast.If):
                test = self._plain(node.test)
                if any(isinstance(one, ast.Raise) for one in node.body):
                    self._note([*guards, test])
                else:
                    self._walk(node.body, [*guards, test])
                self._walk(node.orelse, [*guards, test and _opposite(test)])
                if isinstance(node.body[-1], ast.Return):
                    guards = [*guards, test and _opposite(test)]
                self._forget(node)
            else:
                self._forget(node)

    def _forget(self, node: ast.stmt) -> None:
        """What is computed further within another statement is not known."""
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                self.locals[one.id] = None

    def _note(self, tests: list[ast.expr | None]) -> None:
        told = [test for test in tests if test]
        if len(told) == len(tests):
            self.found.append(told[0] if len(told) == 1 else ast.BoolOp(ast.And(), told))

    def _plain(self, node: ast.expr) -> ast.expr | None:
        """An expression over keys alone; None if it is none."""
        try:
            made = self._keyed(node)
        except LookupError:
            return None
        return made if isinstance(made, ast.expr) else None

    def _keyed(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Attribute) and _key(node):
            return self._of_class(node.attr)
        if isinstance(node, ast.Attribute) and _key(node.value) in getattr(self.kind, "sub_configs", {}):
            return ast.Attribute(ast.Name(str(_key(node.value))), node.attr)
        if isinstance(node, ast.Name):
            if (value := self.locals.get(node.id)) is None:
                raise LookupError(node.id)
            return value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLED:
            return ast.Call(node.func, [self._expression(one) for one in node.args], [])
        if isinstance(node, ast.Set):
            node = ast.List(node.elts)
        if not isinstance(node, _PLAIN) or isinstance(node, ast.Attribute):
            raise LookupError(ast.dump(node))
        made = {
            field: [self._keyed(one) for one in value]
            if isinstance(value, list)
            else self._keyed(value)
            if isinstance(value, ast.AST)
            else value
            for field, value in ast.iter_fields(node)
        }
        return type(node)(**made)

    def _expression(self, node: ast.expr) -> ast.expr:
        made = self._keyed(node)
        if not isinstance(made, ast.expr):
            raise LookupError
        return made

    def _of_class(self, name: str) -> ast.expr:
        """A key by the name that the class declares, or what is the same in all its configs."""
        name = self.kind.attribute_map.get(name, name)
        if name in self.known:
            return ast.Name(name)
        value = getattr(self.kind, name, None)
        if not (isinstance(value, list | tuple) and all(isinstance(one, str | int) for one in value)):
            raise LookupError(name)
        return ast.parse(repr([*value]), mode="eval").body


def _opposite(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        return ast.BoolOp(other, [_opposite(part) for part in node.values])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return ast.Compare(node.left, [_OPPOSITES[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd):
        return ast.Compare(node, [ast.Eq()], [ast.Constant(0)])
    return ast.UnaryOp(ast.Not(), node)


def _parts(need: ast.expr) -> list[ast.expr]:
    both = isinstance(need, ast.BoolOp) and isinstance(need.op, ast.And)
    return need.values if both and isinstance(need, ast.BoolOp) else [need]


def _is_seen(name: str, kind: Any, need: str) -> bool:
    """Whether the class refuses each config that does not meet a need, of some that differ in its keys, and any."""
    from hfcount.mapper.validated import paths, unmet

    try:
        usual, refused = kind(), 0
    except Exception:  # a class that needs more
        return False
    choices = [[(path, value) for value in _others(path, usual)] for path in paths(need)]
    for chosen in islice(product(*choices), _MOST):
        values: dict[str, Any] = {}
        for path, value in chosen:
            if value is not _LEFT:
                inner = values if len(path) == 1 else values.setdefault(path[0], {})
                inner[path[-1]] = value
        if [*unmet((need,), values, name)]:
            try:
                kind.from_dict(values)
            except Exception:  # of any kind, since each class refuses in its own way
                refused += 1
            else:
                return False
    return refused > 0


_LEFT: Any = object()
"""In place of a value: the key is left out."""


def _others(path: tuple[str, ...], usual: Any) -> list[Any]:
    """Values to try for a key, by its default."""
    value = usual
    for key in path:
        value = getattr(value, key, None)
    if isinstance(value, bool):
        return [_LEFT, True, False, None]
    if isinstance(value, int):
        return [_LEFT, value, value + 1, 2 * value, value - 1, 0, 1, 3, None]
    if isinstance(value, float):
        return [_LEFT, value, value / 2, 2 * value, -value]
    if isinstance(value, list | tuple) and value:
        return [_LEFT, [*value], [*value, value[-1]], [*value[:-1]], [*value[::-1]], []]
    return [_LEFT, value, "none such", None] if isinstance(value, str) else [_LEFT, 1, 0, 4, [1], [1, 2]]
