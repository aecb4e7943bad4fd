"""Translates functions of Python's source to lists that hfcount's converter machine runs: a list a statement or value.

A statement is [word, line, ...], a value [word, ...]; a bare text is a variable, ["k", X] the constant X.
"""

import ast
from collections.abc import Sequence
from typing import Any

Node = Any

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.MatMult: "@",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Not: "not",
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
}


class Untranslated(ValueError):
    """Something that the machine does not run."""


def function(node: ast.FunctionDef) -> list[Node]:
    """A function: its parameters, its body, and whether it yields."""
    return [_parameters(node.args), body(node.body), int(_yields(node))]


def body(statements: Sequence[ast.stmt]) -> list[Node]:
    """The statements that do anything but write a log."""
    return [line for statement in statements for line in _statement(statement)]


def _parameters(given: ast.arguments) -> list[Node]:
    """Each parameter with its default; * and ** take the rest."""
    plain = [*given.posonlyargs, *given.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(given.defaults)), *given.defaults]
    pairs: list[Node] = [_parameter(name.arg, default) for name, default in zip(plain, defaults, strict=True)]
    if given.vararg:
        pairs.append([f"*{given.vararg.arg}"])
    pairs += [_parameter(name.arg, default) for name, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    if given.kwarg:
        pairs.append([f"**{given.kwarg.arg}"])
    return pairs


def _parameter(name: str, default: ast.expr | None) -> list[Node]:
    return [name] if default is None else [name, value(default)]


def _yields(node: ast.AST) -> bool:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(child, ast.FunctionDef | ast.Lambda) and _yields(child):
            return True
    return False


def _statement(node: ast.stmt) -> list[list[Node]]:
    at = node.lineno
    match node:
        case ast.Expr(ast.Constant()) | ast.Pass() | ast.AnnAssign(value=None):
            return []
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("logger")))):
            return []
        case ast.Expr(given):
            return [["do", at, value(given)]]
        case ast.Assign(targets, given):
            return [["=", at, [value(target) for target in targets], value(given)]]
        case ast.AnnAssign(target, _, given):
            return [["=", at, [value(target)], value(given)]]
        case ast.AugAssign(target, operator, given):
            return [["aug", at, value(target), _OPERATORS[type(operator)], value(given)]]
        case ast.If(test, yes, no):
            return [["if", at, value(test), body(yes), body(no)]]
        case ast.For(target, values, inner, no):
            return [["for", at, value(target), value(values), body(inner), body(no)]]
        case ast.While(test, inner):
            return [["while", at, value(test), body(inner)]]
        case ast.Return(given):
            return [["return", at, value(given) if given else ["k", None]]]
        case ast.Raise(given):
            return [["raise", at, value(given) if given else ["k", None]]]
        case ast.Assert(test):
            return [["assert", at, value(test), ast.unparse(node)]]
        case ast.Delete(targets):
            return [["del", at, [value(target) for target in targets]]]
        case ast.Break() | ast.Continue():
            return [["break" if isinstance(node, ast.Break) else "continue", at]]
        case ast.With(items, inner):
            pairs = [
                [value(item.context_expr), value(item.optional_vars) if item.optional_vars else None] for item in items
            ]
            return [["with", at, pairs, body(inner)]]
        case ast.Try(inner, handlers):
            names = [[_kinds(handler.type), handler.name or "", body(handler.body)] for handler in handlers]
            return [["try", at, body(inner), names]]
        case ast.FunctionDef():
            return [["def", at, node.name, *function(node)]]
        case ast.Import(names) | ast.ImportFrom(_, names):
            return [["import", at, [alias.asname or alias.name for alias in names]]]
    raise Untranslated(f"line {at}: {type(node).__name__}")


def _kinds(given: ast.expr | None) -> list[str]:
    parts = given.elts if isinstance(given, ast.Tuple) else [given] if given else []
    return [ast.unparse(part) for part in parts]


def value(node: ast.expr | None) -> Node:
    """An expression."""
    match node:
        case None:
            return None
        case ast.Name(name):
            return name
        case ast.Constant(value=given) if given is ...:
            return ["..."]
        case ast.Constant(given):
            return ["k", given if isinstance(given, str | int | float | bool | None) else None]
        case ast.Attribute(owner, name):
            return [".", value(owner), name]
        case ast.Subscript(owner, place):
            return ["[]", value(owner), value(place)]
        case ast.Slice(first, last, step):
            return [":", value(first), value(last), value(step)]
        case ast.Call(ast.Name("cast"), [_, given]):
            return value(given)
        case ast.Call(called, given, named):
            return [
                "()",
                value(called),
                [value(one) for one in given],
                [[one.arg or "", value(one.value)] for one in named],
            ]
        case ast.BinOp(left, operator, right):
            return ["bin", _OPERATORS[type(operator)], value(left), value(right)]
        case ast.BoolOp(operator, values):
            return ["and" if isinstance(operator, ast.And) else "or", [value(one) for one in values]]
        case ast.Compare(left, operators, others):
            return ["cmp", value(left), [_OPERATORS[type(one)] for one in operators], [value(one) for one in others]]
        case ast.UnaryOp(operator, given):
            return ["un", _OPERATORS[type(operator)], value(given)]
        case ast.IfExp(test, yes, no):
            return ["?", value(test), value(yes), value(no)]
        case ast.List(values) | ast.Tuple(values) | ast.Set(values):
            return [type(node).__name__.lower(), [value(one) for one in values]]
        case ast.Dict(keys, values):
            return ["dict", [[value(key), value(one)] for key, one in zip(keys, values, strict=True)]]
        case ast.ListComp(given, loops) | ast.GeneratorExp(given, loops):
            return ["each", "list", value(given), _loops(loops)]
        case ast.SetComp(given, loops):
            return ["each", "set", value(given), _loops(loops)]
        case ast.DictComp(key, given, loops):
            return ["each", "dict", ["tuple", [value(key), value(given)]], _loops(loops)]
        case ast.JoinedStr(parts):
            return ["f", [_part(part) for part in parts]]
        case ast.Lambda(given, result):
            return ["fn", _parameters(given), value(result)]
        case ast.NamedExpr(target, given):
            return [":=", value(target), value(given)]
        case ast.Starred(given):
            return ["*", value(given)]
        case ast.Yield(given):
            return ["yield", value(given) if given else ["k", None]]
        case ast.YieldFrom(given):
            return ["yield from", value(given)]
    raise Untranslated(f"line {getattr(node, 'lineno', 0)}: {type(node).__name__}")


def _part(part: ast.expr) -> Node:
    if isinstance(part, ast.FormattedValue):
        return [value(part.value), chr(part.conversion) if part.conversion > 0 else ""]
    return part.value if isinstance(part, ast.Constant) else ""


def _loops(loops: Sequence[ast.comprehension]) -> list[Node]:
    return [[value(one.target), value(one.iter), [value(test) for test in one.ifs]] for one in loops]
