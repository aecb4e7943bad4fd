"""Runs recorded functions of llama.cpp, as tests/tools/cpp.py translates them, on the header of a GGUF file.

Each function is compiled to closures that take the variables by their names. Only what the recorded functions use is
there: whole numbers do not wrap, and a reference is the object itself.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from hfcount.verifier.loaders.llama_cpp.file import File, Refused
from hfcount.verifier.loaders.llama_cpp.operators import FUNCTIONS, METHODS, OPERATORS

Variables = dict[str, Any]
Compiled = Callable[[Variables], Any]
Function = Callable[..., Any]
Node = Any

_SIGNAL = object()
"""What a statement gives that ends its loop or switch; a function ends by `_Returned`."""


class NotRun(Exception):
    """Something that is recorded and cannot be run here."""


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Continued(Exception):
    pass


_PARTS = ("functions", "methods")


class Machine:
    """Runs the functions of one architecture on one file.

    Args:
        common: what is recorded of all architectures.
        row: what is recorded of this one.
        file: the file.
    """

    def __init__(self, common: Mapping[str, Any], row: Mapping[str, Any], file: File) -> None:
        self.common, self.row, self.file = common, row, file
        self.hparams: Variables = {
            name: value if length is None else [] if length < 0 else [value] * length
            for name, (_, length, value) in common["fields"].items()
        }
        self.hparams |= {"posnet": defaultdict(int), "convnext": defaultdict(int)}
        self.model: Variables = defaultdict(lambda: None)
        self.model |= {
            "hparams": self.hparams,
            "layers": defaultdict(_layer),
            "arch": file.architecture,
            "classifier_labels": [],
            "target_layer_ids": [],
        }
        self.model |= {name: value for name, (_, _, value) in row.get("members", {}).items()}
        self._functions: dict[str, Function] = {}
        self._plain: Mapping[str, Function] = {
            **FUNCTIONS,
            "arch_name": lambda: file.architecture,
            "llm_arch_is_recurrent": lambda architecture: architecture in common["recurrent"],
            "llama_rope_scaling_type_from_string": lambda word: common["rope_scaling"].get(word, -1),
        }
        self._statements: Mapping[str, Callable[..., Compiled]] = {
            "do": self._do,
            "let": self._let,
            "=": self._set,
            "if": self._if,
            "for": self._for,
            "each": self._each,
            "switch": self._switch,
            "try": self._try,
            "throw": self._throw,
            "abort": self._abort,
            "return": self._return,
            "break": lambda: lambda variables: _SIGNAL,
            "continue": lambda: _continue,
        }
        self._values: Mapping[str, Callable[..., Compiled]] = {
            "s": lambda text: lambda variables: text,
            ".": self._field,
            "[]": self._element,
            "()": self._call,
            "?": self._choice,
            "{}": self._list,
            "!": self._not,
            "&&": self._and,
            "||": self._or,
            "key": self._key,
            "tensor": self._tensor,
            "tn": self._title,
        }

    @cached_property
    def _flags(self) -> Mapping[str, int]:
        flags: Mapping[str, int] = self.common["flags"]
        return flags

    def run(self, body: Sequence[Node]) -> None:
        """Runs the body of a function without parameters.

        Raises:
            Refused: the file is refused, or the process aborts.
            NotRun: it cannot be run here.
        """
        try:
            self._body(body)({})
        except _Returned:
            return
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            raise NotRun(f"{type(error).__name__}: {error}") from error

    # Statements

    def _body(self, body: Sequence[Node]) -> Compiled:
        steps = [self._statement(node) for node in body]

        def run(variables: Variables) -> Any:
            for step in steps:
                if step(variables) is _SIGNAL:
                    return _SIGNAL
            return None

        return run

    def _statement(self, node: Node) -> Compiled:
        make = self._statements.get(node[0])
        if make is None:
            raise NotRun(f"the statement {node[0]}")
        return make(*node[1:])

    def _do(self, value: Node) -> Compiled:
        done = self._value(value)
        return lambda variables: done(variables) and None

    def _let(self, name: str, kind: str, value: Node) -> Compiled:
        if isinstance(value, list) and value and value[0] == "fn":
            function = self._lambda(value[1], self._body(value[2]))

            def define(variables: Variables) -> None:
                variables[name] = lambda *given: function(variables, *given)

            return define
        given = _begun(kind) if value is None else self._value(value)

        def let(variables: Variables) -> None:
            variables[name] = given(variables)

        return let

    def _set(self, target: Node, value: Node) -> Compiled:
        return self._setting(target, self._value(value))

    def _setting(self, target: Node, value: Compiled) -> Compiled:
        if isinstance(target, str):

            def set_name(variables: Variables) -> None:
                (variables if target in variables else self.model)[target] = value(variables)

            return set_name
        if target[0] == ".":
            owner, field = self._value(target[1]), target[2]

            def set_field(variables: Variables) -> None:
                given = value(variables)
                owner(variables)[field] = list(given) if isinstance(given, list) else given

            return set_field
        if target[0] == "[]":
            owner, place = self._value(target[1]), self._value(target[2])

            def set_element(variables: Variables) -> None:
                owner(variables)[place(variables)] = value(variables)

            return set_element
        raise NotRun(f"setting {target}")

    def _if(self, condition: Node, yes: Sequence[Node], no: Sequence[Node]) -> Compiled:
        holds, then, otherwise = self._value(condition), self._body(yes), self._body(no)
        return lambda variables: then(variables) if holds(variables) else otherwise(variables)

    def _for(self, first: Node, condition: Node, step: Node, body: Sequence[Node]) -> Compiled:
        begin, holds, go_on, run_once = (
            self._statement(first),
            self._value(condition),
            self._statement(step),
            self._body(body),
        )

        def run(variables: Variables) -> None:
            begin(variables)
            while holds(variables):
                try:
                    if run_once(variables) is _SIGNAL:
                        return
                except _Continued:
                    pass
                go_on(variables)

        return run

    def _each(self, name: str, values: Node, body: Sequence[Node]) -> Compiled:
        all_of_them, run_once = self._value(values), self._body(body)

        def run(variables: Variables) -> None:
            for value in list(all_of_them(variables)):
                variables[name] = value
                try:
                    if run_once(variables) is _SIGNAL:
                        return
                except _Continued:
                    pass

        return run

    def _switch(self, value: Node, cases: Sequence[Node]) -> Compiled:
        given = self._value(value)
        bodies = [self._body(body) for _, body in cases]
        places = {_plain(case): at for at, (values, _) in enumerate(cases) for case in values or ()}
        default = next((at for at, (values, _) in enumerate(cases) if values is None), len(cases))

        def run(variables: Variables) -> None:
            for body in bodies[places.get(given(variables), default) :]:
                if body(variables) is _SIGNAL:
                    return

        return run

    def _try(self, body: Sequence[Node], other: Sequence[Node]) -> Compiled:
        first, second = self._body(body), self._body(other)

        def run(variables: Variables) -> Any:
            try:
                return first(variables)
            except Refused:
                return second(variables)

        return run

    def _throw(self, text: Node, line: int) -> Compiled:
        given = self._value(text)

        def stop(variables: Variables) -> None:
            raise Refused(f"refuses it: {given(variables)}", line)

        return stop

    @staticmethod
    def _abort(text: str, line: int) -> Compiled:
        def stop(variables: Variables) -> None:
            raise Refused(f"aborts, since it asserts {text}", line)

        return stop

    def _return(self, value: Node) -> Compiled:
        given = self._value(value)

        def give(variables: Variables) -> None:
            raise _Returned(given(variables))

        return give

    # Values

    def _value(self, node: Node) -> Compiled:
        if node is None or isinstance(node, bool | int | float):
            return lambda variables: node
        if isinstance(node, str):
            return self._name(node)
        if (make := self._values.get(node[0])) is not None:
            return make(*node[1:])
        if node[0] in OPERATORS:
            first, second, operator = self._value(node[1]), self._value(node[2]), OPERATORS[node[0]]
            return lambda variables: operator(first(variables), second(variables))
        raise NotRun(f"the value {node[0]}")

    def _element(self, values: Node, place: Node) -> Compiled:
        given, at = self._value(values), self._value(place)
        return lambda variables: given(variables)[at(variables)]

    def _choice(self, condition: Node, yes: Node, no: Node) -> Compiled:
        holds, then, otherwise = self._value(condition), self._value(yes), self._value(no)
        return lambda variables: then(variables) if holds(variables) else otherwise(variables)

    def _list(self, *values: Node) -> Compiled:
        parts = [self._value(value) for value in values]
        return lambda variables: [part(variables) for part in parts]

    def _not(self, value: Node) -> Compiled:
        given = self._value(value)
        return lambda variables: not given(variables)

    def _and(self, left: Node, right: Node) -> Compiled:
        first, second = self._value(left), self._value(right)
        return lambda variables: bool(first(variables)) and bool(second(variables))

    def _or(self, left: Node, right: Node) -> Compiled:
        first, second = self._value(left), self._value(right)
        return lambda variables: bool(first(variables)) or bool(second(variables))

    def _name(self, name: str) -> Compiled:
        model = self.model

        def value(variables: Variables) -> Any:
            return variables[name] if name in variables else model[name]

        return value

    def _field(self, owner: Node, field: str) -> Compiled:
        if owner == "ml":
            value = {"load_mtp": False}[field]  # as llama_model_default_params has it
            return lambda variables: value
        given = self._value(owner)
        if field == "tensor":  # of a weight, which is the tensor here
            return given
        if field == "ne":
            return lambda variables: given(variables).extents
        if field == "type":
            return lambda variables: given(variables).type
        return lambda variables: given(variables)[field]

    def _title(self, title: Node, *given: Node) -> Compiled:
        """A tensor's name, which has places for as many of the numbers as it needs."""
        numbers = [self._value(number) for number in given]
        if isinstance(title, list) and title[0] == "s":
            text, used = title[1], numbers[: title[1].count("%d")]
            if not used:
                return lambda variables: text
            if len(used) == 1:
                (number,) = used
                return lambda variables: text % number(variables)
        make = self._value(title)

        def value(variables: Variables) -> str:
            text: str = make(variables)
            return text % tuple([number(variables) for number in numbers[: text.count("%d")]])

        return value

    def _tensor(self, named: Node, extents: Sequence[Node], flagged: Node, line: int) -> Compiled:
        title, shape, flags = self._value(named), [self._value(one) for one in extents], self._value(flagged)
        file, known = self.file, self._flags
        optional, duplicated = known["TENSOR_NOT_REQUIRED"], known["TENSOR_DUPLICATED"]
        skipped, reshaped = known["TENSOR_SKIP"], known["TENSOR_ALLOW_RESHAPE"]

        def value(variables: Variables) -> Any:
            given = flags(variables)
            name = title(variables)
            wanted = tuple([extent(variables) for extent in shape])
            tensor = file.tensor(name, wanted, bool(given & optional), bool(given & reshaped), line)
            if tensor is None or given & skipped:
                file.used[name] += tensor is not None
                return None
            if given & duplicated:
                file.shared.add(name)
            else:
                file.used[name] += 1
            return tensor

        return value

    def _key(self, *parts: Node) -> Compiled:
        way, key, target, kind, needed, count, line = parts
        title, required, length = self._value(key), self._value(needed), self._value(count)
        holder: Variables = {}
        put = self._setting(target, lambda variables: holder["value"])
        held = self._value(target)
        read = getattr(self.file, way)

        def value(variables: Variables) -> bool:
            found = read(title(variables), kind, bool(required(variables)), length(variables), line)
            if found is None:
                return False
            if isinstance(found, list) and "[" in kind and not kind.endswith("[-1]"):
                before = held(variables)
                found = [*found, *before[len(found) :]]
            holder["value"] = found
            put(variables)
            return True

        return value

    # Functions

    def _call(self, function: Node, *arguments: Node) -> Compiled:
        given = [self._value(argument) for argument in arguments]
        if isinstance(function, str):
            return self._function_called(function, given)
        _, owner, method = function
        if owner in ("hparams", "this"):
            return self._recorded("methods", method, given)
        if owner == "vocab":
            return lambda variables: getattr(self.file, method)
        if owner == "ml":
            return self._of_loader(method, given)
        if method not in METHODS:
            raise NotRun(f"the call of {method}")
        values, action = self._value(owner), METHODS[method]
        return lambda variables: action(values(variables), *[one(variables) for one in given])

    def _of_loader(self, method: str, given: Sequence[Compiled]) -> Compiled:
        file = self.file
        match method:
            case "get_arch":
                return lambda variables: file.architecture
            case "get_weight" | "get_tensor_meta":
                return lambda variables: file.found(given[0](variables))
            case "llm_kv":
                return lambda variables: file.title(given[0](variables))
        raise NotRun(f"the call of {method}")

    def _function_called(self, name: str, given: Sequence[Compiled]) -> Compiled:
        if (action := self._plain.get(name)) is not None:
            return lambda variables: action(*[one(variables) for one in given])
        for part, functions in (("", self.row.get("functions", {})), *((part, self.common[part]) for part in _PARTS)):
            if name in functions:
                return self._recorded(part, name, given)
        return lambda variables: variables[name](*[one(variables) for one in given])

    def _recorded(self, part: str, name: str, given: Sequence[Compiled]) -> Compiled:
        """A call of a recorded function, which is compiled when it is first called."""

        def value(variables: Variables) -> Any:
            function = self._functions.get(name)
            if function is None:
                names, body = (self.common[part] if part else self.row["functions"])[name]
                function = self._functions[name] = self._function(names, self._body(body))
            return function(*[one(variables) for one in given])

        return value

    @staticmethod
    def _function(names: Sequence[str], body: Compiled) -> Function:
        pairs = [name.partition("=") for name in names]
        defaults: Variables = {name: {"true": 1, "false": 0}.get(text, text) for name, _, text in pairs if text}
        defaults = {name: int(value) for name, value in defaults.items()}

        def call(*values: Any) -> Any:
            return _returned(body, defaults | dict(zip([name for name, _, _ in pairs], values, strict=False)))

        return call

    @staticmethod
    def _lambda(names: Sequence[str], body: Compiled) -> Function:
        """A function in a function: it sees the variables around it."""

        def call(variables: Variables, *values: Any) -> Any:
            variables |= dict(zip(names, values, strict=True))
            return _returned(body, variables)

        return call


def _returned(body: Compiled, variables: Variables) -> Any:
    """What the body of a function returns; None if it ends without."""
    try:
        body(variables)
    except _Returned as returned:
        return returned.value
    return None


def _begun(kind: str) -> Compiled:
    """The value of a variable of this C++ type that is declared without one."""
    if kind.startswith(("std::vector", "std::array", "std::unordered", "std::set")):
        length = 64 if "array" in kind else 0
        return lambda variables: [0] * length
    value: Any = "" if kind.startswith("std::string") else 0
    return lambda variables: value


def _layer() -> Variables:
    result: Variables = defaultdict(lambda: None)
    for part in ("nextn", "posnet", "convnext", "shortconv", "switch_lora"):
        result[part] = defaultdict(lambda: None)
    return result


def _continue(variables: Variables) -> None:
    raise _Continued


def _plain(node: Node) -> Any:
    return node[1] if isinstance(node, list) and node and node[0] == "s" else node
