"""Compiles the values of recorded functions, as tests/tools/python_code.py translates them, to closures.

A comprehension shares the variables around it.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.objects import Function, Variables, attribute, attributes_of
from hfcount.verifier.loaders.llama_cpp.converter.operators import OPERATORS, Member, NotRun, Tick

Compiled = Callable[[Variables], Any]
Node = Any

OUTER, YIELDED = "<outer>", "<yielded>"
"""Variables of the machine: those of the function around, and what was yielded."""


class Values:
    """Compiles values.

    Args:
        names: gives what a name means that no function defines.
        tick: is called at each step of a loop and call of a function.
    """

    def __init__(self, names: Callable[[str], Any], tick: Tick) -> None:
        self.names, self.tick = names, tick
        self._values: Mapping[str, Callable[..., Compiled]] = {
            "k": self._constant,
            "enum": self._member,
            "...": lambda: lambda variables: ...,
            ".": self._attribute,
            "[]": self._element,
            ":": self._slice,
            "()": self._call,
            "bin": self._binary,
            "and": self._and,
            "or": self._or,
            "cmp": self._compare,
            "un": self._unary,
            "?": self._choice,
            "list": self._list,
            "tuple": self._tuple,
            "set": self._set_of,
            "dict": self._dict,
            "each": self._each,
            "f": self._text,
            "fn": self._lambda,
            ":=": self._walrus,
            "yield": self._yield,
            "yield from": self._yield_from,
        }

    def value(self, node: Node) -> Compiled:
        """An expression."""
        if isinstance(node, str):
            return self._name(node)
        make = self._values.get(node[0])
        if make is None:
            raise NotRun(f"the value {node[0]}")
        return make(*node[1:])

    def _name(self, name: str) -> Compiled:
        names = self.names

        def value(variables: Variables) -> Any:
            if name in variables:
                return variables[name]
            outer = variables.get(OUTER)
            while outer is not None:
                if name in outer:
                    return outer[name]
                outer = outer.get(OUTER)
            return names(name)

        return value

    @staticmethod
    def _constant(value: Any) -> Compiled:
        return lambda variables: value

    @staticmethod
    def _member(kind: str, name: str, value: Any) -> Compiled:
        member = Member(kind, name, value)
        return lambda variables: member

    def _attribute(self, owner: Node, name: str) -> Compiled:
        given = self.value(owner)
        return lambda variables: attribute(given(variables), name)

    def _element(self, values: Node, place: Node) -> Compiled:
        given, at = self.value(values), self.value(place)
        return lambda variables: given(variables)[at(variables)]

    def _slice(self, *parts: Node) -> Compiled:
        ends = [self.value(part) if part is not None else None for part in parts]
        return lambda variables: slice(*[end(variables) if end else None for end in ends])

    def _call(self, called: Node, given: Sequence[Node], named: Sequence[Node]) -> Compiled:
        function, pairs = self.value(called), [(name, self.value(value)) for name, value in named]
        if not pairs and not any(isinstance(one, list) and one[0] == "*" for one in given):
            plain = [self.value(one) for one in given]
            if called == "super":
                return lambda variables: function(variables)(variables)
            return lambda variables: function(variables)(*[one(variables) for one in plain])
        values = self._several(given)

        def call(variables: Variables) -> Any:
            arguments: Variables = {}
            for name, value in pairs:
                arguments |= {name: value(variables)} if name else value(variables)
            return function(variables)(*values(variables), **arguments)

        return call

    def _several(self, nodes: Sequence[Node]) -> Callable[[Variables], list[Any]]:
        starred = [isinstance(node, list) and node[0] == "*" for node in nodes]
        values = [self.value(node[1] if star else node) for node, star in zip(nodes, starred, strict=True)]
        if not any(starred):
            return lambda variables: [value(variables) for value in values]

        def spread(variables: Variables) -> list[Any]:
            result: list[Any] = []
            for value, star in zip(values, starred, strict=True):
                result.extend(value(variables)) if star else result.append(value(variables))
            return result

        return spread

    def _binary(self, sign: str, left: Node, right: Node) -> Compiled:
        first, second, compute = self.value(left), self.value(right), OPERATORS[sign]
        return lambda variables: compute(first(variables), second(variables))

    def _and(self, nodes: Sequence[Node]) -> Compiled:
        *firsts, last = [self.value(node) for node in nodes]

        def value(variables: Variables) -> Any:
            for first in firsts:
                if not (result := first(variables)):
                    return result
            return last(variables)

        return value

    def _or(self, nodes: Sequence[Node]) -> Compiled:
        *firsts, last = [self.value(node) for node in nodes]

        def value(variables: Variables) -> Any:
            for first in firsts:
                if result := first(variables):
                    return result
            return last(variables)

        return value

    def _compare(self, left: Node, signs: Sequence[str], others: Sequence[Node]) -> Compiled:
        first = self.value(left)
        pairs = [(OPERATORS[sign], self.value(other)) for sign, other in zip(signs, others, strict=True)]
        if len(pairs) == 1:
            ((compare, second),) = pairs
            return lambda variables: compare(first(variables), second(variables))

        def value(variables: Variables) -> bool:
            held = first(variables)
            for compare, other in pairs:
                given = other(variables)
                if not compare(held, given):
                    return False
                held = given
            return True

        return value

    def _unary(self, sign: str, node: Node) -> Compiled:
        given = self.value(node)
        signs: Mapping[str, Function] = {
            "not": operator.not_,
            "-": operator.neg,
            "~": operator.invert,
            "+": operator.pos,
        }
        compute = signs[sign]
        return lambda variables: compute(given(variables))

    def _choice(self, test: Node, yes: Node, no: Node) -> Compiled:
        holds, then, otherwise = self.value(test), self.value(yes), self.value(no)
        return lambda variables: then(variables) if holds(variables) else otherwise(variables)

    def _list(self, nodes: Sequence[Node]) -> Compiled:
        return self._several(nodes)

    def _tuple(self, nodes: Sequence[Node]) -> Compiled:
        values = self._several(nodes)
        return lambda variables: tuple(values(variables))

    def _set_of(self, nodes: Sequence[Node]) -> Compiled:
        values = self._several(nodes)
        return lambda variables: set(values(variables))

    def _dict(self, pairs: Sequence[Node]) -> Compiled:
        entries = [(None if key is None else self.value(key), self.value(value)) for key, value in pairs]

        def value(variables: Variables) -> Any:
            result: dict[Any, Any] = {}
            for key, given in entries:
                result |= given(variables) if key is None else {key(variables): given(variables)}
            return result

        return value

    def _each(self, kind: str, element: Node, loops: Sequence[Node]) -> Compiled:
        given = self.value(element)
        steps = [
            (self._put(target), self.value(values), [self.value(test) for test in tests])
            for target, values, tests in loops
        ]
        tick = self.tick
        make: Callable[[list[Any]], Any] = {"list": list, "set": set, "dict": dict}[kind]

        def fill(variables: Variables, result: list[Any], depth: int) -> None:
            if depth == len(steps):
                result.append(given(variables))
                return
            put, values, tests = steps[depth]
            for value in values(variables):
                tick(1)
                put(variables, value)
                if all(test(variables) for test in tests):
                    fill(variables, result, depth + 1)

        def value(variables: Variables) -> Any:
            result: list[Any] = []
            fill(variables, result, 0)
            return make(result)

        return value

    def _text(self, parts: Sequence[Node]) -> Compiled:
        pieces = [part if isinstance(part, str) else (self.value(part[0]), part[1]) for part in parts]

        def value(variables: Variables) -> str:
            return "".join(
                piece if isinstance(piece, str) else _shown(piece[0](variables), piece[1]) for piece in pieces
            )

        return value

    def _lambda(self, parameters: Sequence[Node], result: Node) -> Compiled:
        given, bind, tick = self.value(result), self._binding(parameters), self.tick
        names = [one[0] for one in parameters]

        def make(variables: Variables) -> Function:
            defaults: Variables = {}
            for one in parameters:
                if len(one) > 1:  # a default is of the time when the function is made
                    defaults[one[0]] = self.value(one[1])(variables)

            def call(*values: Any, **named: Any) -> Any:
                tick(1)
                inner: Variables = {OUTER: variables}
                left = {name: value for name, value in defaults.items() if name not in names[: len(values)]}
                bind(inner, values, left | named)
                return given(inner)

            return call

        return make

    def _walrus(self, name: str, node: Node) -> Compiled:
        given = self.value(node)

        def value(variables: Variables) -> Any:
            variables[name] = result = given(variables)
            return result

        return value

    def _yield(self, node: Node) -> Compiled:
        given = self.value(node)
        return lambda variables: variables[YIELDED].append(given(variables))

    def _yield_from(self, node: Node) -> Compiled:
        given = self.value(node)

        def value(variables: Variables) -> None:
            variables[YIELDED].extend(given(variables))

        return value

    def _binding(self, parameters: Sequence[Node]) -> Callable[[Variables, Sequence[Any], Variables], None]:
        plain = [(one[0], self.value(one[1]) if len(one) > 1 else None) for one in parameters if one[0][:1] != "*"]
        rest = next((one[0][1:] for one in parameters if one[0][:1] == "*" and one[0][:2] != "**"), "")
        others = next((one[0][2:] for one in parameters if one[0][:2] == "**"), "")

        def bind(variables: Variables, given: Sequence[Any], named: Variables) -> None:
            left = dict(named)
            for place, (name, default) in enumerate(plain):
                if place < len(given):
                    variables[name] = given[place]
                elif name in left:
                    variables[name] = left.pop(name)
                elif default is not None:
                    variables[name] = default(variables)
                else:
                    raise TypeError(f"missing argument {name}")
            if rest:
                variables[rest] = tuple(given[len(plain) :])
            elif len(given) > len(plain):
                raise TypeError("too many arguments")
            if others:
                variables[others] = left
            elif left:
                raise TypeError(f"unexpected argument {min(left)}")

        return bind

    def _put(self, target: Node) -> Callable[[Variables, Any], None]:
        """Sets a variable, an attribute, an element, or several of them."""
        if isinstance(target, str):

            def put_name(variables: Variables, value: Any) -> None:
                variables[target] = value

            return put_name
        if target[0] in ("tuple", "list"):
            return self._put_several(target[1])
        if target[0] == ".":
            owner, name = self.value(target[1]), target[2]

            def put_attribute(variables: Variables, value: Any) -> None:
                attributes_of(owner(variables))[name] = value

            return put_attribute
        if target[0] == "[]":
            holder, place = self.value(target[1]), self.value(target[2])

            def put_element(variables: Variables, value: Any) -> None:
                holder(variables)[place(variables)] = value

            return put_element
        raise NotRun(f"setting {target[0]}")

    def _put_several(self, targets: Sequence[Node]) -> Callable[[Variables, Any], None]:
        starred = [place for place, target in enumerate(targets) if isinstance(target, list) and target[0] == "*"]
        puts = [self._put(target[1] if place in starred else target) for place, target in enumerate(targets)]

        def put(variables: Variables, value: Any) -> None:
            values = list(value)
            if starred:
                (at,) = starred
                behind = len(puts) - at - 1
                values = [*values[:at], values[at : len(values) - behind], *values[len(values) - behind :]]
            for one, given in zip(puts, values, strict=True):
                one(variables, given)

        return put


def _shown(value: Any, conversion: str) -> str:
    shown = repr(value) if conversion == "r" else str(value)
    return shown if len(shown) < 10_000 else shown[:10_000]
