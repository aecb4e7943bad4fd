"""A backbone of detectron2: a ResNet or ResNeXt, and a pyramid over it.

Source of the names: detectron2 0.6, modeling/backbone/resnet.py, modeling/backbone/fpn.py.
"""

from hfcount.parts.convolution import conv, led
from hfcount.parts.layers import altered
from hfcount.spec.components import Traits
from hfcount.tree.nodes import Block, Node, block, buffer, obsolete

_STAGES = ("res2", "res3", "res4", "res5")
_DEPTHS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}


def feature_pyramid(of: Traits) -> Block:
    """Convolutions with norms that do not learn, stage by stage, and what is read of each."""
    before, out, inner, fpn, groups = of["stem"], of["out"], of["inner"], of["fpn"], of["groups"]
    found: dict[str, Node] = {}
    stages: dict[str, Node] = {"stem": block(conv1=_conv(of["channels"], before, 7))}
    for number, name in enumerate(_STAGES[: of["built"]]):

        def layer(inputs: int, inner: int = inner, out: int = out) -> Block:
            way = [(inputs, inner, 1, 1), (inner, inner, 3, groups), (inner, out, 1, 1)]
            steps = way if of["deep"] else [(inputs, out, 3, 1), (out, out, 3, 1)]
            named = {f"conv{place}": _conv(*step) for place, step in enumerate(steps, 1)}
            return Block(named | ({"shortcut": _conv(inputs, out, 1)} if inputs != out else {}))

        stages[name] = led(_DEPTHS[of["depth"]][number], layer(before), layer(out))
        if number < of["read"]:
            found[f"fpn_lateral{number + 2}"] = conv(out, fpn, 1, bias=True)
            found[f"fpn_output{number + 2}"] = conv(fpn, fpn, 3, bias=True)
        before, out, inner = out, 2 * out, 2 * inner
    return Block({"bottom_up": Block(stages), **found})


def _conv(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    held = buffer(outputs)
    # Checkpoints trained with norms that learn count their batches.
    counted = obsolete(whole=True)
    norm = block("norm", weight=held, bias=held, running_mean=held, running_var=held, num_batches_tracked=counted)
    return altered(conv(inputs, outputs, side, groups=groups), norm=norm)
