"""Language models with vision or audio towers, which text tokens skip."""

from collections.abc import Mapping

from hfcount.architectures.layers.model import lm_head
from hfcount.architectures.layers.norms import layer_norm
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Repeat, Tensor, Tied, block


def llava(s: Spec, body: Block, **senses: Node) -> Block:
    """Named as in LLaVA's checkpoints (arXiv:2304.08485): language_model.model, language_model.lm_head, the towers."""
    towers = _aside(senses)
    if s.head == "sequence_classification":
        score = Linear(s.hidden, s.labels, component="other")
        return Block({"language_model": Block({"model": body}), **towers, "score": score})
    head = {} if s.head == "base" else {"lm_head": lm_head(s, "language_model.model.embed_tokens.weight")}
    return Block({"language_model": Block({"model": body, **head}), **towers})


def towers_in_model(s: Spec, body: Block, **senses: Node) -> Block:
    """Named as in later models: model.language_model, the towers under model, and lm_head."""
    inner = Block({**_aside(senses), "language_model": body})
    if s.head == "base":
        return inner
    if s.head in ("sequence_classification", "token_classification"):
        return Block({"model": inner, "score": Linear(s.hidden, s.labels, component="other")})
    return Block({"model": inner, "lm_head": lm_head(s, "model.language_model.embed_tokens.weight")})


def towers_beside_model(s: Spec, body: Block, **senses: Node) -> Block:
    """Named as in early models: model, the towers next to it, and lm_head."""
    towers = _aside(senses)
    if s.head == "base":
        return Block({"language_model": body, **towers})
    return Block({"model": body, **towers, "lm_head": lm_head(s, "model.embed_tokens.weight")})


def paired(s: Spec, text: Block, vision: Block, heard: int | None = None, **more: Node) -> Block:
    """A text and a vision tower with outputs of one common width, as in CLIP (arXiv:2103.00020).

    Tensors: text_model, vision_model, visual_projection (d_o, d_v), text_projection (d_o, d), logit_scale ().

    Args:
        heard: the width of the text tower's output, if it is not d.
        more: further parts.
    """
    out = s.output
    return block(
        text_model=text,
        vision_model=vision,
        visual_projection=Linear(s.part("vision").output, out, component="projector"),
        text_projection=Linear(heard or s.hidden, out, component="projector"),
        logit_scale=Tensor((), component="other"),
        **more,
    )


def two_layers(inputs: int, out: int) -> Block:
    """A projection of two layers. Tensors: linear1 (d_o, d), linear2 (d_o, d_o), with biases."""
    return block("projector", linear1=Linear(inputs, out, True), linear2=Linear(out, out, True))


def gated_projection(inputs: int, d: int, width: int) -> Block:
    """The network behind EVA-CLIP's tower in CogVLM and GLM-4V (arXiv:2311.03079).

    Tensors: linear_proj (d, d_v), norm1 (d), dense_h_to_4h and gate_proj (d_ff, d), dense_4h_to_h (d, d_ff).
    """
    wide = Linear(d, width)
    return block(
        linear_proj=Linear(inputs, d),
        norm1=layer_norm(d),
        dense_h_to_4h=wide,
        gate_proj=wide,
        dense_4h_to_h=Linear(width, d),
    )


def _aside(towers: Mapping[str, Node]) -> dict[str, Node]:
    return {name: tower.replace(repeats=0) if isinstance(tower, Block) else tower for name, tower in towers.items()}


def rebased(node: Node, prefix: str) -> Node:
    """A model's tree for use inside another model: adds `prefix` to the targets of tied tensors."""
    if isinstance(node, Tied):
        return node.replace(to=f"{prefix}.{node.to}")
    if isinstance(node, Block):
        return Block(
            {name: rebased(child, prefix) for name, child in node.children.items()}, node.component, node.repeats
        )
    if isinstance(node, Repeat):
        return Repeat(node.indices, rebased(node.body, prefix), node.active)
    return tuple(rebased(child, prefix) for child in node) if isinstance(node, tuple) else node


def renamed(tree: Block, names: Mapping[str, str], parent: str = "") -> Block:
    """A tree with renamed blocks; `names` maps parent and name: `{"self_attn.q_proj": "linear_q"}`."""

    def inner(node: Node, name: str) -> Node:
        if isinstance(node, Block):
            return renamed(node, names, name)
        if isinstance(node, Repeat):
            return node.replace(body=inner(node.body, name))
        return tuple(inner(part, name) for part in node) if isinstance(node, tuple) else node

    children = {names.get(f"{parent}.{name}", name): inner(child, name) for name, child in tree.children.items()}
    return tree.replace(children=children)


def as_tower(node: Node, component: Component) -> Node:
    """A part of a tower: its tensors are counted as `component`, and text tokens skip it."""
    if isinstance(node, Block):
        return node.replace(component=component, repeats=0)
    if isinstance(node, Repeat):
        return node.replace(body=as_tower(node.body, component))
    if isinstance(node, tuple):
        return tuple(as_tower(part, component) for part in node)
    return node.replace(component=component) if isinstance(node, Linear | Tensor) else node


def shared_copy(node: Node, buffers: bool = False) -> Node:
    """A second copy of a part: its parameters, with `buffers` its buffers too, are optional in the checkpoint."""
    if isinstance(node, Block):
        return node.replace(children={name: shared_copy(child, buffers) for name, child in node.children.items()})
    if isinstance(node, Repeat):
        return node.replace(body=shared_copy(node.body, buffers))
    if isinstance(node, tuple):
        return tuple(shared_copy(part, buffers) for part in node)
    stored = isinstance(node, Tensor) and node.kind == "buffer" and not buffers
    return node.replace(presence="optional") if isinstance(node, Linear | Tensor) and not stored else node
