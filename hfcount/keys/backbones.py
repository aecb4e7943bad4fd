"""Backbones: which of their stages they give out."""

from hfcount.mapper import Config


def given_out(c: Config, stages: int) -> dict[str, int]:
    """Traits `out.N`, for the stages that a backbone gives out, from 1; the stem is 0.

    By out_features, else out_indices, else the last.
    """
    names = ["stem", *(f"stage{number + 1}" for number in range(stages))]
    features, places = c.strs("out_features"), c.ints("out_indices")
    if any(name not in names for name in features) or any(not -len(names) <= place < len(names) for place in places):
        raise c.error(f"out_features and out_indices may name {', '.join(names)}.", "out_features", "Correct them.")
    places = [names.index(name) for name in features] or [place % len(names) for place in places] or [stages]
    return {f"out.{place}": 1 for place in places}
