"""Reads a pickle of any protocol without running it, and notes what torch.load would refuse of it.

Source: Python's pickletools, protocols 0 to 5.
"""

from codecs import escape_decode
from collections.abc import Callable, Mapping
from typing import Any

from hfcount.formats.pickles.machine import MAX_VALUES, TAKEN, Cut, Machine, Seen
from hfcount.formats.pickles.values import OPAQUE, Malformed

_STOP = ord(".")


def unpickle(raw: bytes, start: int, seen: Seen) -> tuple[Any, int]:
    """The value of the pickle that begins at byte `start`, and where it ends.

    Raises:
        Cut: `raw` ends before it does.
        Malformed: it is none, or is beyond what is read.
    """
    machine = _AnyProtocol(raw, start, seen)
    handlers = machine.handlers()
    for _ in range(MAX_VALUES):
        try:
            opcode = raw[machine.at]
        except IndexError:
            raise Cut from None
        machine.at += 1
        if opcode == _STOP:
            return machine.pop(), machine.at
        handler = handlers.get(opcode)
        if handler is None:
            raise Malformed(
                f"has byte 0x{opcode:02x} at {machine.at - 1:,}, which is no opcode that weights are written with"
            )
        try:
            handler()
        except (IndexError, KeyError):
            raise Malformed(f"takes at byte {machine.at - 1:,} a value that is not there") from None
        except ValueError:
            raise Malformed(f"has text at byte {machine.at - 1:,} that cannot be decoded") from None
    raise Malformed(f"has more than {MAX_VALUES:,} opcodes, the most that are read")


class _AnyProtocol(Machine):
    """The stack with the opcodes that torch.load refuses; those that need a registry or other files it lacks, too."""

    __slots__ = ()

    def handlers(self) -> dict[int, Callable[[], None]]:
        """The method of each opcode; of those that torch refuses, one that notes this first."""
        taken = {opcode: getattr(self, f"_{name}") for opcode, name in TAKEN.items()}
        return taken | {opcode: self._noted(name) for opcode, name in _REFUSED.items()}

    def _noted(self, name: str) -> Callable[[], None]:
        method, opcodes, title = getattr(self, f"_{name}"), self.seen.opcodes, name.upper()

        def noted() -> None:
            opcodes[title] = None
            method()

        return noted

    # Protocols 4 and 5

    def _frame(self) -> None:
        self.number("<Q", 8)

    def _short_binunicode(self) -> None:
        self.append(self.take(self.take(1)[0]).decode("utf-8", "surrogatepass"))

    def _binunicode8(self) -> None:
        self.append(self.take(self.number("<Q", 8)).decode("utf-8", "surrogatepass"))

    def _memoize(self) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def _stack_global(self) -> None:
        name, module = self.pop(), self.pop()
        if type(name) is not str or type(module) is not str:
            raise Malformed(f"names at byte {self.at - 1:,} a function by something that is no text")
        self.named(module, name)

    def _additems(self) -> None:
        self.marked()

    def _frozenset(self) -> None:
        self.marked()
        self.append(OPAQUE)

    def _newobj_ex(self) -> None:
        self.pop()  # arguments by name
        self._newobj()

    def _binbytes8(self) -> None:
        self._skipped(self.number("<Q", 8))

    _bytearray8 = _binbytes8

    # Protocols 1 to 3

    def _binbytes(self) -> None:
        self._skipped(self.number("<I", 4))

    def _short_binbytes(self) -> None:
        self._skipped(self.take(1)[0])

    def _skipped(self, count: int) -> None:
        self.take(count)
        self.append(OPAQUE)

    def _binstring(self) -> None:
        self.append(self.take(self.number("<I", 4)).decode())

    def _long4(self) -> None:
        self._skipped(self.number("<I", 4))

    # Protocol 0: text, each value on a line

    def _int(self) -> None:
        line = self.line()
        self.append({b"00": False, b"01": True}.get(line) if line in (b"00", b"01") else int(line))

    def _long(self) -> None:
        self.append(int(self.line().removesuffix(b"L")))

    def _float(self) -> None:
        self.append(float(self.line()))

    def _string(self) -> None:
        self.append(escape_decode(self.line()[1:-1])[0].decode())

    def _unicode(self) -> None:
        self.append(self.line().decode("raw-unicode-escape"))

    def _put(self) -> None:
        self.memo[int(self.line())] = self.stack[-1]

    def _get(self) -> None:
        self.append(self.memo[int(self.line())])

    def _list(self) -> None:
        values = self.marked()
        self.append(values)

    def _dict(self) -> None:
        values = self.marked()
        self.append({})
        self.set_values(values)

    def _pop_one(self) -> None:
        if self.stack or not self.stacks:
            self.pop()
        else:
            self.marked()

    def _pop_mark(self) -> None:
        self.marked()

    def _dup(self) -> None:
        self.append(self.stack[-1])

    def _inst(self) -> None:
        module, name = self.line(), self.line()
        self.marked()
        self.named(module.decode(), name.decode())
        self.stack[-1] = OPAQUE

    def _obj(self) -> None:
        self.marked()
        self.append(OPAQUE)


_REFUSED: Mapping[int, str] = {
    0x95: "frame",
    0x8C: "short_binunicode",
    0x8D: "binunicode8",
    0x94: "memoize",
    0x93: "stack_global",
    0x90: "additems",
    0x91: "frozenset",
    0x92: "newobj_ex",
    0x8E: "binbytes8",
    0x96: "bytearray8",
    ord("B"): "binbytes",
    ord("C"): "short_binbytes",
    ord("T"): "binstring",
    0x8B: "long4",
    ord("I"): "int",
    ord("L"): "long",
    ord("F"): "float",
    ord("S"): "string",
    ord("V"): "unicode",
    ord("p"): "put",
    ord("g"): "get",
    ord("l"): "list",
    ord("d"): "dict",
    ord("0"): "pop_one",
    ord("1"): "pop_mark",
    ord("2"): "dup",
    ord("i"): "inst",
    ord("o"): "obj",
}
"""The method of each opcode that torch.load refuses."""
