"""Reads a pickle of any protocol without running it, and notes what torch.load refuses of it.

Source: Python's pickletools, protocols 0 to 5. EXT1 to EXT4, PERSID and the buffers of protocol 5 need what no file of
weights has, and are not read.
"""

from codecs import escape_decode
from collections.abc import Callable, Mapping
from typing import Any

from hfcount.formats.pickles.machine import MAX_VALUES, Machine
from hfcount.formats.pickles.safe_opcodes import SAFE, SafeOpcodes
from hfcount.formats.pickles.stream import MARGIN, Cut, PickleContents, Stream
from hfcount.formats.pickles.values import OPAQUE, Beyond, Malformed

_STOP = ord(".")


def unpickle(stream: Stream, start: int, contents: PickleContents) -> tuple[Any, int]:
    """The value of the pickle that begins at byte `start`, and where it ends.

    Raises:
        Cut: the bytes end before it does.
        Malformed: it is none, or is beyond what is read.
    """
    machine, at, safe, raw = _AnyProtocol(stream, contents), start, -1, stream.raw
    handlers = machine.handlers()
    for _ in range(MAX_VALUES):
        if at > safe:
            stream.reach(at + 1 + MARGIN)
            machine.raw = raw = stream.raw
            safe = max(at, stream.end - 1 - MARGIN)
            if at >= stream.end:
                raise Cut
        opcode, begin = raw[at], at
        if opcode == _STOP:
            return _value(machine), at + 1
        handler = handlers.get(opcode)
        if handler is None:
            raise Malformed(f"is wrong at byte {begin:,}: 0x{opcode:02x} is no opcode that weights are written with")
        try:
            at = handler(at + 1)
        except (IndexError, KeyError, ValueError) as error:
            if begin + MARGIN >= stream.end:
                raise Cut from None
            raise Malformed(f"is wrong at byte {begin:,}: it {_REASONS[type(error)]}") from None
        except Beyond:
            raise
        except Malformed as error:
            raise Malformed(f"is wrong at byte {begin:,}: it {error}") from None
    raise Beyond(f"has more than {MAX_VALUES:,} opcodes, the most that are read")


_REASONS = {
    IndexError: "takes a value that is not there",
    KeyError: "takes a value that was never kept",
    ValueError: "has text or a number that cannot be read",
    UnicodeDecodeError: "has text that cannot be decoded",
}


def _value(machine: Machine) -> Any:
    if not machine.stack:
        raise Malformed("ends without a value")
    return machine.stack[-1]


class _AnyProtocol(SafeOpcodes):
    """The stack with all opcodes, also those that torch.load refuses."""

    __slots__ = ()

    def handlers(self) -> dict[int, Callable[[int], int]]:
        """The method of each opcode; of those that torch refuses, one that notes this first."""
        taken = {opcode: getattr(self, f"_{name}") for opcode, name in SAFE.items()}
        return taken | {opcode: self._noted(name) for opcode, name in _REFUSED.items()}

    def _noted(self, name: str) -> Callable[[int], int]:
        method, opcodes, title = getattr(self, f"_{name}"), self.contents.opcodes, name.upper()

        def noted(at: int) -> int:
            opcodes[title] = None
            return int(method(at))

        return noted

    def _counted(self, at: int, width: int) -> tuple[int, int]:
        """Where so many bytes as a number of this width says begin and end; raises as `reach` does."""
        begin = at + width
        end = begin + int.from_bytes(self.take(at, width), "little")
        self.reach(end)
        return begin, end

    def _text(self, at: int, width: int) -> int:
        begin, end = self._counted(at, width)
        self.append(self.raw[begin:end].decode("utf-8", "surrogatepass"))
        return end

    def _passed(self, at: int, width: int) -> int:
        end = self._counted(at, width)[1]
        self.append(OPAQUE)
        return end

    # Protocols 4 and 5

    def _frame(self, at: int) -> int:
        return at + 8

    def _short_binunicode(self, at: int) -> int:
        return self._text(at, 1)

    def _binunicode8(self, at: int) -> int:
        return self._text(at, 8)

    def _memoize(self, at: int) -> int:
        self.memo[len(self.memo)] = self.stack[-1]
        return at

    def _stack_global(self, at: int) -> int:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise Malformed("names a function by something that is no text")
        self.named(module, name)
        return at

    def _additems(self, at: int) -> int:
        self.marked()
        return at

    def _frozenset(self, at: int) -> int:
        self.marked()
        self.append(OPAQUE)
        return at

    def _newobj_ex(self, at: int) -> int:
        self.stack.pop()  # arguments by name
        return self._reduce(at)

    def _binbytes8(self, at: int) -> int:
        return self._passed(at, 8)

    # Protocols 1 to 3

    def _binbytes(self, at: int) -> int:
        return self._passed(at, 4)

    def _short_binbytes(self, at: int) -> int:
        return self._passed(at, 1)

    def _binstring(self, at: int) -> int:
        return self._text(at, 4)

    # Protocol 0: text, each value on a line

    def _int(self, at: int) -> int:
        text, at = self.line(at)
        self.append(text == "01" if text in ("00", "01") else int(text))
        return at

    def _long(self, at: int) -> int:
        text, at = self.line(at)
        self.append(int(text.removesuffix("L")))
        return at

    def _float(self, at: int) -> int:
        text, at = self.line(at)
        self.append(float(text))
        return at

    def _string(self, at: int) -> int:
        text, at = self.line(at)
        self.append(escape_decode(text[1:-1].encode())[0].decode())
        return at

    def _unicode(self, at: int) -> int:
        text, at = self.line(at)
        self.append(text.encode().decode("raw-unicode-escape"))
        return at

    def _put(self, at: int) -> int:
        text, at = self.line(at)
        self.memo[int(text)] = self.stack[-1]
        return at

    def _get(self, at: int) -> int:
        text, at = self.line(at)
        self.append(self.memo[int(text)])
        return at

    def _list(self, at: int) -> int:
        values = self.marked()
        self.append(values)
        return at

    def _dict(self, at: int) -> int:
        values = self.marked()
        self.append({})
        self.set_values(values)
        return at

    def _pop(self, at: int) -> int:
        if self.stack:
            self.stack.pop()
        else:
            self.marked()
        return at

    def _pop_mark(self, at: int) -> int:
        self.marked()
        return at

    def _dup(self, at: int) -> int:
        self.append(self.stack[-1])
        return at

    def _inst(self, at: int) -> int:
        at = self._put_global(at)
        self.marked()
        self.append(OPAQUE)
        return at

    def _obj(self, at: int) -> int:
        self.marked()
        self.append(OPAQUE)
        return at


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
    0x96: "binbytes8",  # BYTEARRAY8
    ord("B"): "binbytes",
    ord("C"): "short_binbytes",
    ord("T"): "binstring",
    0x8B: "binbytes",  # LONG4
    ord("I"): "int",
    ord("L"): "long",
    ord("F"): "float",
    ord("S"): "string",
    ord("V"): "unicode",
    ord("p"): "put",
    ord("g"): "get",
    ord("l"): "list",
    ord("d"): "dict",
    ord("0"): "pop",
    ord("1"): "pop_mark",
    ord("2"): "dup",
    ord("i"): "inst",
    ord("o"): "obj",
}
"""The method of each opcode that torch.load refuses, without its underscore."""
