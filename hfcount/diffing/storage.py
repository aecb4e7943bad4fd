"""Relations of storage: dtype, packing, names, and kind of file."""

from collections import Counter
from collections.abc import Iterator

from hfcount.diffing.comparison import Comparison
from hfcount.diffing.contents import is_rounded
from hfcount.diffing.matching import Matches
from hfcount.diffing.pieces import Relation
from hfcount.formats.dtypes import FLOATING, INTEGERS
from hfcount.text import plural

_CONTAINERS = {"pickle": "pickled files", "gguf": "GGUF", "adapter": "an adapter"}


def containers(c: Comparison) -> Iterator[Relation]:
    """The relation for files of another format."""
    kinds = [loaded.inspection.evidence.container if loaded.inspection else None for loaded in (c.a, c.b)]
    if kinds[0] != kinds[1]:
        names = [_CONTAINERS.get(kind or "", kind or "safetensors") for kind in kinds]
        yield Relation(kind="container", text=f"is stored as {names[1]}, A as {names[0]}")


Pairs = Counter[tuple[str, str]]
"""The number of tensors by (dtype in A, dtype in B)."""


def dtypes(c: Comparison, matched: Matches) -> Iterator[Relation]:
    """Relations for casts and quantisation."""
    pairs: Pairs = Counter((tensor.dtype or "", other.dtype or "") for tensor, other in matched.dtypes.values())
    packed = Counter({pair: count for pair, count in pairs.items() if not {*pair} <= FLOATING | INTEGERS})
    casts = pairs - packed
    schemes = c.packing
    is_ = "is A" if c.values is not None and is_rounded(c.values) and not c.values.uncompared else "is"
    if any(schemes) and schemes[0] != schemes[1]:
        yield _packed(schemes, packed, is_)
    elif packed:
        yield _typed(packed, is_)
    if casts:
        yield _cast(casts, len(matched.both), "is also cast" if any(schemes) else f"{is_} cast")


def _packed(schemes: tuple[str, str], packed: Pairs, is_: str) -> Relation:
    """The relation for different schemes, or a scheme on one side only."""
    a, b = schemes
    if a and b:
        return Relation(kind="requantised", text=f"is quantised with {b}, A with {a}")
    if a:
        text = f"is A with its {a} weights unpacked" if is_ == "is A" else f"is not quantised, while A is, with {a}"
        return Relation(kind="dequantised", text=text)
    many = sum(packed.values())
    return Relation(kind="quantised", text=f"{is_} quantised: {b}, {many:,} {'matrix' if many == 1 else 'matrices'}")


def _typed(packed: Pairs, is_: str) -> Relation:
    """The relation for packed dtypes, such as GGML types."""
    count = sum(packed.values())
    if all(before in FLOATING for before, _ in packed):
        types = ", ".join(dict.fromkeys(other for _, other in packed))
        return Relation(kind="quantised", text=f"{is_} quantised: {types}, {plural(count, 'tensor')}")
    if all(other in FLOATING for _, other in packed):
        text = f"{'is A with' if is_ == 'is A' else 'has'} {plural(count, 'tensor')} unpacked"
        return Relation(kind="dequantised", text=text)
    changes = ", ".join(f"{count:,} from {old} to {new}" for (old, new), count in packed.items())
    return Relation(kind="requantised", text=f"stores tensors in other dtypes: {changes}")


def _cast(casts: Pairs, tensors: int, verb: str) -> Relation:
    """The relation for casts; `verb` is used if most tensors are cast to one dtype."""
    targets = {other for _, other in casts}
    if len(targets) == 1 and ("otherwise" in verb or sum(casts.values()) * 2 > tensors):
        return Relation(kind="cast", text=f"{verb} to {targets.pop()}")
    changes = ", ".join(f"{plural(count, 'tensor')} from {old} to {new}" for (old, new), count in casts.items())
    return Relation(kind="cast", text=f"casts {changes}")


def spelling(c: Comparison, matched: Matches) -> Iterator[Relation]:
    """Relations for renamed, fused or duplicated tensors."""
    if renamed := len(matched.renamed):
        yield Relation(kind="spelling", text=f"has other names or layouts for {plural(renamed, 'tensor')}")
    a, b = (len(tensors.copies) if tensors else 0 for tensors in c.inventories)
    if a != b:
        which = f"{plural(abs(a - b), 'tensor')} that the model does not need"
        text = f"also stores {which}" if b > a else f"leaves out {which}"
        yield Relation(kind="spelling", text=f"{text}: copies of tied ones, or obsolete ones")
