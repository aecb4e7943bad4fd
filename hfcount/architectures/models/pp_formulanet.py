"""PP-FormulaNet: an encoder of pictures of formulas, and a decoder of LaTeX (arXiv:2503.18382)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("pp_formulanet",)  # transformers 5.23: modeling_pp_formulanet.py


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    # The head is never tied.
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model")).replace(tied=False)


def blueprint(s: Spec) -> Block:
    body = block(decoder=families.base(s), encoder=families.tower(s, "vision"))
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, ""))


def text_spec(c: Config) -> Spec:
    """PP-FormulaNet's decoder of LaTeX: mBART's (arXiv:2503.18382)."""
    d = c.int("d_model", "hidden_size")
    mixer = keys.multi_head(c, d, c.int("decoder_attention_heads"))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("decoder_ffn_dim"), bias=True))
    layers = keys.uniform(layer, keys.layer_count(c, "decoder_layers"))
    # The first two rows of the table of positions are reserved for padding.
    rows, why = c.int("max_position_embeddings") + 2, keys.ACROSS
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, heads=("Model",), uncounted=why)


def text_blueprint(s: Spec) -> Block:
    d = s.hidden
    return block(
        embed_tokens=embedding(s.vocab, d),
        embed_positions=positions(s),
        layers=stack(s.layers, lambda layer: bart_layer(d, layer, crossed=True)),
        layernorm_embedding=layer_norm(d),
        layer_norm=layer_norm(d),
    )


class PpFormulanetVision(Sizes):
    output_channels: int = size("d_o")
    post_conv_in_channels: int = size("d_a")
    post_conv_mid_channels: int = size("d_b")
    post_conv_out_channels: int = size("d_c")
    decoder_hidden_size: int = size("d_t")
    along: int


class PpFormulanetVisionLayer(Record):
    rows: int


def vision_spec(c: Config) -> Spec[PpFormulanetVision]:
    """PP-FormulaNet's encoder: SAM's vision tower, and convolutions that shorten its output (arXiv:2503.18382)."""
    d, bias, count = c.int("hidden_size"), c.bool("qkv_bias", default=True), keys.layer_count(c)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias, indivisible="built")
    ffn, side = Dense(width=c.int("mlp_dim"), bias=True), keys.grid(c)
    window = c.int("window_size", minimum=0)
    placed = c.bool("use_rel_pos", default=True)

    def layer(extent: int) -> Layer:
        rows = 2 * (extent or side) - 1 if placed else 0
        return Layer(mixer=mixer, ffn=ffn, own=PpFormulanetVisionLayer(rows=rows))

    at = keys.numbered(c, "global_attn_indexes")
    rest = Indices.below(count).difference(at)
    layers = keys.split((rest, lambda: layer(window)), (at, lambda: layer(0)))
    sizes = PpFormulanetVision.read(c, along=side if c.bool("use_abs_pos", default=True) else 0)
    return keys.encoding(c, layers, hidden=d, layer_count=count, patches=keys.patches(c)).having(sizes)


def vision_blueprint(s: Spec[PpFormulanetVision]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        rows, a = layer.sizes(PpFormulanetVisionLayer).rows, layer.attention
        table = Tensor((rows, a.head_dim))
        fused = fused_square_attention(d, a.qkv_bias)
        more = {"rel_pos_h": table, "rel_pos_w": table} if rows else {}
        network = mlp(d, layer.dense.width, up="lin1", down="lin2")
        attention = Block({**fused.children, **more}, "attention")
        return block(layer_norm1=layer_norm(d), attn=attention, layer_norm2=layer_norm(d), mlp=network)

    along, narrow, out = of.along, of.output_channels, of.post_conv_out_channels
    neck = block(
        conv1=conv(d, narrow, 1),
        layer_norm1=layer_norm(narrow),
        conv2=conv(narrow, narrow, 3),
        layer_norm2=layer_norm(narrow),
    )
    middle = of.post_conv_mid_channels
    projector = block(
        conv1=conv(of.post_conv_in_channels, middle, 3),
        conv2=conv(middle, out, 3),
        linear_1=Linear(out, out, True, "projector"),
        linear_2=Linear(out, of.decoder_hidden_size, True, "projector"),
    )
    return block(
        pos_embed=Tensor((1, along, along, d), component="embedding") if along else None,
        patch_embed=block(projection=patch_convolution(s)),
        layers=stack(s.layers, layer_block),
        neck=neck,
        multi_modal_projector=projector,
    )


PARTS = (
    families.Family(
        ("pp_formulanet_text",),
        text_spec,
        text_blueprint,
        ignored=("encoder_layers", "encoder_attention_heads", "scale_embedding"),
    ),
    families.Family(("pp_formulanet_vision",), vision_spec, vision_blueprint),
)
