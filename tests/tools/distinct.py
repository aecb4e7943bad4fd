"""Makes the sizes of a config distinct, so that one key read in place of another shows in a shape.

`distinct` changes one number at a time and keeps a change when the judge it is given has nothing against it and the
same kinds of tensors are left. Numbers of layers become small, numbers of heads powers of two (which divide whatever
is made of heads), and widths multiples of them by primes of their own.
"""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import count
from typing import Any

import hfcount
from hfcount.blueprints.build import build
from hfcount.mapper import Config

Json = dict[str, Any]
Path = tuple[str, ...]

SMALL, LARGE = 64, 512  # below: a count, above: a width that heads share
PER_UNIT, DOUBLINGS, DEPTHS = 2, 5, 14  # how many numbers are tried
LAYERS = re.compile(r"(?<!per_)layers?$|depth$|blocks$")
HEADS = re.compile(r"heads?(_kv|_per_layer)?$|(?<!hidden_)groups$")
KEY_VALUE, EXPERTS = re.compile("kv|key_value"), re.compile("experts$")


def sizes(config: Json, way: Path = ()) -> dict[Path, int]:
    """The whole numbers of a config by the way to them; a list of one number again and again counts as that number."""
    found: dict[Path, int] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            found |= sizes(value, (*way, key))
        same = value[0] if isinstance(value, list) and len(value) > 1 and len(set(map(str, value))) == 1 else value
        if type(same) is int and same > 0:
            found[(*way, key)] = same
    return found


def distinct(config: Json, refuses: Callable[[Json], str | None]) -> tuple[Json, dict[str, str]]:
    """The config with the sizes that hfcount reads made distinct; and which are like another all the same, and why.

    A width or count that makes no difference goes, where nobody needs it.

    Args:
        config: one that `refuses` has nothing against.
        refuses: why a changed config is not to be, or None.
    """
    found = _distinct(config, refuses, aside=False)
    return min(found, _distinct(config, refuses, aside=True), key=lambda one: len(one[1])) if found[1] else found


def _distinct(config: Json, refuses: Callable[[Json], str | None], aside: bool) -> tuple[Json, dict[str, str]]:
    """The same; `aside` says whether numbers also step aside for those whose turn is later."""
    read = Config(config)
    build(read)
    kinds, before = _kinds(config), sizes(read.facts())
    order = sorted(before, key=lambda way: (_rank(way), before[way], not KEY_VALUE.search(way[-1]), way))
    reasons: dict[Path, str] = {}

    def against(changed: Json) -> str | None:
        try:
            whole = kinds <= _kinds(changed)
        except hfcount.HfcountError as error:
            return str(error)
        return refuses(changed) if whole else "some kinds of tensors or layers would be gone"

    for again in (False, True):  # what is in the way of a number may have gone after it
        handled: list[Path] = []
        for way in list(order):
            now = sizes(config)
            others = {now[other] for other in (order if again or aside else handled) if other != way}
            handled.append(way)
            for number in _candidates(way, before[way], now, others) if not again or now[way] in others else ():
                changed = _with(config, way, number)
                refused = against(changed)
                if refused is None:
                    if _rank(way) == 2 and changed != config and _means(changed) == _means(config):
                        shorter = _without(config, way)
                        if against(shorter) is None:
                            changed = shorter
                            order.remove(way)
                            handled.remove(way)
                    config = changed
                    break
                reasons.setdefault(way, refused)
    now = sizes(config)
    values = [now[way] for way in order]
    taken = "other sizes have all the numbers that it might become"
    return config, {".".join(way): reasons.get(way, taken) for way in order if values.count(now[way]) > 1}


def _kinds(config: Json) -> set[object]:
    """The names of the tensors without their numbers, each with its component and kind, and the windows of some."""
    blueprint = hfcount.blueprint(config)
    names = {(re.sub(r"\{[^}]*\}|(?<=\.)\d+(?=\.)", "#", row.name), row.role, row.kind) for row in blueprint.rows()}
    spec = blueprint.spec.parts.get("text", blueprint.spec)
    return {*names, *(window.indices.count < spec.depth for window in spec.windows if window.indices.count)}


def _means(config: Json) -> object:
    """All that hfcount makes of a config."""
    blueprint = hfcount.blueprint(config)
    return blueprint.spec, blueprint.rows()


def _without(config: Json, way: Path) -> Json:
    """The config without a key."""
    changed = deepcopy(config)
    part = changed
    for key in way[:-1]:
        part = part[key]
    del part[way[-1]]
    return changed


def _rank(way: Path) -> int:
    return 0 if LAYERS.search(way[-1]) else 1 if HEADS.search(way[-1]) else 2


def _candidates(way: Path, value: int, now: dict[Path, int], others: set[int]) -> Iterator[int]:
    """What a number may become, the best first."""
    if not _rank(way):
        yield from (
            number for number in range(3 if value > 2 else 2, DEPTHS) if number < value and number not in others
        )
    if _rank(way) == 1:
        yield from (2**power for power in range(1, 12) if 2**power not in others)
    elif value < SMALL or not _rank(way):
        if value > 1 and value not in others:
            yield value
        yield from (number for number, _ in zip(_primes(value + 1, others), range(6), strict=False))
    else:
        heads = max((now[other] for other in now if _rank(other) == 1 and other[:-1] == way[:-1]), default=2)
        unit = 4 if value < LARGE or EXPERTS.search(way[-1]) else 2 * heads
        if way[-1] == "image_size":  # patches tile it
            unit = now.get((*way[:-1], "patch_size"), unit)
        floor = max((number for number in others if number < SMALL), default=1)
        used = {prime for number in others for prime in (3, *range(5, 400, 2)) if number % prime == 0}
        for doubled in range(DOUBLINGS):
            step = unit * 2**doubled
            primes = _primes(3, used)
            fitting = (step * prime for prime in primes if step * prime > floor and step * prime not in others)
            yield from (number for number, _ in zip(fitting, range(PER_UNIT), strict=False))


def _primes(start: int, without: set[int]) -> Iterator[int]:
    return (
        number
        for number in count(max(start, 2))
        if number not in without and all(number % other for other in range(2, int(number**0.5) + 1))
    )


def _with(config: Json, way: Path, number: int) -> Json:
    """The config with another number; lists with an entry for each layer become as long as there are layers."""
    changed = deepcopy(config)
    part = changed
    for key in way[:-1]:
        part = part[key]
    before = part[way[-1]]
    part[way[-1]] = [number] * len(before) if isinstance(before, list) else number
    if not _rank(way) and not isinstance(before, list):
        for key, value in part.items():
            beyond = len(value) - before if isinstance(value, list) else -1
            if beyond in (0, 1):  # a list may go on to a layer that predicts a further token
                part[key] = value[: number + beyond]
    return changed
