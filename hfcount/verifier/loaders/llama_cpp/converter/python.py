"""Runs recorded functions of llama.cpp's converter, as tests/tools/python_code.py translates them.

Each function is compiled to closures that take the variables by their names. Only what the recorded functions use is
there: a generator runs to its end at once, and values have the attributes and methods of a closed list. Steps, and the
lengths of what is made, are bounded.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hfcount.verifier.loaders.llama_cpp.converter.expressions import OUTER, YIELDED, Compiled, Node, Values
from hfcount.verifier.loaders.llama_cpp.converter.objects import ERRORS, Function, Variables
from hfcount.verifier.loaders.llama_cpp.converter.operators import OPERATORS, NotRun, Tick

_BROKEN, _CONTINUED = object(), object()
"""What a statement gives that leaves a loop, or goes on with it; a function ends by `_Returned`."""


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Compiler(Values):
    """Compiles the functions of one file.

    Args:
        file: its path, for messages.
        names: gives what a name means that no function defines.
        tick: is called at each step of a loop and call of a function.
    """

    def __init__(self, file: str, names: Callable[[str], Any], tick: Tick) -> None:
        super().__init__(names, tick)
        self.file = file
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
        self,
        parameters: Sequence[Node],
        run: Compiled,
        yields: bool,
        outer: Variables | None,
        extra: Variables | None = None,
    ) -> Function:
        bind = self._binding(parameters)
        tick = self.tick

        def call(*given: Any, **named: Any) -> Any:
            tick(1)
            variables: Variables = {OUTER: outer, **(extra or {})}
            bind(variables, given, named)
            if yields:
                variables[YIELDED] = []
            try:
                run(variables)
            except _Returned as returned:
                return variables[YIELDED] if yields else returned.value
            return variables.get(YIELDED)

        return call

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


def _nothing(variables: Variables) -> None:
    """No statement."""


def _unavailable(error: NotRun) -> Function:
    """What stands for a function that is not known, until it is called."""

    def call(*given: Any, **named: Any) -> Any:
        raise error

    return call
