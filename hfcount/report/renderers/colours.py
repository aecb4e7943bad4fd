"""Colours of components and verdicts in all drawings."""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Colour(NamedTuple):
    """A component's fill, the colour of text on it, and a hatch for print."""

    fill: str
    ink: str
    hatch: str = ""


COLOURS: Mapping[str, Colour] = {
    "embedding": Colour("#0077bb", "#ffffff"),
    "attention": Colour("#ee6677", "#000000"),
    "linear_attention": Colour("#ffaabb", "#000000", "////"),
    "ssm": Colour("#882e72", "#ffffff", "\\\\\\\\"),
    "mlp": Colour("#228833", "#ffffff"),
    "convolution": Colour("#bbcc33", "#000000", "oooo"),
    "experts": Colour("#e69f00", "#000000"),
    "router": Colour("#aa4499", "#ffffff"),
    "norm": Colour("#999999", "#000000"),
    "lm_head": Colour("#88ccee", "#000000"),
    "mtp": Colour("#eedd88", "#000000"),
    "vision": Colour("#6699cc", "#000000", "xxxx"),
    "audio": Colour("#332288", "#ffffff", "...."),
    "projector": Colour("#f7f056", "#000000", "++++"),
    "other": Colour("#5f5f5f", "#ffffff", "----"),
}
"""In the order in which components are stacked. The fills are from Okabe and Ito's and Paul Tol's palettes: all differ
for colour-blind readers, and neighbours differ in lightness, for print without colour."""

VERDICTS: Mapping[str, Colour] = {
    "verified": Colour("#228833", "#ffffff"),
    "explained": Colour("#bbcc33", "#000000", "////"),
    "allowed": Colour("#eedd88", "#000000", "...."),
    "mismatch": Colour("#cc3311", "#ffffff", "xxxx"),
    "unverified": Colour("#e69f00", "#000000", "\\\\\\\\"),
    "skipped": Colour("#bbbbbb", "#000000"),
}
"""Colours of verdicts, for counts of checkpoints."""

ALL: Mapping[str, Colour] = {**COLOURS, **VERDICTS}

_PARTS: Mapping[str, str] = {
    r"vae|vqvae|movq|autoencoder": "convolution",
    r"controlnet|adapter": "projector",
    r"text|language|tokenizer": "embedding",
    r"image|vision|safety": "vision",
    r"audio|voc|speech": "audio",
    r"transformer|unet|denois": "attention",
    r"prior|decoder|connector": "mlp",
}
"""The components whose colours the parts of a pipeline have, by words in their names."""


def role(name: str) -> str:
    """The component whose colour a component or a part of a pipeline has."""
    if name in COLOURS:
        return name
    return next((component for words, component in _PARTS.items() if re.search(words, name)), "other")
