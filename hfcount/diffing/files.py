"""Compares the files of both sides by checksum."""

from collections.abc import Iterable, Mapping

from hfcount.diffing.pieces import FileSums
from hfcount.errors import FetchError, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.checksums import Content, Contents, contents
from hfcount.text import printable

WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".npz")
"""Suffixes of weight files."""

_LISTED = 200  # names of files that a report has


def known(request: Request | HfcountError) -> Contents | None:
    """The checksums of a side's files, if known without reading them."""
    if isinstance(request, HfcountError):
        return None
    try:
        return contents(request)
    except FetchError:  # whoever looks at it says why
        return None


def compare(a: Contents | None, b: Contents | None) -> FileSums | None:
    """Compares checksums; None if no weight file could be compared."""
    if a is None or b is None:
        return None
    matches = {name: content.same(b.files[name]) for name, content in a.files.items() if name in b.files}
    only_a, only_b = _beyond(a, b), _beyond(b, a)
    moved = _moved(only_a, only_b)
    identical = [*(name for name, same in matches.items() if same), *moved]
    if not moved and all(same is None for name, same in matches.items() if name.endswith(WEIGHTS)):
        return None
    return FileSums(
        identical=len(identical),
        differing=_names(name for name, same in matches.items() if same is False),
        only_a=_names(only_a.keys() - moved.keys()),
        only_b=_names(only_b.keys() - {*moved.values()}),
        unknown=_names(name for name, same in matches.items() if same is None),
        weights=_weights(identical),
        of=max(_weights(side.files) for side in (a, b)),
    )


def _beyond(contents: Contents, other: Contents) -> dict[str, Content]:
    return {name: content for name, content in contents.files.items() if name not in other.files}


def _weights(names: Iterable[str]) -> int:
    return sum(name.endswith(WEIGHTS) for name in names)


def _moved(a: Mapping[str, Content], b: Mapping[str, Content]) -> dict[str, str]:
    """Weight files with equal content under different names."""
    moved: dict[str, str] = {}
    for name, content in a.items():
        free = (key for key in b if _beside(name, key) and key not in moved.values())
        others = (key for key in free if content.same(b[key]))
        if name.endswith(WEIGHTS) and (other := next(others, None)):
            moved[name] = other
    return moved


def _beside(name: str, other: str) -> bool:
    """Whether two files of weights are in the same folder."""
    return other.endswith(WEIGHTS) and name.rpartition("/")[0] == other.rpartition("/")[0]


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(printable(name) for name in sorted(names)[:_LISTED])
