"""Backbones: which of their stages they give out."""

from itertools import pairwise

from hfcount.mapper import Config


def features(c: Config, stages: int) -> list[int]:
    """The stages that a backbone gives out, from 1, in their order; the stem is 0.

    By out_features, else out_indices, which must say the same if both do; else the last.
    """
    said = [_numbers(c, stages)] if c.given("out_features") else []
    if c.given("out_indices"):
        places = c.ints("out_indices")
        if any(not -stages - 1 <= place <= stages for place in places):
            raise c.error(
                "out-of-range", f"out_indices may name -{stages + 1:,} to {stages:,}.", "out_indices", "Correct it."
            )
        said.append([place % (stages + 1) for place in map(int, places)])
    for chosen in said:
        if chosen != said[0] or any(one >= other for one, other in pairwise(chosen)):
            wanted = "out_features and out_indices must name the same stages, each once and in order."
            raise c.error(
                "contradiction", wanted, "out_features" if c.given("out_features") else "out_indices", "Correct them."
            )
    return said[0] if said else [int(stages)]


def _numbers(c: Config, stages: int) -> list[int]:
    """The stages that out_features names: stem, stage1, stage2 ..."""
    found = []
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
        found.append(int(number))
    return found
