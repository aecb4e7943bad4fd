"""How B stores what A stores otherwise: in another dtype, packed, under other names, in another kind of file."""

from collections import Counter
from collections.abc import Iterator

from hfcount.diffing.compared import Compared
from hfcount.diffing.matching import Matched
from hfcount.diffing.pieces import Relation
from hfcount.storage.dtypes import FLOATING, INTEGERS
from hfcount.text import plural

_CONTAINERS = {"pickle": "pickled files", "gguf": "GGUF", "adapter": "an adapter"}


def containers(c: Compared) -> Iterator[Relation]:
    """Files of another form."""
    kinds = [one.inspection.evidence.container if one.inspection else None for one in (c.a, c.b)]
    if kinds[0] != kinds[1]:
        names = [_CONTAINERS.get(kind or "", kind or "safetensors") for kind in kinds]
        yield Relation(kind="container", text=f"is stored as {names[1]}, and A as {names[0]}")


def dtypes(c: Compared, matched: Matched) -> Iterator[Relation]:
    """Casts, and what is packed."""
    pairs = Counter((one.dtype or "", other.dtype or "") for one, other in matched.dtypes.values())
    a, b = c.packing
    packed = {pair: count for pair, count in pairs.items() if not {*pair} <= FLOATING | INTEGERS}
    count = sum(packed.values())
    if a and b and a != b:
        yield Relation(kind="requantised", text=f"is quantised with {b}, and A with {a}")
    elif b and not a:
        yield Relation(
            kind="quantised", text=f"is A quantised: {b}, {plural(count, 'matrix').replace('matrixs', 'matrices')}"
        )
    elif a and not b:
        yield Relation(kind="dequantised", text=f"is A with its {a} weights unpacked")
    elif packed and all(one in FLOATING for one, _ in packed):
        types = ", ".join(dict.fromkeys(other for _, other in packed))
        yield Relation(kind="quantised", text=f"is A quantised: {types}, {plural(count, 'tensor')}")
    elif packed and all(other in FLOATING for _, other in packed):
        yield Relation(kind="dequantised", text=f"is A with {plural(count, 'tensor')} unpacked")
    elif packed:
        said = ", ".join(f"{number:,} from {one} to {other}" for (one, other), number in packed.items())
        yield Relation(kind="requantised", text=f"stores tensors otherwise: {said}")
    casts = {pair: number for pair, number in pairs.items() if pair not in packed}
    if len({other for _, other in casts}) == 1 and (a or b or sum(casts.values()) * 2 > len(matched.both)):
        target = next(iter(casts))[1]
        yield Relation(kind="cast", text=f"is A cast to {target}" if not (a or b) else f"is otherwise cast to {target}")
    elif casts:
        said = ", ".join(f"{plural(number, 'tensor')} from {one} to {other}" for (one, other), number in casts.items())
        yield Relation(kind="cast", text=f"casts {said}")


def spelling(c: Compared, matched: Matched) -> Iterator[Relation]:
    renamed = len(matched.renamed)
    copies = [len(one.copies) if one else 0 for one in c.inventories]
    if renamed:
        yield Relation(kind="spelling", text=f"names or lays out {plural(renamed, 'tensor')} otherwise")
    if copies[0] != copies[1]:
        who, more = ("A", copies[0]) if copies[0] > copies[1] else ("B", copies[1])
        text = (
            "stores no copies of tied or obsolete tensors, and A does"
            if who == "A"
            else (
                f"also stores {plural(more - copies[0], 'copy').replace('copys', 'copies')} of tied or obsolete tensors"
            )
        )
        yield Relation(kind="spelling", text=text)
