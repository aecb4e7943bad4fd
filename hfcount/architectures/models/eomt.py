"""EoMT, also over videos and DINOv3: a plain ViT whose last layers see queries for masks, too (arXiv:2503.19108)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack, swiglu
from hfcount.architectures.layers.convolution import depthwise, transposed
from hfcount.architectures.layers.vision import patch_convolution, square_attention
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

# transformers 5.23: modeling_eomt.py, modeling_eomt_dinov3.py, modeling_videomt.py
MODEL_TYPES = ("eomt", "eomt_dinov3", "videomt")
IGNORED = ("train_num_points", "pos_embed_rescale", "pos_embed_jitter", "pos_embed_shift")

_HEADS = keys.named(ForUniversalSegmentation="universal_segmentation")


class Biases(Sizes):
    """Which projections of attention over DINOv3 have a bias."""

    query: bool = flag("query_bias", absent=True)
    key: bool = flag("key_bias", absent=False)
    value: bool = flag("value_bias", absent=True)
    proj: bool = flag("proj_bias", absent=True)


class Queries(Sizes):
    """The queries for masks, and how many of the last layers see them."""

    num_register_tokens: int = size("n_r", minimum=0)
    num_queries: int = size("n_q")
    num_blocks: int = size("n_b", minimum=0)
    num_upscale_blocks: int = count("n_u", minimum=0)


class Eomt(Record):
    """Sizes specific to EoMT; with `biases` its attention is DINOv3's."""

    queries: Queries
    gated: bool
    biases: Biases | None


def spec(c: Config) -> Spec[Eomt]:
    d, third = c.int("hidden_size"), c.family == "eomt_dinov3"
    gated = c.bool("use_gated_mlp" if third else "use_swiglu_ffn", default=False)
    wide = c.int("intermediate_size") if third else c.times("mlp_ratio", d, default=4)
    bias = c.bool("mlp_bias", default=True) if third else True
    width = round_up(2 * wide // 3, 8) if gated and not third else wide
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=Dense(width=width, bias=bias))
    sizes = Eomt(queries=Queries.read(c), gated=gated, biases=Biases.read(c) if third else None)
    rows = None if third else keys.squares(c)
    model = keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS, positions=rows)
    return model.replace(causal=False, patches=keys.patches(c)).having(sizes)


def _attention(d: int, of: Biases | None) -> Block:
    if of is None:
        return square_attention(d, out="out_proj")
    return block(
        "attention",
        q_proj=Linear(d, d, of.query),
        k_proj=Linear(d, d, of.key),
        v_proj=Linear(d, d, of.value),
        o_proj=Linear(d, d, of.proj),
    )


def blueprint(s: Spec[Eomt]) -> Block:
    d, sizes, of, norm = s.hidden, s.own, s.own.queries, layer_norm(s.hidden)
    scale, third, videos = block(lambda1=Tensor((d,))), sizes.biases is not None, s.family == "videomt"
    attention = _attention(d, sizes.biases)

    def layer_block(layer: Layer) -> Block:
        width, bias = layer.dense.width, layer.dense.bias
        if third:
            network = swiglu(d, width, bias) if sizes.gated else mlp(d, width, bias, up="up_proj", down="down_proj")
        else:
            gated = block("mlp", weights_in=Linear(d, 2 * width, True), weights_out=Linear(width, d, True))
            network = gated if sizes.gated else mlp(d, width)
        return block(norm1=norm, attention=attention, layer_scale1=scale, norm2=norm, mlp=network, layer_scale2=scale)

    patch = patch_convolution(s)
    larger = block(conv1=transposed(d, d, 2), conv2=depthwise(d, 3), layernorm2d=layer_norm(d))
    square = Linear(d, d, True)
    return block(
        attn_mask_probs=buffer(of.num_blocks),
        embeddings=block(
            "embedding",
            cls_token=Tensor((1, 1, d)),
            register_tokens=Tensor((1, of.num_register_tokens, d)),
            mask_token=Tensor((1, 1, d)) if videos else None,
            patch_embeddings=patch if third else block(projection=patch),
            position_embeddings=None if s.positions is None else embedding(s.positions, d),
        ),
        layernorm=norm,
        query=embedding(of.num_queries, d),
        layers=stack(s.layers, layer_block),
        upscale_block=block(block=Repeat(Indices.below(of.num_upscale_blocks), larger)),
        mask_head=block("other", fc1=square, fc2=square, fc3=square),
        class_predictor=Linear(d, s.labels + 1, True, "other"),
        criterion=block(empty_weight=buffer(s.labels + 1)),
        query_updater=Linear(d, d, True, "other") if videos else None,
    )
