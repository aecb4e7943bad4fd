"""Models of timm that give the features of their stages to another, by names that say all of them."""

from typing import NamedTuple

from hfcount.keys.sizes import sized
from hfcount.keys.timm import STEM, ResNet, resnet
from hfcount.keys.towers import encoding, stages
from hfcount.mapper import Config
from hfcount.spec import Patches, Spec


class Swin(NamedTuple):
    """A Swin (arXiv:2103.14030).

    Args:
        width: of its first stage.
        third: the number of layers in its third stage; the others have two.
        heads: of its first stage.
        window: the side of its windows.
    """

    width: int
    third: int
    heads: int
    window: int


SWINS = {
    "swin_tiny_patch4_window7_224": Swin(96, 6, 3, 7),
    "swin_small_patch4_window7_224": Swin(96, 18, 3, 7),
    "swin_base_patch4_window7_224": Swin(128, 18, 4, 7),
    "swin_base_patch4_window12_384": Swin(128, 18, 4, 12),
    "swin_large_patch4_window7_224": Swin(192, 18, 6, 7),
    "swin_large_patch4_window12_384": Swin(192, 18, 6, 12),
}

_STAGES, _SIDE = 4, 4  # how many stages there are, and the side of a patch


def swin_features(c: Config, known: Swin) -> Spec:
    """A Swin of timm that gives features; stages behind the last one asked for are not built."""
    places = c.ints("out_indices", default=(-1,), least=1)
    found = [place % _STAGES for place in places]
    if found != sorted(set(found)) or any(not -_STAGES <= place < _STAGES for place in places):
        said = f"out_indices may name -{_STAGES} to {_STAGES - 1}, each once and in order."
        raise c.error(said, "out_indices", "Correct it.")
    count = found[-1] + 1
    widths = [known.width * 2**number for number in range(count)]
    heads, depths = [known.heads * 2**number for number in range(count)], [2, 2, known.third, 2]
    layers = stages(c, widths, lambda d: 4 * d, heads, depths=depths)
    traits = {"window_size": sized("w", known.window)}
    patches = Patches(side=sized("P", _SIDE), channels=c.int("num_channels", default=3))
    d = layers[-1].layer.width
    whole = encoding(c, layers, {"Backbone": "base"}, hidden=d, traits=traits, patches=patches)
    return whole.but(features=tuple(one.layer.width for one in layers))


def resnet_features(c: Config, known: ResNet) -> Spec:
    """A ResNet of timm that gives features; stages behind the last one asked for are not built."""
    chosen = c.ints("out_indices", default=(-1,))
    layers = resnet(known, max((place % 5 for place in chosen), default=4))
    switches: dict[str, int] = {
        "deep": known.deep,
        "freeze_batch_norm_2d": c.bool("freeze_batch_norm_2d", default=False),
        "num_channels": sized("C", c.int("num_channels", default=3)),
        "embedding_size": sized("d0", STEM),
    }
    widths: list[int] = [switches["embedding_size"], *(one.layer.width for one in layers)]
    whole = encoding(c, layers, {"Backbone": "base"}, hidden=widths[-1], traits=switches)
    return whole.but(features=tuple(widths))
