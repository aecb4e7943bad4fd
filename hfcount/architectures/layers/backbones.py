"""Backbones: the stages whose features another model uses."""

from collections.abc import Sequence
from itertools import pairwise

from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.text import printable


def features(c: Config, stages: int) -> list[int]:
    """Numbers of the stages that a backbone outputs, in order; the stem is 0, the first stage 1.

    From out_features or out_indices, which must agree if both are present; else the last stage.
    """
    choices = [_numbers(c, stages)] if c.given("out_features") else []
    if c.given("out_indices"):
        places = c.ints("out_indices")
        if any(not -stages - 1 <= place <= stages for place in places):
            raise c.error(
                "out-of-range", f"out_indices may name -{stages + 1:,} to {stages:,}.", "out_indices", "Correct it."
            )
        choices.append([place % (stages + 1) for place in map(int, places)])
    for chosen in choices:
        if chosen != choices[0] or any(number >= other for number, other in pairwise(chosen)):
            wanted = "out_features and out_indices must name the same stages, each once and in order."
            raise c.error(
                "contradiction", wanted, "out_features" if c.given("out_features") else "out_indices", "Correct them."
            )
    return choices[0] if choices else [int(stages)]


def _numbers(c: Config, stages: int) -> list[int]:
    """Numbers of the stages in out_features: stem, stage1, stage2 ..."""
    numbers = []
    for name in c.strs("out_features"):
        number = "0" if name == "stem" else name.removeprefix("stage")
        known = name == "stem" or (f"stage{number}" == name and number.isdecimal() and number[0] != "0")
        if not (known and number.isascii() and len(number) < 20 and int(number) <= stages):
            raise c.error(
                "unknown-kind",
                f"out_features may name stem and stage1 to stage{stages:,}.",
                "out_features",
                "Correct it.",
            )
        numbers.append(int(number))
    return numbers


NAMED_STEMS = ("stem", "act", "act1", "relu")


def chosen(c: Config) -> list[int]:
    """Numbers of the features that a backbone outputs: 0 is the stem; -1, the last, if the config names none."""
    names = c.strs("out_features")
    if not names:
        return [int(place) for place in c.ints("out_indices")] or [-1]
    numbers = []
    for name in names:
        number = name.lstrip("abcdefghijklmnopqrstuvwxyz.") or "0"
        if name not in NAMED_STEMS and not (number.isdecimal() and len(number) < 9):
            raise c.error("unknown-kind", "out_features must be names of stages.", "out_features")
        numbers.append(0 if name in NAMED_STEMS else int(number))
    if numbers != sorted(set(numbers)):
        raise c.error("list-length", "out_features must name each stage once, in order.", "out_features", "Correct it.")
    return numbers


def channels(places: list[int], backbone: Spec) -> list[int]:
    """Widths (channels) of the features `places` of a backbone."""
    stages = [part.layer.stage_width for part in backbone.layers if part.layer.stage_width is not None]
    if not stages:
        return [backbone.hidden for _ in places]
    widths = backbone.features or (stages[0], *stages)
    selected = [widths[place] for place in places if -len(widths) <= place < len(widths)]
    return selected or [backbone.hidden]


def outputs(c: Config, stages: Sequence[str]) -> list[int]:
    """Numbers of the stages that a backbone outputs: by out_features, out_indices, or else the last."""
    named = c.strs("out_features")
    for name in named:
        if name not in stages:
            raise c.error(
                "unknown-kind",
                f"out_features names {printable(name, 40)}, which is no stage.",
                "out_features",
                observed=name,
            )
    given = [stages.index(name) for name in named] if named else [int(place) for place in c.ints("out_indices")]
    if any(not -len(stages) <= place < len(stages) for place in given):
        raise c.error("out-of-range", f"out_indices must be below {len(stages):,}.", "out_indices")
    none = not (c.given("out_features") or c.given("out_indices"))
    return [len(stages) - 1] if none and not given else [place % len(stages) for place in given]


def only(c: Config, backbone: Spec, known: str) -> Spec:
    """The backbone, if its type is `known`, the only one that this architecture is described with.

    Raises:
        UnknownArchitecture: it has another type.
    """
    if backbone.family != known:
        raise UnknownArchitecture(f"{c.where}: {c.family} is described with a backbone of type {known} alone.")
    return backbone.replace(head="backbone")
