"""Parts of DEIMv2 (arXiv:2509.20787)."""

from hfcount.parts.convolution import frozen, normed
from hfcount.parts.detection import perceptron
from hfcount.parts.distributions import refining, weighing
from hfcount.parts.ffn import swiglu
from hfcount.parts.hybrid import hybrid_encoder, separable
from hfcount.parts.layers import altered
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm, rms_norm
from hfcount.parts.vision import square_attention
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, block

_COLOURS = 3


def step(inputs: int, outputs: int, side: int, groups: int = 1) -> Block:
    """A convolution and its norm. Tensors: conv, norm."""
    return normed(inputs, outputs, side, groups=groups, names=("conv", "norm"))


def fused(d: int, inner: int, blocks: int, trailing: bool) -> Block:
    """Two levels, summed, by ever deeper ways that are joined at the end. Tensors: conv1, conv2, csp_rep1, csp_rep2.

    `trailing` says whether each way ends in a further convolution.
    """
    one = block(conv1=step(inner, inner, 3), conv2=step(inner, inner, 1))

    def way(inputs: int) -> Block:
        deep = Repeat(Indices.below(blocks), one) if blocks else None
        last = step(inner, inner, 3) if trailing else None
        return block(conv1=step(inputs, 2 * inner, 1), bottlenecks=deep, conv2=last)

    return block(conv1=step(d, 2 * d, 1), csp_rep1=way(d), csp_rep2=way(inner), conv2=step(2 * d + 2 * inner, d, 1))


def adapter(planes: int) -> Block:
    """Features of an image at four scales. Tensors: stem_conv, conv2, conv3 and conv4, each conv and norm."""
    twice, four = 2 * planes, 4 * planes
    return block(
        "projector",
        stem_conv=step(_COLOURS, planes, 3),
        conv2=step(planes, twice, 3),
        conv3=step(twice, four, 3),
        conv4=step(four, four, 3),
    )


def features(s: Spec, seen: Block) -> Block:
    """The backbone, `seen`, and its features as the encoder takes them.

    Tensors: model and encoder_input_proj, or over DINOv3 backbone, spatial_tuning_adapter and fusion_proj.
    """
    of, inner, backbone = s.traits, s.parts["encoder"].hidden, s.parts["backbone"]
    if backbone.family == "dinov3_vit":
        widths = [backbone.hidden + times * of["planes"] for times in (2, 4, 4)]
        joined = {str(place): step(width, inner, 1) for place, width in enumerate(widths)}
        return block(
            backbone=seen, spatial_tuning_adapter=adapter(of["planes"]), fusion_proj=Block(joined, "projector")
        )
    widths = [of[f"upper.{place}"] for place in range(of["uppers"])]
    taken = {str(place): step(width, inner, 1) for place, width in enumerate(widths)}
    model = frozen(seen) if of["frozen"] else seen
    return block(model=model, encoder_input_proj=None if of["lite"] else Block(taken, "projector"))


def encoder(s: Spec) -> Block:
    """The hybrid encoder, as `hybrid_encoder` but with aifi for its layers, or a lighter one of convolutions alone.

    Tensors of that: input_proj, down_conv1, down_conv2, bi_fusion_conv, fpn_block, pan_block.
    """
    of, inner = s.traits, s.parts["encoder"]
    d, norm = inner.hidden, layer_norm(inner.hidden)
    joined = fused(d, of["encoder_fused"], of["blocks"], bool(of["trailing"]))
    if of["lite"]:
        taken = {str(place): step(of[f"level.{place}"], d, 1) for place in range(of["levels"])}
        same = step(d, d, 1)
        return block(
            input_proj=Block(taken),
            down_conv1=same,
            down_conv2=same,
            bi_fusion_conv=same,
            fpn_block=joined,
            pan_block=joined,
        )

    def layer(one: Layer) -> Block:
        network = perceptron(d, one.dense.width, d, component="mlp")
        return block(self_attn=square_attention(d), self_attn_layer_norm=norm, mlp=network, final_layer_norm=norm)

    aifi = Repeat(Indices.below(of["attended"]), block(layers=stack(inner.layers, layer)))
    return altered(hybrid_encoder(s, joined, separable(d)), encoder=None, aifi=aifi)


def decoder(s: Spec) -> dict[str, Node]:
    """Layers of attention and a gated network, and what refines boxes. Tensors: layers, query_pos_head, `refining`."""
    d, of, norm = s.hidden, s.traits, rms_norm(s.hidden)

    def layer(one: Layer) -> Block:
        gate = block("mlp", gate=Linear(2 * d, 2 * d, True), norm=norm)
        return block(
            self_attn=square_attention(d),
            self_attn_layer_norm=norm,
            encoder_attn=weighing(d, one.attention.heads, of["points"]),
            encoder_attn_layer_norm=None if of["gated"] else norm,
            mlp=swiglu(d, one.dense.width // 2, bias=True),
            final_layer_norm=norm,
            gateway=gate if of["gated"] else None,
        )

    return {"layers": stack(s.layers, layer), "query_pos_head": perceptron(4, d, d, d), **refining(s)}
