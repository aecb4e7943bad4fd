"""MobileNet: convolutions of each channel alone, and then of all channels at each place (arXiv:1704.04861)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.classic import classifier, headed
from hfcount.parts.convolution import normed
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("mobilenet_v1",)  # transformers 5.23: modeling_mobilenet_v1.py
IGNORED = ("image_size", "tf_padding")

_HEADS = ("ForImageClassification", "Model")
_WIDER = (True, True, False, True, False, True, False, False, False, False, False, True, False)
"""Which of the 13 pairs of convolutions have twice as many channels as the one before; the first has 64."""


def spec(c: Config) -> Spec:
    factor, least = c.number("depth_multiplier"), c.int("min_depth")
    base, traits = 32, {"num_channels": keys.sized("C", c.int("num_channels"))}
    for number, wider in enumerate((False, *_WIDER)):
        base *= 1 + wider
        source, width = f"{base} · {{depth_multiplier}}, at least min_depth", max(int(base * factor), least)
        traits[f"width.{number}"] = keys.worked(c, f"C{number}", width, source)
    last = traits[f"width.{len(_WIDER)}"]
    return keys.imaging(c, (), _HEADS, hidden=last, traits=traits, uncounted=keys.COARSER)


def blueprint(s: Spec) -> Block:
    of, layers = s.traits, dict[str, Block]()
    for number in range(len(_WIDER)):
        before, d = of[f"width.{number}"], of[f"width.{number + 1}"]
        layers[str(2 * number)] = normed(before, before, 3, groups=before)
        layers[str(2 * number + 1)] = normed(before, d, 1)
    body = block(conv_stem=normed(of["num_channels"], of["width.0"], 3), layer=Block(layers))
    return headed(s, "mobilenet_v1", body, image_classification=block(classifier=classifier(s)))
