"""The stack that reads a pickle without running it: names stay text, and calls are simulated."""

from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Iterable
from typing import Any

from hfcount.formats.pickles.builders import call
from hfcount.formats.pickles.safe_globals import ALLOWED
from hfcount.formats.pickles.stream import Cut, PickleContents, Stream
from hfcount.formats.pickles.values import OPAQUE, Beyond, Global, Malformed, Opaque, Tensor

MAX_VALUES = 1_000_000
"""Opcodes of one pickle, and values that its calls copy: a tensor takes 35. Time and memory are bounded by it."""

_NAMED = 200  # functions and classes, of those that torch refuses, that are kept to be reported
_MOST_NAMED = 10_000  # that a pickle may name at all


class Machine:
    """The stack of a pickle that is being read.

    Args:
        stream: the bytes.
        contents: what the pickles of this file have asked for so far.
    """

    __slots__ = ("append", "contents", "globals", "memo", "raw", "spent", "stack", "stacks", "stream")

    def __init__(self, stream: Stream, contents: PickleContents) -> None:
        self.stream, self.raw, self.contents = stream, stream.raw, contents
        self.stack: list[Any] = []
        self.append = self.stack.append
        self.stacks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.globals: dict[str, Global] = {}
        self.spent = 0  # values that calls have copied

    def reach(self, end: int) -> None:
        """Reads on until so many bytes are there.

        Raises:
            Cut: there are not so many.
        """
        if end > self.stream.end:
            self.stream.reach(end)
            self.raw = self.stream.raw
            if end > self.stream.end:
                raise Cut

    def take(self, at: int, count: int) -> bytes:
        """So many bytes; raises as `reach` does."""
        self.reach(at + count)
        return self.raw[at : at + count]

    def line(self, at: int) -> tuple[str, int]:
        """The text up to the end of the line, and where the next begins; raises as `reach` does."""
        while (end := self.raw.find(b"\n", at, self.stream.end)) < 0:
            self.reach(self.stream.end + 1)
        return self.raw[at:end].decode(), end + 1

    def marked(self) -> list[Any]:
        """The values above the last mark, which are taken off with it."""
        values = self.stack
        self.stack = self.stacks.pop()
        self.append = self.stack.append
        return values

    def named(self, module: str, name: str) -> None:
        """Puts a function or class on the stack by its name, and notes it if torch refuses it."""
        # Protocols before 3 have the names of Python 2, which torch translates, as pickle does.
        module, name = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
        full = f"{module}.{name}"
        if full not in self.globals:
            if len(self.globals) == _MOST_NAMED:
                raise Beyond(f"names more than {_MOST_NAMED:,} functions and classes, the most that are read")
            self.globals[full] = Global(full)
            if full not in ALLOWED and len(self.contents.refused) < _NAMED:
                self.contents.refused[full[:1_000]] = None
        self.append(self.globals[full])

    def _copied(self, values: Any) -> Any:
        """The values of a list that a call takes; a pickle can name the same long list again and again."""
        self.spent += len(values)
        if self.spent > MAX_VALUES:
            raise Beyond(f"copies more than {MAX_VALUES:,} values, the most that are read")
        return values

    def extend(self, values: list[Any]) -> None:
        """Appends values to the list on top of the stack."""
        target = self.stack[-1]
        if type(target) is list:
            target.extend(values)
        elif type(target) is not Opaque:
            raise Malformed("appends to something that is no list")

    def set_values(self, values: list[Any]) -> None:
        """Sets keys and values, in turns, of the dictionary on top of the stack."""
        target = self.stack[-1]
        if type(target) is dict:
            if len(values) % 2:
                raise Malformed("sets a key without a value")
            _fill(target, zip(values[::2], values[1::2], strict=True))
        elif type(target) is not Opaque:
            raise Malformed("sets a key of something that is no dictionary")

    def called(self, name: str, values: tuple[Any, ...]) -> Any:
        """What a call returns, as far as that bears on tensors; raises Malformed if it does not take these values."""
        first = values[0] if values else ()
        if name in ("collections.OrderedDict", "collections.Counter"):
            return self._dictionary(first)
        if name == "torch.Size":
            return tuple(self._copied(first)) if type(first) in (tuple, list) else OPAQUE
        result = call(name, values) if name in ALLOWED else OPAQUE
        if type(result) is Tensor:
            self.contents.tensors.append(result)
        return result

    def _dictionary(self, first: Any) -> dict[Any, Any]:
        if type(first) is dict:
            return dict(self._copied(first))
        if type(first) not in (tuple, list) or any(
            type(pair) not in (tuple, list) or len(pair) != 2 for pair in self._copied(first)
        ):
            raise Malformed("makes a dictionary of something that is no list of pairs")
        result: dict[Any, Any] = {}
        _fill(result, first)
        return result


def _fill(target: dict[Any, Any], pairs: Iterable[Any]) -> None:
    """Sets what has text for its key. All other keys become one: numbers can be chosen so that looking them up takes
    long."""
    for key, value in pairs:
        if type(key) in (list, dict) or (type(key) is tuple and not {list, dict}.isdisjoint(map(type, key))):
            raise Malformed("sets a key that is a list or a dictionary, or holds one")
        target[key if type(key) is str else OPAQUE] = value
