"""DAB-DETR: queries are boxes, which every layer refines (arXiv:2201.12329)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import detecting, perceptron, tied_perceptron
from hfcount.architectures.layers import embedding, layer_norm, mlp
from hfcount.architectures.layers.backbones import channels, chosen
from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.convolution import conv, frozen, led
from hfcount.architectures.layers.stacks import stack
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("dab-detr",)  # transformers 5.23: modeling_dab_detr.py
IGNORED = ("dilation", "temperature_height", "temperature_width")
SPELLINGS = {r"backbone\.(?!conv_encoder\.)": "backbone.conv_encoder."}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")


class DabDetr(Sizes):
    num_queries: int = size("n_q")
    query_dim: int = size("n_d")
    num_patterns: int = size("n_p", absent=0, minimum=0)
    keep_query_pos: bool = flag(absent=False)
    learned_slope: bool
    tied: bool = flag("tie_word_embeddings", absent=True)
    seen: int


def spec(c: Config) -> Spec[DabDetr]:
    inner = families.convolutional(c)
    widths = channels(chosen(c.part("backbone_config")) if c.given("backbone_config") else [1, 2, 3, 4], inner)
    sizes = DabDetr.read(c, learned_slope=c.str("activation_function", default="prelu") == "prelu", seen=widths[-1])
    return detecting(c, _HEADS, inner, sizes)


def blueprint(s: Spec[DabDetr]) -> Block:
    d, of, norm = s.hidden, s.own, layer_norm(s.hidden)
    slope = block("mlp", weight=Tensor((1,))) if of.learned_slope else None
    sizes, out = Linear(d, d, True), block(output_proj=Linear(d, d, True))

    def encoder(layer: Layer) -> Block:
        first = {"self_attn": square_attention(d, out="out_proj"), "self_attn_layer_norm": norm}
        more = block(activation_fn=slope).children
        return Block({**first, **more, **fc(d, layer.dense.width), "final_layer_norm": norm})

    def decoder(first: bool) -> Block:
        names = ("query_content", "query_pos", "key_content", "key_pos", "value")
        alone = {f"self_attn_{name}_proj": sizes for name in names}
        # Only the first layer adds what it knows of places to queries, unless all are to.
        kept = [name for name in names if name != "query_pos" or first or of.keep_query_pos]
        crossed = {f"cross_attn_{name}_proj": sizes for name in (*kept, "query_pos_sine")}
        network = mlp(d, s.layers[0].layer.dense.width)
        return block(
            self_attn=block(
                self_attn=block("attention", **out.children),
                self_attn_layer_norm=norm,
                **Block(alone, "attention").children,
            ),
            cross_attn=block(cross_attn=block("attention", **out.children), cross_attn_layer_norm=norm, **crossed),
            mlp=block(**network.children, final_layer_norm=norm, activation_fn=slope),
        )

    box, backbone = perceptron(d, d, d, 4), frozen(families.tree(s.part("backbone")))
    model = block(_backbone=backbone) if s.part("backbone").family == "timm_backbone" else backbone
    copy = tied_perceptron("bbox_predictor", d, d, d, 4) if of.tied else box
    body = block(
        backbone=block(conv_encoder=block(model=model)),
        query_refpoint_embeddings=embedding(of.num_queries, of.query_dim),
        input_projection=block("projector", **conv(of.seen, d, 1, bias=True).children),
        encoder=block(layers=stack(s.stack("encoder"), encoder), query_scale=perceptron(d, d, d)),
        decoder=block(
            layers=led(s.depth, decoder(True), decoder(False)),
            layernorm=norm,
            query_scale=perceptron(d, d, d),
            ref_point_head=perceptron(of.query_dim // 2 * d, d, d),
            ref_anchor_head=perceptron(d, d, 2),
            bbox_embed=copy if s.head == "object_detection" else None,
        ),
        patterns=embedding(of.num_patterns, d) if of.num_patterns else None,
    )
    if s.head == "base":
        return body
    return block(model=body, class_embed=Linear(d, s.labels, True, "other"), bbox_predictor=box)
