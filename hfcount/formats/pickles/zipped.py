"""Files of torch.save since 1.6: zip archives of a pickle and a record for each storage."""

from dataclasses import replace

from hfcount.errors import DocumentError
from hfcount.formats.pickles.opcodes import unpickle
from hfcount.formats.pickles.state_dict import MAX_PICKLE, Pickle, assemble, tensors_on, unreadable
from hfcount.formats.pickles.stream import Cut, PickleContents, Stream
from hfcount.formats.pickles.values import Malformed, Storage
from hfcount.formats.window import Window
from hfcount.formats.zip import TAIL, Archive, read_archive
from hfcount.text import printable

_AGAIN = "Upload or download it again."
_LAST_VERSION = 10  # of the format of archives that torch reads
_FIRST = (65_536, 4_000_000)  # bytes at the beginning of a file that is cut off, in which its pickle is looked for
_OVERHEAD = 1_024  # bytes of an archive for each storage, at most, beside the storage itself
_LOCAL_HEADER = 30  # bytes, and the name and the padding after it


def read_zipped(name: str, window: Window) -> Pickle:
    """What an archive of torch.save holds.

    Raises:
        DocumentError: HF004, it is cut off; HF003, it cannot be as it is.
    """
    where = printable(name)
    archive = read_archive(where, window)
    if archive is None:
        raise _cut(name, window)
    root = _root(archive)
    raw = archive.content(window, f"{root}/data.pkl", MAX_PICKLE)
    contents = PickleContents()
    try:
        value, _ = unpickle(Stream(raw), 0, contents)
    except Cut:
        raise DocumentError(f"{where}: its pickle of {len(raw):,} bytes has no end.", "HF003") from None
    except Malformed as error:
        raise unreadable(where, error) from None
    _check_small_records(archive, window, root)
    pickle = assemble(name, window.size, value, contents, trailing=window.size - archive.end)
    return _with_records(pickle, archive, root, window)


def _root(archive: Archive) -> str:
    """The folder of the archive that all of it lies in, as torch finds it: by the first record."""
    names = archive.records
    root, slash, _ = next(iter(names), "").partition("/")
    outside = next((name for name in names if not name.startswith(f"{root}/")), None)
    if not slash or outside is not None:
        odd = printable(outside or root)
        raise DocumentError(
            f"{archive.where}: {odd} lies outside of the archive's folder, so that torch refuses it.", "HF003"
        )
    if f"{root}/constants.pkl" in names:
        raise DocumentError(
            f"{archive.where} is a TorchScript archive, with code in it: torch.load refuses it by default.",
            "HF003",
            fix="Load it with torch.jit.load if you trust it, and save its state_dict().",
        )
    for needed in ("data.pkl", "version"):
        if f"{root}/{needed}" not in names:
            raise DocumentError(
                f"{archive.where} is a ZIP archive without the record {needed} that torch.save writes.", "HF003"
            )
    return root


def _check_small_records(archive: Archive, window: Window, root: str) -> None:
    """Raises DocumentError for what torch refuses of records beside the pickle, as far as these were read by now."""
    order = archive.peek(window, f"{root}/byteorder")
    if order not in (None, b"little", b"big"):
        raise DocumentError(
            f"{archive.where}: its record byteorder is {printable(repr(order), 60)}, neither little nor big.", "HF003"
        )
    step = archive.peek(window, f"{root}/.storage_alignment")
    if step is not None and not step.strip()[:20].isdigit():
        raise DocumentError(
            f"{archive.where}: its record .storage_alignment is {printable(repr(step), 60)}, no number.", "HF003"
        )
    version = archive.peek(window, f"{root}/version")
    number = version and version.strip()[:20]
    if number and not (number.isdigit() and 1 <= int(number) <= _LAST_VERSION):
        raise DocumentError(
            f"{archive.where} has version {printable(repr(number), 60)}; torch reads 1 to {_LAST_VERSION}.", "HF003"
        )


def _with_records(pickle: Pickle, archive: Archive, root: str, window: Window) -> Pickle:
    """The same with what the directory says of the storages.

    Raises:
        DocumentError: HF003, a storage is absent or too short.
    """
    longer, compressed, begins = list[str](), list[str](), dict[str, int]()
    for key, storage in pickle.storages.items():
        record = archive.records.get(f"{root}/data/{key}")
        if record is None or record.size < storage.bytes:
            raise _lacks(pickle, archive, storage, None if record is None else record.size)
        archive.check_place(window, f"{root}/data/{key}")
        begins[key] = record.offset
        if record.size > storage.bytes:
            longer.append(key)
        if record.compressed:
            compressed.append(key)
    return replace(pickle, longer=tuple(longer), compressed=tuple(compressed), begins=begins)


def _lacks(pickle: Pickle, archive: Archive, storage: Storage, size: int | None) -> DocumentError:
    held = tensors_on(pickle.tensors, {storage.key})
    what = "is not in the archive" if size is None else f"has {size:,} bytes in the archive, and is to have"
    more = "" if size is None else f" {storage.bytes:,}"
    return DocumentError(
        f"{archive.where}: the storage {printable(storage.key)} {what}{more}. It holds {held}.",
        "HF003",
        file=pickle.name,
        expected=storage.bytes,
        observed=size,
        fix=_AGAIN,
    )


def _cut(name: str, window: Window) -> DocumentError:
    """The error for an archive without its end, with what its pickle, at the beginning, says was to come."""
    where, size = printable(name), window.size
    message = f"{where} is cut off: the directory that ends each archive is not there"
    if not window.range(size - 4_096, size).strip(b"\0"):
        message += ", and its last bytes are zeros, as of a download that was never finished"
    first = _first_pickle(name, window)
    if first is None:
        return DocumentError(f"{message}. It has {size:,} bytes.", "HF004", file=name, observed=size, fix=_AGAIN)
    pickle, end = first
    lost = set[str]()
    for storage in pickle.storages.values():  # they follow the pickle, in this order, with some bytes between them
        end += storage.bytes
        if end > size:
            lost.add(storage.key)
    if size > end + TAIL + _OVERHEAD * len(pickle.storages):
        return DocumentError(
            f"{where} has {size:,} bytes, of which its tensors take {end:,}, and the directory that ends each archive"
            f" is not in the last {TAIL:,}: something else follows it.",
            "HF004",
            file=name,
            observed=size,
            fix=_AGAIN,
        )
    message += f". It has {size:,} bytes, and is to have at least {end:,}."
    if lost:
        message += f" Beyond its end lies what holds {tensors_on(pickle.tensors, lost)}."
    return DocumentError(message, "HF004", file=name, expected=end, observed=size, fix=_AGAIN)


def _first_pickle(name: str, window: Window) -> tuple[Pickle, int] | None:
    """The pickle at the beginning of an archive and where it ends; None if it cannot be read."""
    for length in _FIRST:
        raw = window.range(0, length)
        begin = _LOCAL_HEADER + int.from_bytes(raw[26:28], "little") + int.from_bytes(raw[28:30], "little")
        if not raw[_LOCAL_HEADER:begin].partition(b"/")[2].startswith(b"data.pkl"):
            return None
        contents = PickleContents()
        try:
            value, end = unpickle(Stream(raw), begin, contents)
            return assemble(name, window.size, value, contents), end
        except (Malformed, DocumentError):
            return None
        except Cut:
            continue
    return None
