"""Lists the tensors of files without a blueprint, such as GGUF, as rows of a report."""

import re
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from hfcount.report.figures import TensorRow
from hfcount.spec.tree.nodes import Component
from hfcount.text import printable
from hfcount.verifier.folded_names import placed, products, written

Shape = tuple[int, ...]

_COMPONENTS: Sequence[tuple[str, Component]] = (
    (r"v\.", "vision"),
    (r"a\.", "audio"),
    (r"mm\.", "projector"),
    (r".*\.nextn\.", "mtp"),
    (r".*_norm(_\d)?\.", "norm"),
    (r"(token_embd|position_embd|token_types|per_layer_\w+)\.", "embedding"),
    (r"output\.", "lm_head"),
    (r".*(ffn_gate_inp|exp_probs)", "router"),
    (r".*ffn_\w*(exps|\.\d+\.)", "experts"),
    (r".*ffn_", "mlp"),
    (r".*attn_", "attention"),
    (r".*ssm_", "ssm"),
    (r".*(shortconv|conv)", "convolution"),
)
"""What tensors of GGUF are for, by the beginnings of their names; the first that fits."""


def stored_rows(tensors: Mapping[str, tuple[Shape, str]]) -> Iterator[TensorRow]:
    """Rows of tensors, those of alike names, shapes and types in one; the kind of a row is the type.

    Args:
        tensors: shape and type by name.
    """
    groups: dict[tuple[tuple[str, ...], Shape, str], list[tuple[int, ...]]] = {}
    for name, (shape, kind) in tensors.items():
        text, numbers = placed(name)
        groups.setdefault((text, shape, kind), []).append(numbers)
    for (text, shape, kind), places in groups.items():
        for ranges in products(places):
            count, name = prod(int(extent.count) for extent in ranges), written(text, ranges)
            yield TensorRow(
                name=printable(name),
                count=count,
                shape=shape,
                component=component(name),
                kind=printable(kind),
                elements=count * prod(shape),
            )


def component(name: str) -> Component:
    """The component of a GGUF tensor, by its name."""
    return next((component for pattern, component in _COMPONENTS if re.match(pattern, name)), "other")
