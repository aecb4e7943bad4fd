"""The stack on which a pickle is read without running it: names stay text, and calls give values that do nothing.

These are the opcodes that torch.load(weights_only=True), its default, takes: torch 2.13,
torch/_weights_only_unpickler.py (`Unpickler.load`). What each does: Python's pickletools.
"""

import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hfcount.formats.pickles.values import (
    ALLOWED,
    OPAQUE,
    Global,
    Malformed,
    Opaque,
    Storage,
    Tensor,
    call,
    part_of,
    storage_of,
)

MAX_VALUES = 2_500_000
"""Opcodes of one pickle, and values that its calls copy: a tensor takes 33. Time and memory are bounded by it."""

MAX_MARKS = 1_000
"""Levels of lists, tuples and dictionaries that are open at once."""

_NAMED = 200  # names that are kept to be reported


class Cut(Exception):
    """The bytes end before the pickle does."""


@dataclass(slots=True)
class Seen:
    """What the pickles of a file ask for.

    Args:
        refused: names beyond torch's allow-list, in order; nobody calls them here.
        opcodes: opcodes that torch.load refuses, in order.
        protocol: of the last pickle; 0 where it does not say.
        storages: by key, as the first mention of each has them.
        tensors: all that were built.
    """

    refused: dict[str, None] = field(default_factory=dict)
    opcodes: dict[str, None] = field(default_factory=dict)
    protocol: int = 0
    storages: dict[str, Storage] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)


class Machine:
    """The stack of a pickle that is being read; `TAKEN` says which methods are opcodes.

    Args:
        raw: the bytes.
        start: where the pickle begins.
        seen: what the pickles of this file have asked for so far.
    """

    __slots__ = ("append", "at", "memo", "raw", "seen", "spent", "stack", "stacks")

    def __init__(self, raw: bytes, start: int, seen: Seen) -> None:
        self.raw, self.at, self.seen = raw, start, seen
        self.stack: list[Any] = []
        self.append = self.stack.append
        self.stacks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.spent = 0  # values that calls have copied

    def pop(self) -> Any:
        """The topmost value.

        Raises:
            Malformed: there is none.
        """
        try:
            return self.stack.pop()
        except IndexError:
            raise Malformed(f"takes at byte {self.at - 1:,} a value that is not there") from None

    def take(self, count: int) -> bytes:
        """The next so many bytes; raises Cut if they are not there."""
        begin = self.at
        self.at = end = begin + count
        if end > len(self.raw):
            raise Cut
        return self.raw[begin:end]

    def number(self, code: str, count: int) -> Any:
        """The next number, of a format of struct and so many bytes; raises as `take` does."""
        return struct.unpack(code, self.take(count))[0]

    def line(self) -> bytes:
        """The bytes up to the end of the line, which is passed over; raises as `take` does."""
        end = self.raw.find(b"\n", self.at)
        if end < 0:
            raise Cut
        line, self.at = self.raw[self.at : end], end + 1
        return line

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
        if full not in ALLOWED and len(self.seen.refused) < _NAMED:
            self.seen.refused[full[:1_000]] = None
        self.append(Global(full))

    def copied(self, values: Any) -> Any:
        """The values of a list that a call takes; a pickle can name the same long list again and again."""
        self.spent += len(values)
        if self.spent > MAX_VALUES:
            raise Malformed(f"copies more than {MAX_VALUES:,} values, the most that are read")
        return values

    # Opcodes that torch takes

    def _mark(self) -> None:
        if len(self.stacks) == MAX_MARKS:
            raise Malformed(f"is nested more than {MAX_MARKS:,} levels deep")
        self.stacks.append(self.stack)
        self.stack = []
        self.append = self.stack.append

    def _proto(self) -> None:
        self.seen.protocol = self.take(1)[0]

    def _put_global(self) -> None:
        module, name = self.line(), self.line()
        self.named(module.decode(), name.decode())

    def _binput(self) -> None:
        self.memo[self.take(1)[0]] = self.stack[-1]

    def _long_binput(self) -> None:
        self.memo[self.number("<I", 4)] = self.stack[-1]

    def _binget(self) -> None:
        self.append(self.memo[self.take(1)[0]])

    def _long_binget(self) -> None:
        self.append(self.memo[self.number("<I", 4)])

    def _binunicode(self) -> None:
        self.append(self.take(self.number("<I", 4)).decode("utf-8", "surrogatepass"))

    def _short_binstring(self) -> None:
        self.append(self.take(self.take(1)[0]).decode())

    def _binint(self) -> None:
        self.append(self.number("<i", 4))

    def _binint1(self) -> None:
        self.append(self.take(1)[0])

    def _binint2(self) -> None:
        self.append(self.number("<H", 2))

    def _long1(self) -> None:
        self.append(int.from_bytes(self.take(self.take(1)[0]), "little", signed=True))

    def _binfloat(self) -> None:
        self.append(self.number(">d", 8))

    def _none(self) -> None:
        self.append(None)

    def _newtrue(self) -> None:
        self.append(True)

    def _newfalse(self) -> None:
        self.append(False)

    def _empty_tuple(self) -> None:
        self.append(())

    def _empty_list(self) -> None:
        self.append([])

    def _empty_dict(self) -> None:
        self.append({})

    def _empty_set(self) -> None:
        self.append(OPAQUE)

    def _tuple1(self) -> None:
        self.stack[-1] = (self.stack[-1],)

    def _tuple2(self) -> None:
        last = self.pop()
        self.stack[-1] = (self.stack[-1], last)

    def _tuple3(self) -> None:
        last, middle = self.pop(), self.pop()
        self.stack[-1] = (self.stack[-1], middle, last)

    def _tuple(self) -> None:
        values = tuple(self.marked())
        self.append(values)

    def _append_one(self) -> None:
        value = self.pop()
        self._extend([value])

    def _appends(self) -> None:
        self._extend(self.marked())

    def _extend(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is list:
            target.extend(values)
        elif type(target) is not Opaque:
            raise Malformed(f"appends at byte {self.at - 1:,} to something that is no list")

    def _setitem(self) -> None:
        value, key = self.pop(), self.pop()
        self.set_values([key, value])

    def _setitems(self) -> None:
        self.set_values(self.marked())

    def set_values(self, values: list[Any]) -> None:
        """Sets keys and values, in turns, of the dictionary on top of the stack."""
        target = self.stack[-1]
        if type(target) is dict:
            if len(values) % 2:
                raise Malformed(f"sets at byte {self.at - 1:,} a key without a value")
            _fill(target, zip(values[::2], values[1::2], strict=True))
        elif type(target) is not Opaque:
            raise Malformed(f"sets at byte {self.at - 1:,} a key of something that is no dictionary")

    def _binpersid(self) -> None:
        values = self.pop()
        if type(values) is not tuple or not values or values[0] != "storage":
            self.seen.opcodes["BINPERSID of something that is no storage"] = None
            self.append(OPAQUE)
            return
        if len(values) not in (5, 6):
            raise Malformed(f"describes a storage by {len(values)} values")
        storage = storage_of(values[1], values[2], values[4])
        # Where two ids name one storage, torch takes the first for both.
        storage = self.seen.storages.setdefault(storage.key, storage)
        self.append(storage if len(values) == 5 or values[5] is None else part_of(storage, values[5]))

    def _reduce(self) -> None:
        values, function = self.pop(), self.stack[-1]
        if type(values) is not tuple:
            raise Malformed(f"calls at byte {self.at - 1:,} with something that is no tuple")
        if type(function) is not Global:
            raise Malformed(f"calls at byte {self.at - 1:,} something that is no function")
        self.stack[-1] = self._called(function.name, values)

    def _newobj(self) -> None:
        values = self.pop()
        self.append(values)
        self._reduce()

    def _build(self) -> None:
        self.pop()  # attributes of what is below, which have no part in the weights

    def _called(self, name: str, values: Any) -> Any:
        first = values[0] if values else ()
        if name in ("collections.OrderedDict", "collections.Counter"):
            return self._dictionary(first)
        if name == "torch.Size":
            return tuple(self.copied(first)) if type(first) in (tuple, list) else OPAQUE
        result = call(name, values) if name in ALLOWED else OPAQUE
        if type(result) is Tensor:
            self.seen.tensors.append(result)
        return result

    def _dictionary(self, first: Any) -> dict[Any, Any]:
        if type(first) is dict:
            return dict(self.copied(first))
        if type(first) not in (tuple, list):
            raise Malformed("makes a dictionary of something that is no list of pairs")
        pairs = self.copied(first)
        if any(type(pair) not in (tuple, list) or len(pair) != 2 for pair in pairs):
            raise Malformed("makes a dictionary of something that is no list of pairs")
        result: dict[Any, Any] = {}
        _fill(result, pairs)
        return result


def _fill(target: dict[Any, Any], pairs: Iterable[Any]) -> None:
    """Sets what has text for its key. All other keys become one: numbers can be chosen so that looking them up takes
    long."""
    for key, value in pairs:
        target[key if type(key) is str else OPAQUE] = value


TAKEN: Mapping[int, str] = {
    0x80: "proto",
    ord("("): "mark",
    ord("c"): "put_global",
    ord("q"): "binput",
    ord("r"): "long_binput",
    ord("h"): "binget",
    ord("j"): "long_binget",
    ord("X"): "binunicode",
    ord("U"): "short_binstring",
    ord("J"): "binint",
    ord("K"): "binint1",
    ord("M"): "binint2",
    0x8A: "long1",
    ord("G"): "binfloat",
    ord("N"): "none",
    0x88: "newtrue",
    0x89: "newfalse",
    ord(")"): "empty_tuple",
    ord("]"): "empty_list",
    ord("}"): "empty_dict",
    0x8F: "empty_set",
    0x85: "tuple1",
    0x86: "tuple2",
    0x87: "tuple3",
    ord("t"): "tuple",
    ord("a"): "append_one",
    ord("e"): "appends",
    ord("s"): "setitem",
    ord("u"): "setitems",
    ord("Q"): "binpersid",
    ord("R"): "reduce",
    0x81: "newobj",
    ord("b"): "build",
}
"""The method of each opcode."""
