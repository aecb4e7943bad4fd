"""The opcodes that torch.load accepts by default, as methods of the stack.

Source: torch 2.13, torch/_weights_only_unpickler.py (`Unpickler.load`), and what each does: Python's pickletools.
"""

from collections.abc import Mapping
from struct import Struct

from hfcount.formats.pickles.machine import Machine
from hfcount.formats.pickles.values import OPAQUE, Beyond, Global, Malformed, Opaque, part_of, storage_of

MAX_MARKS = 1_000
"""Levels of lists, tuples and dictionaries that are open at once."""

_SIGNED, _UNSIGNED, _SHORT, _FLOAT = (Struct(code).unpack_from for code in ("<i", "<I", "<H", ">d"))


class SafeOpcodes(Machine):
    """The stack, with a method for each opcode in `SAFE`.

    A method is given the position of the opcode's argument, and returns the position after it.
    """

    __slots__ = ()

    def _proto(self, at: int) -> int:
        self.contents.protocol = self.raw[at]
        return at + 1

    def _mark(self, at: int) -> int:
        if len(self.stacks) == MAX_MARKS:
            raise Beyond(f"is nested more than {MAX_MARKS:,} levels deep")
        self.stacks.append(self.stack)
        self.stack = []
        self.append = self.stack.append
        return at

    def _put_global(self, at: int) -> int:
        module, at = self.line(at)
        name, at = self.line(at)
        self.named(module, name)
        return at

    def _binput(self, at: int) -> int:
        self.memo[self.raw[at]] = self.stack[-1]
        return at + 1

    def _long_binput(self, at: int) -> int:
        self.memo[_UNSIGNED(self.raw, at)[0]] = self.stack[-1]
        return at + 4

    def _binget(self, at: int) -> int:
        self.append(self.memo[self.raw[at]])
        return at + 1

    def _long_binget(self, at: int) -> int:
        self.append(self.memo[_UNSIGNED(self.raw, at)[0]])
        return at + 4

    def _binunicode(self, at: int) -> int:
        count = _UNSIGNED(self.raw, at)[0]
        self.append(self.take(at + 4, count).decode("utf-8", "surrogatepass"))
        return at + 4 + int(count)

    def _short_binstring(self, at: int) -> int:
        count = self.raw[at]
        self.append(self.take(at + 1, count).decode())
        return at + 1 + count

    def _binint(self, at: int) -> int:
        self.append(_SIGNED(self.raw, at)[0])
        return at + 4

    def _binint1(self, at: int) -> int:
        self.append(self.raw[at])
        return at + 1

    def _binint2(self, at: int) -> int:
        self.append(_SHORT(self.raw, at)[0])
        return at + 2

    def _long1(self, at: int) -> int:
        count = self.raw[at]
        self.append(int.from_bytes(self.take(at + 1, count), "little", signed=True))
        return at + 1 + count

    def _binfloat(self, at: int) -> int:
        self.append(_FLOAT(self.raw, at)[0])
        return at + 8

    def _none(self, at: int) -> int:
        self.append(None)
        return at

    def _newtrue(self, at: int) -> int:
        self.append(True)
        return at

    def _newfalse(self, at: int) -> int:
        self.append(False)
        return at

    def _empty_tuple(self, at: int) -> int:
        self.append(())
        return at

    def _empty_list(self, at: int) -> int:
        self.append([])
        return at

    def _empty_dict(self, at: int) -> int:
        self.append({})
        return at

    def _empty_set(self, at: int) -> int:
        self.append(OPAQUE)
        return at

    def _tuple1(self, at: int) -> int:
        self.stack[-1] = (self.stack[-1],)
        return at

    def _tuple2(self, at: int) -> int:
        last = self.stack.pop()
        self.stack[-1] = (self.stack[-1], last)
        return at

    def _tuple3(self, at: int) -> int:
        last, middle = self.stack.pop(), self.stack.pop()
        self.stack[-1] = (self.stack[-1], middle, last)
        return at

    def _tuple(self, at: int) -> int:
        values = tuple(self.marked())
        self.append(values)
        return at

    def _append(self, at: int) -> int:
        value = self.stack.pop()
        self.extend([value])
        return at

    def _appends(self, at: int) -> int:
        self.extend(self.marked())
        return at

    def _setitem(self, at: int) -> int:
        value, key = self.stack.pop(), self.stack.pop()
        self.set_values([key, value])
        return at

    def _setitems(self, at: int) -> int:
        self.set_values(self.marked())
        return at

    def _binpersid(self, at: int) -> int:
        values = self.stack.pop()
        if type(values) is not tuple or not values or values[0] != "storage":
            self.contents.opcodes["BINPERSID of something that is no storage"] = None
            self.append(OPAQUE)
            return at
        if len(values) not in (5, 6):
            raise Malformed(f"describes a storage by {len(values)} values")
        storage = storage_of(values[1], values[2], values[4], len(values) == 6)
        # Where two ids name one storage, torch takes the first for both.
        storage = self.contents.storages.setdefault(storage.key, storage)
        self.append(storage if len(values) == 5 or values[5] is None else part_of(storage, values[5]))
        return at

    def _reduce(self, at: int) -> int:
        values, function = self.stack.pop(), self.stack[-1]
        if type(values) is not tuple:
            raise Malformed("calls a function with something that is no tuple")
        if type(function) is Global:
            self.stack[-1] = self.called(function.name, values)
        elif type(function) is not Opaque:
            raise Malformed("calls something that is no function")
        return at

    def _build(self, at: int) -> int:
        self.stack.pop()  # attributes of what is below, which have no part in the weights
        return at


SAFE: Mapping[int, str] = {
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
    ord("a"): "append",
    ord("e"): "appends",
    ord("s"): "setitem",
    ord("u"): "setitems",
    ord("Q"): "binpersid",
    ord("R"): "reduce",
    0x81: "reduce",
    ord("b"): "build",
}
"""The method of each opcode, without its underscore. NEWOBJ calls a class as REDUCE calls a function."""
