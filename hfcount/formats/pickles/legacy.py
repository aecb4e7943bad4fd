"""Files of torch.save before 1.6: pickles one after another, then each storage behind the number of its elements."""

from dataclasses import replace
from typing import Any

from hfcount.errors import DocumentError
from hfcount.formats.pickles.opcodes import unpickle
from hfcount.formats.pickles.state_dict import MAX_PICKLE, Pickle, assemble, tensors_on, unreadable
from hfcount.formats.pickles.stream import MARGIN, Cut, PickleContents, Stream
from hfcount.formats.pickles.values import Beyond, Malformed
from hfcount.formats.window import Window
from hfcount.text import plural, printable

_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_COUNT = 8  # bytes before each storage: the number of its elements
_FIRST = 65_536
_PROTO = b"\x80"  # which begins each pickle since protocol 2
_AGAIN = "Upload or download it again."


def read_legacy(name: str, window: Window) -> Pickle:
    """What a file in the format before torch 1.6 holds.

    Raises:
        DocumentError: HF004, it is cut off; HF003, it is no such file, or cannot be as it is.
    """
    where = printable(name)

    def more(end: int) -> bytes:
        if end > window.size + MARGIN:
            raise Cut
        if end > MAX_PICKLE:
            raise Beyond(f"goes on for more than {MAX_PICKLE:,} bytes, the most that are read")
        length = _FIRST
        while length < end:
            length *= 2
        return window.range(0, length)

    try:
        return _read(name, window, Stream(window.range(0, _FIRST), more))
    except Cut:
        raise DocumentError(
            f"{where} is cut off: it has {plural(window.size, 'byte')}, and ends within its pickles.",
            "HF004",
            file=name,
            observed=window.size,
            fix=_AGAIN,
        ) from None
    except Malformed as error:
        raise unreadable(where, error) from None


def _read(name: str, window: Window, stream: Stream) -> Pickle:
    contents = PickleContents()
    value, place = _header(name, stream, contents)
    if place is None:  # a pickle of something else, which asks for more than weights do
        return assemble(name, window.size, value, contents, legacy=True)
    value, place = unpickle(stream, place, contents)
    keys, place = unpickle(stream, place, contents)
    pickle = assemble(name, window.size, value, contents, legacy=True)
    return _with_data(pickle, window, keys, place)


def _header(name: str, stream: Stream, contents: PickleContents) -> tuple[Any, int | None]:
    """The value of the first pickle, and where that of the weights begins; None if there is none.

    Raises:
        DocumentError: HF003, torch.save did not write it.
    """
    try:
        magic, place = unpickle(stream, 0, contents)
    except (Cut, Malformed) as error:
        if contents.refused:
            return None, None
        if isinstance(error, Cut) and stream.raw.startswith(_PROTO):
            raise
        raise DocumentError(
            f"{printable(name)} is no file of torch.save: it begins with {printable(repr(stream.raw[:16]), 80)}.",
            "HF003",
        ) from None
    if type(magic) is not int or magic != _MAGIC:
        if contents.refused:
            return magic, None
        raise DocumentError(
            f"{printable(name)} is a pickle that torch.save did not write, so that torch.load refuses it.", "HF003"
        )
    version, place = unpickle(stream, place, contents)
    if type(version) is not int or version != _PROTOCOL:
        raise Malformed(f"is to have version {_PROTOCOL:,} of the format, and does not")
    return None, unpickle(stream, place, contents)[1]  # the system that wrote it


def _with_data(pickle: Pickle, window: Window, keys: Any, begin: int) -> Pickle:
    """The same with what lies behind the pickles.

    Raises:
        DocumentError: HF004, the file ends before the storages do; HF003, they are not those of the tensors.
    """
    where = printable(pickle.name)
    if type(keys) is not list or any(type(key) is not str or key not in pickle.storages for key in keys):
        raise Malformed("lists storages that no tensor has")
    unlisted = pickle.storages.keys() - set(keys)
    if unlisted:
        raise DocumentError(
            f"{where} does not hold {plural(len(unlisted), 'storage')} of {len(pickle.storages):,}, of"
            f" {tensors_on(pickle.tensors, unlisted)}: torch.load leaves these as they come.",
            "HF003",
        )
    end, past, begins = begin, set[str](), dict[str, int]()
    for key in keys:
        storage = pickle.storages[key]
        count = window.peek(end, end + _COUNT)
        if count is not None and len(count) == _COUNT and int.from_bytes(count, "little") != storage.elements:
            raise DocumentError(
                f"{where}: the storage {printable(key)} says at byte {end:,} that it has"
                f" {int.from_bytes(count, 'little'):,} elements, and the pickle says {storage.elements:,}.",
                "HF003",
                expected=storage.elements,
            )
        begins[key] = end + _COUNT
        end += _COUNT + storage.bytes
        if end > window.size:
            past.add(key)
    if past:
        raise DocumentError(
            f"{where} is cut off: it has {window.size:,} bytes, and is to have {end:,}. Beyond its end lies what holds"
            f" {tensors_on(pickle.tensors, past)}.",
            "HF004",
            file=pickle.name,
            expected=end,
            observed=window.size,
            fix=_AGAIN,
        )
    return replace(pickle, trailing=window.size - end, begins=begins)
