"""Runs recorded functions of llama.cpp's converter, as tests/tools/python_code.py translates them.

Each function is compiled to closures that take the variables by their names. Only what the recorded functions use is
there: a generator runs to its end at once, a comprehension shares the variables around it, and values have the
attributes and methods of a closed list. Steps, and the lengths of what is made, are bounded.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.operators import METHODS, OPERATORS, NotRun, Tick

Variables = dict[str, Any]
Compiled = Callable[[Variables], Any]
Function = Callable[..., Any]
Node = Any

_BROKEN, _CONTINUED = object(), object()
"""What a statement gives that leaves a loop, or goes on with it; a function ends by `_Returned`."""

_OUTER, _YIELDED = "<outer>", "<yielded>"
"""Variables of the machine: those of the function around, and what was yielded."""

ERRORS: Mapping[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (
        AssertionError,
        AttributeError,
        FileNotFoundError,
        ImportError,
        IndexError,
        KeyError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
    )
} | {"Exception": Exception}
"""Errors that recorded functions raise and catch."""


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Compiler:
    """Compiles the functions of one file.

    Args:
        file: its path, for messages.
        names: gives what a name means that no function defines.
        tick: is called at each step of a loop and call of a function.
    """

    def __init__(self, file: str, names: Callable[[str], Any], tick: Tick) -> None:
        self.file, self.names, self.tick = file, names, tick
        self._statements: Mapping[str, Callable[..., Compiled]] = {
            "do": self._do,
            "=": self._set,
            "aug": self._augment,
            "if": self._if,
            "for": self._for,
            "while": self._while,
            "return": self._return,
            "raise": self._raise,
            "assert": self._assert,
            "del": self._delete,
            "break": lambda: lambda variables: _BROKEN,
            "continue": lambda: lambda variables: _CONTINUED,
            "with": self._with,
            "try": self._try,
            "def": self._define,
            "import": self._import,
        }
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

    def function(self, row: Sequence[Node], outer: Variables | None = None, extra: Variables | None = None) -> Function:
        """A function that Python can call.

        Args:
            row: its parameters, its body, and whether it yields.
            outer: the variables around it.
            extra: variables that it has besides.
        """
        parameters, body, yields = row
        return self._function(parameters, self.body(body), bool(yields), outer, extra)

    def _function(
        self, parameters: Sequence[Node], run: Compiled, yields: bool, outer: Variables | None, extra: Variables | None = None
    ) -> Function:
        bind = self._binding(parameters)
        tick = self.tick

        def call(*given: Any, **named: Any) -> Any:
            tick(1)
            variables: Variables = {_OUTER: outer, **(extra or {})}
            bind(variables, given, named)
            if yields:
                variables[_YIELDED] = []
            try:
                run(variables)
            except _Returned as returned:
                return variables[_YIELDED] if yields else returned.value
            return variables.get(_YIELDED)

        return call

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

    # Statements

    def body(self, statements: Sequence[Node]) -> Compiled:
        """Statements in a row."""
        steps = [(line, self._statement(word, parts)) for word, line, *parts in statements]
        tick, file = self.tick, self.file

        def run(variables: Variables) -> Any:
            for line, step in steps:
                tick.line, tick.file = line, file
                result = step(variables)
                if result is _BROKEN or result is _CONTINUED:
                    return result
            return None

        return run

    def _statement(self, word: str, parts: Sequence[Node]) -> Compiled:
        return self._statements[word](*parts)

    def _do(self, value: Node) -> Compiled:
        done = self.value(value)

        def do(variables: Variables) -> None:
            done(variables)

        return do

    def _set(self, targets: Sequence[Node], value: Node) -> Compiled:
        given, puts = self.value(value), [self._put(target) for target in targets]

        def assign(variables: Variables) -> None:
            result = given(variables)
            for put in puts:
                put(variables, result)

        return assign

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
                _attributes(owner(variables))[name] = value

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

    def _augment(self, target: Node, sign: str, value: Node) -> Compiled:
        put, held, given, compute = self._put(target), self.value(target), self.value(value), OPERATORS[sign]

        def augment(variables: Variables) -> None:
            before, more = held(variables), given(variables)
            if sign == "+" and isinstance(before, list):
                before.extend(more)
            else:
                put(variables, compute(before, more))

        return augment

    def _if(self, test: Node, yes: Sequence[Node], no: Sequence[Node]) -> Compiled:
        holds, then, otherwise = self.value(test), self._later(yes), self._later(no)
        return lambda variables: then(variables) if holds(variables) else otherwise(variables)

    def _later(self, statements: Sequence[Node]) -> Compiled:
        """Statements that are compiled when they are first run."""
        compiled: list[Compiled] = []

        def run(variables: Variables) -> Any:
            if not compiled:
                compiled.append(self.body(statements))
            return compiled[0](variables)

        return run if statements else _nothing

    def _for(self, target: Node, values: Node, body: Sequence[Node], no: Sequence[Node]) -> Compiled:
        put, given, run_once, otherwise, tick = (
            self._put(target),
            self.value(values),
            self.body(body),
            self.body(no),
            self.tick,
        )

        def run(variables: Variables) -> Any:
            for value in given(variables):
                tick(1)
                put(variables, value)
                if run_once(variables) is _BROKEN:
                    return None
            return otherwise(variables)

        return run

    def _while(self, test: Node, body: Sequence[Node]) -> Compiled:
        holds, run_once, tick = self.value(test), self.body(body), self.tick

        def run(variables: Variables) -> None:
            while holds(variables):
                tick(1)
                if run_once(variables) is _BROKEN:
                    return

        return run

    def _return(self, value: Node) -> Compiled:
        given = self.value(value)

        def give(variables: Variables) -> None:
            raise _Returned(given(variables))

        return give

    def _raise(self, value: Node) -> Compiled:
        given = self.value(value)

        def stop(variables: Variables) -> None:
            error = given(variables)
            raise error if isinstance(error, Exception) else error()

        return stop

    def _assert(self, test: Node, text: str) -> Compiled:
        holds = self.value(test)

        def check(variables: Variables) -> None:
            if not holds(variables):
                raise AssertionError(text)

        return check

    def _delete(self, targets: Sequence[Node]) -> Compiled:
        pairs = [(self.value(target[1]), self.value(target[2])) for target in targets if target[0] == "[]"]

        def delete(variables: Variables) -> None:
            for holder, place in pairs:
                del holder(variables)[place(variables)]

        return delete

    def _with(self, items: Sequence[Node], body: Sequence[Node]) -> Compiled:
        pairs = [(self.value(given), self._put(target) if target is not None else None) for given, target in items]
        run_once = self.body(body)

        def run(variables: Variables) -> Any:
            for given, put in pairs:
                value = given(variables)
                if put:
                    put(variables, value)
            return run_once(variables)

        return run

    def _try(self, body: Sequence[Node], handlers: Sequence[Node]) -> Compiled:
        first = self.body(body)
        others = [(tuple(ERRORS[name] for name in names), name, self.body(inner)) for names, name, inner in handlers]

        def run(variables: Variables) -> Any:
            try:
                return first(variables)
            except (_Returned, NotRun):
                raise
            except Exception as error:
                for kinds, name, handle in others:
                    if not kinds or isinstance(error, kinds):
                        variables[name] = error
                        return handle(variables)
                raise

        return run

    def _define(self, name: str, parameters: Sequence[Node], body: Sequence[Node], yields: int) -> Compiled:
        run = self.body(body)

        def define(variables: Variables) -> None:
            variables[name] = self._function(parameters, run, bool(yields), variables)

        return define

    def _import(self, names: Sequence[str]) -> Compiled:
        def bring(variables: Variables) -> None:
            for name in names:
                try:
                    variables[name] = self.names(name)
                except NotRun as error:
                    variables[name] = _unavailable(error)

        return bring

    # Values

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
            outer = variables.get(_OUTER)
            while outer is not None:
                if name in outer:
                    return outer[name]
                outer = outer.get(_OUTER)
            return names(name)

        return value

    @staticmethod
    def _constant(value: Any) -> Compiled:
        return lambda variables: value

    @staticmethod
    def _member(kind: str, name: str, value: Any) -> Compiled:
        from hfcount.verifier.loaders.llama_cpp.converter.operators import Member

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
        compute = {"not": operator.not_, "-": operator.neg, "~": operator.invert, "+": operator.pos}[sign]
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
                if all([test(variables) for test in tests[:1]]) and all(test(variables) for test in tests[1:]):
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

        def make(variables: Variables) -> Function:
            defaults: Variables = {}
            for one in parameters:
                if len(one) > 1:  # a default is of the time when the function is made
                    defaults[one[0]] = self.value(one[1])(variables)

            def call(*values: Any, **named: Any) -> Any:
                tick(1)
                inner: Variables = {_OUTER: variables}
                bind(inner, values, {**{k: v for k, v in defaults.items() if k not in named}, **named} if len(values) < len(parameters) else named)
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
        return lambda variables: variables[_YIELDED].append(given(variables))

    def _yield_from(self, node: Node) -> Compiled:
        given = self.value(node)

        def value(variables: Variables) -> None:
            variables[_YIELDED].extend(given(variables))

        return value


def _nothing(variables: Variables) -> None:
    """No statement."""


def _unavailable(error: NotRun) -> Function:
    """What stands for a function that is not known, until it is called."""

    def call(*given: Any, **named: Any) -> Any:
        raise error

    return call


class Instance:
    """An object, or class, of the recorded code, with its attributes.

    Args:
        kind: the name of the class.
        look_up: gives the attribute of a name that it was not given.
        make: makes an object of the class; None for an object.
    """

    def __init__(self, kind: str, look_up: Callable[[str], Any], make: Function | None = None) -> None:
        self.kind, self.look_up, self.make = kind, look_up, make
        self.attributes: Variables = {}

    def __call__(self, *given: Any, **named: Any) -> Any:
        if self.make is None:
            raise TypeError(f"{self.kind!r} object is not callable")
        return self.make(*given, **named)

    def get(self, name: str) -> Any:
        """An attribute, given or looked up."""
        return self.attributes[name] if name in self.attributes else self.look_up(name)


def attribute(owner: Any, name: str) -> Any:
    """An attribute of a value, as far as recorded functions may use it.

    Raises:
        NotRun: they may not.
    """
    if isinstance(owner, Instance):
        return owner.get(name)
    known = METHODS.get(type(owner))
    if known is not None and name in known:
        return getattr(owner, name)
    if isinstance(owner, type | None) or known is not None:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    allowed = getattr(owner, "attribute", None)
    if allowed is None:
        raise NotRun(f"{name} of {type(owner).__name__}")
    return allowed(name)


def _attributes(owner: Any) -> Variables:
    if isinstance(owner, Instance):
        return owner.attributes
    raise NotRun(f"setting an attribute of {type(owner).__name__}")


def _shown(value: Any, conversion: str) -> str:
    shown = repr(value) if conversion == "r" else str(value)
    return shown if len(shown) < 10_000 else shown[:10_000]

