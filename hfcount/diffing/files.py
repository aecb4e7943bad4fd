"""The files of both sides, by their checksums."""

from collections.abc import Iterable, Mapping

from hfcount.diffing.pieces import FileSums
from hfcount.errors import FetchError, HfcountError
from hfcount.fetcher import Request
from hfcount.fetcher.checksums import Content, Contents, contents
from hfcount.text import printable

WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth", ".npz")
"""Ends of the names of files that hold weights."""

_LISTED = 200  # names of files that a report has


def known(request: Request | HfcountError) -> Contents | None:
    """What the files of a side contain, as far as that can be told without reading them."""
    if isinstance(request, HfcountError):
        return None
    try:
        return contents(request)
    except FetchError:  # whoever looks at it says why
        return None


def compare(a: Contents | None, b: Contents | None) -> FileSums | None:
    """How many are the same; None where the checksums of neither weights nor all other files are known."""
    if a is None or b is None:
        return None
    both = [name for name in a.files if name in b.files]
    told = {name: a.files[name].same(b.files[name]) for name in both}
    only_a, only_b = ([name for name in one.files if name not in other.files] for one, other in ((a, b), (b, a)))
    moved = _moved({name: a.files[name] for name in only_a}, {name: b.files[name] for name in only_b})
    identical = [*(name for name in both if told[name]), *moved]
    if not any(name.endswith(WEIGHTS) and told[name] is not None for name in both) and not moved:
        return None
    return FileSums(
        identical=len(identical),
        differing=_names(name for name in both if told[name] is False),
        only_a=_names(name for name in only_a if name not in moved),
        only_b=_names(name for name in only_b if name not in moved.values()),
        unknown=_names(name for name in both if told[name] is None),
        weights=sum(name.endswith(WEIGHTS) for name in identical),
        of=max(sum(name.endswith(WEIGHTS) for name in one.files) for one in (a, b)),
    )


def _moved(a: Mapping[str, Content], b: Mapping[str, Content]) -> dict[str, str]:
    """Weight files of the same content under other names."""
    found: dict[str, str] = {}
    for name, one in a.items():
        others = (key for key, two in b.items() if _beside(name, key) and key not in found.values() and one.same(two))
        if name.endswith(WEIGHTS) and (other := next(others, None)):
            found[name] = other
    return found


def _beside(name: str, other: str) -> bool:
    """Whether two files of weights are in the same folder."""
    return other.endswith(WEIGHTS) and name.rpartition("/")[0] == other.rpartition("/")[0]


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(printable(name) for name in sorted(names)[:_LISTED])
