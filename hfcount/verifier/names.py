"""Matches the names in a checkpoint with those of the blueprint."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from hfcount.spec.tree.leaves import Finder, Leaf
from hfcount.verifier.folded_names import fold, fold_all
from hfcount.verifier.match import Match

if TYPE_CHECKING:
    from hfcount.spec.tree.spellings import Spellings
    from hfcount.verifier.wrappers import Wrapped


_NONE: Mapping[int, Sequence[str]] = {}
_SAMPLE = 100  # names under a prefix that are looked at before all are


def match(
    leaves: Collection[Leaf],
    names: Collection[str],
    undescribed: tuple[str, ...] = (),
    spellings: "Callable[[], Spellings] | None" = None,
    files: Mapping[str, str] | None = None,
    kept: Mapping[int, Sequence[str]] = _NONE,
) -> Match:
    """Compares the names of a checkpoint with a blueprint's leaves.

    Args:
        names: a set or mapping; unexpected names keep its order.
        undescribed: prefixes of parts that are not described; names under them are ignored.
        spellings: gives other names that the reference takes; only called if names differ.
        files: the file of each name, to be counted while names are looked up, which costs little then.
        kept: names of leaves by the leaf's `id`, as far as they are kept.
    """
    if undescribed:
        names = dict.fromkeys(name for name in names if not name.startswith(undescribed))
    result = _match(leaves, names, files=files, kept=kept)
    if result.unexpected:
        from hfcount.spec.tree.spellings import Spellings  # most checkpoints have the blueprint's names

        known = spellings() if spellings else Spellings()
        plain, result = result, _respelled(result, leaves, names, known)
        if result.unexpected:
            result = _unwrapped(plain, result, leaves, names, known)
        if undescribed:
            besides = tuple(map(known.common, undescribed))
            result.unexpected = [name for name in result.unexpected if not known.common(name).startswith(besides)]
    return result


def set_heads_apart(match: Match, leaves: Collection[Leaf], other_heads: Collection[Leaf]) -> None:
    """Moves the heads of other classes of the architecture from `unexpected` to `heads`.

    Args:
        leaves: those of the config's class. What only another class has within a module of theirs is no head.
        other_heads: leaves that only other classes have.
    """
    modules, unexpected = {leaf.segments[:-1] for leaf in leaves}, set(match.unexpected)
    match.heads = [leaf for leaf in other_heads if leaf.name in unexpected and leaf.segments[:-1] not in modules]
    stored = {leaf.name for leaf in match.heads}
    match.unexpected = [name for name in match.unexpected if name not in stored]


def _respelled(match: Match, leaves: Collection[Leaf], names: Collection[str], spellings: "Spellings") -> Match:
    """The match with the names that the reference takes for others."""
    from hfcount.verifier.spelling import respell

    taken = respell(match.listed, names, match.unexpected, spellings)
    if not taken.names:
        return match
    gone = {id(leaf) for swap in taken.swaps for leaf in swap.described}
    stored = [leaf for leaf in leaves if id(leaf) not in gone] + [leaf for swap in taken.swaps for leaf in swap.stored]
    result = _match(stored, dict.fromkeys(taken.names.get(name, name) for name in names))
    before, swapped = {wanted: name for name, wanted in taken.names.items()}, dict(result.renamed)
    result.renamed = [
        (name, wanted) for name, wanted in taken.names.items() if name != wanted and wanted not in swapped
    ]
    result.renamed += [(before.get(name, name), wanted) for name, wanted in swapped.items()]
    result.swapped = taken.swaps
    return result


def _unwrapped(
    plain: Match, respelled: Match, leaves: Collection[Leaf], names: Collection[str], spellings: "Spellings"
) -> Match:
    """The match of the names without what wrappers have added, if that makes names of the blueprint of them.

    Args:
        plain: the match of the names as they are.
        respelled: that with the names which the reference takes for others.
    """
    from hfcount.verifier.spelling import respell
    from hfcount.verifier.wrappers import Wrapped, outer, peel

    wrapped, bare = peel(plain.unexpected)
    best, added = respelled, set(wrapped.added)
    if wrapped.wrappers:
        tried = _without(wrapped, bare, leaves, names, spellings)
        if wrapped.sure or 2 * len(tried.unexpected) <= len(plain.unexpected):
            best = plain = tried
    if best.missing_count and best.unexpected:
        rest = {name: bare.get(name, name) for name in plain.unexpected if name not in added}
        for prefix in outer(rest.values()):
            inner = {name: old.removeprefix(prefix) for name, old in rest.items() if old.startswith(prefix)}
            some = list(inner.values())[:: len(inner) // _SAMPLE + 1]
            if len(respell(plain.listed, (), some, spellings).names) * 2 < len(some):
                continue  # and a look at all of them would find no more
            around = Wrapped(wrapped.wrappers, prefix, [], wrapped.added, wrapped.flat)
            tried = _without(around, bare | inner, leaves, names, spellings)
            # Most of the names must be those of tensors that would be missing otherwise.
            if tried.differences < min(best.differences, plain.differences - len(inner)):
                best = tried
    return best


def _without(
    wrapped: "Wrapped", bare: dict[str, str], leaves: Collection[Leaf], names: Collection[str], spellings: "Spellings"
) -> Match:
    """The match of the names, some of them replaced by their bare form; two with the same one stay as they are."""
    times = Counter([*bare.values(), *(name for name in names if name not in bare)])
    bare = {name: short for name, short in bare.items() if times[short] == 1}
    added = set(wrapped.added)
    inner = {bare.get(name, name): name for name in names if name not in added}
    result = _respelled(_match(leaves, inner, wrapped.flat), leaves, inner, spellings)
    wanted = {short: name for short, name in result.renamed if inner[short] in bare}
    unknown = set(result.unexpected)
    wrapped.pairs = [(name, wanted.get(short, short)) for name, short in bare.items() if short not in unknown]
    result.renamed = [pair for pair in result.renamed if pair[0] not in wanted]
    result.unexpected = [inner[short] for short in result.unexpected]
    result.wrapped = wrapped if wrapped.pairs or wrapped.added else None
    return result


def _match(
    leaves: Collection[Leaf],
    names: Collection[str],
    flat: tuple[str, ...] = (),
    files: Mapping[str, str] | None = None,
    kept: Mapping[int, Sequence[str]] = _NONE,
) -> Match:
    """Compares names exactly; those that begin with one of `flat` are not missing."""
    result = Match(few=_names_of_large(leaves, names))
    for leaf in leaves:
        _look_for(leaf, result, names, flat, None if result.few else files, kept)
    if sum(count for _, count in result.listed) < len(names):
        rest = set(names).difference(*result.few.values())
        for leaf in leaves:
            if id(leaf) not in result.few:
                rest.difference_update(leaf.names())
        result.unexpected = [name for name in names if name in rest]
    if result.missing_count:
        from hfcount.verifier.substitutes import let_stand_in  # most checkpoints have all names

        let_stand_in(result, names)
    predicting = [(leaf, count) for leaf, count in result.listed if leaf.part == "prediction"]
    if any(count > 0 for _, count in predicting) and any(count != leaf.count for leaf, count in predicting):
        from hfcount.verifier.mtp import set_ordinary_apart  # few checkpoints have them, and fewer in part

        set_ordinary_apart(result, names)
    return result


def _names_of_large(leaves: Collection[Leaf], names: Collection[str]) -> dict[int, list[str]]:
    """The listed names of leaves with more tensors than the checkpoint could have, which are not generated."""
    most = 2 * len(names) + 1_000
    listed: dict[int, list[str]] = {id(leaf): [] for leaf in leaves if leaf.count > most}
    if listed:
        finder = Finder(leaves)
        for name in names:
            if (key := id(finder.find(name))) in listed:
                listed[key].append(name)
    return listed


def _look_for(
    leaf: Leaf,
    result: Match,
    names: Collection[str],
    flat: tuple[str, ...],
    files: Mapping[str, str] | None,
    kept: Mapping[int, Sequence[str]],
) -> None:
    """Adds to the match how many of a leaf's tensors are listed, and which are missing."""
    few = result.few.get(id(leaf))
    if few is not None:
        count, absent = len(few), []
        lacking = int(leaf.count) - count
    else:
        if files is not None:
            result.files.append(Counter(leaf.places(files)))
        all_there = result.files and None not in result.files[-1]
        all_there = all_there or (id(leaf) in kept and all(map(names.__contains__, kept[id(leaf)])))
        absent = [] if all_there else leaf.names_beyond(names)
        count = int(leaf.count) - len(absent)
        absent = [name for name in absent if not name.startswith(flat)] if flat else absent
        lacking = len(absent)
    result.listed.append((leaf, count))
    if lacking and leaf.presence == "required":
        part = f"{leaf.name} ({lacking:,} of {leaf.count:,})" if count else leaf.name
        if few is not None:
            result.missing.append(part)
        else:
            result.missing += [fold_all(leaf)] if lacking == leaf.count else fold(absent)
        result.missing_count += lacking
        result.missing_elements += lacking * leaf.size
