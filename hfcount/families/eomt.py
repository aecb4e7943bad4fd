"""EoMT, also over videos and DINOv3: a plain ViT whose last layers see queries for masks, too (arXiv:2503.19108)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, layer_norm, mlp, stack, swiglu
from hfcount.parts.convolution import depthwise, transposed
from hfcount.parts.vision import patch_convolution, square_attention
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.dims import round_up
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

# transformers 5.23: modeling_eomt.py, modeling_eomt_dinov3.py, modeling_videomt.py
MODEL_TYPES = ("eomt", "eomt_dinov3", "videomt")
IGNORED = ("train_num_points", "pos_embed_rescale", "pos_embed_jitter", "pos_embed_shift")

_HEADS = keys.named(ForUniversalSegmentation="universal_segmentation")
_BIASES = {"q_proj": "query_bias", "k_proj": "key_bias", "v_proj": "value_bias", "o_proj": "proj_bias"}


def spec(c: Config) -> Spec:
    d, third = c.int("hidden_size"), c.family == "eomt_dinov3"
    gated = c.bool("use_gated_mlp" if third else "use_swiglu_ffn", default=False)
    wide = c.int("intermediate_size") if third else c.times("mlp_ratio", d, default=4)
    bias = c.bool("mlp_bias", default=True) if third else True
    width = round_up(2 * wide // 3, 8) if gated and not third else wide
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=Dense(width=width, bias=bias))
    traits = {
        "num_register_tokens": keys.sized("n_r", c.int("num_register_tokens", minimum=0)),
        "num_queries": keys.sized("n_q", c.int("num_queries")),
        "num_blocks": keys.sized("n_b", c.int("num_blocks", minimum=0)),
        "num_upscale_blocks": keys.sized("n_u", c.int("num_upscale_blocks", minimum=0, maximum=MAX_LAYERS)),
        "gated": gated,
        **{key: c.bool(key, default=key != "key_bias") for key in _BIASES.values() if third},
    }
    rows = None if third else keys.squares(c)
    whole = keys.decoder_spec(c, layer, vocab=0, hidden=d, heads=_HEADS, positions=rows, traits=traits)
    return whole.but(causal=False, patches=keys.patches(c))


def blueprint(s: Spec) -> Block:
    d, of, scale, norm = s.hidden, s.traits, block(lambda1=Tensor((s.hidden,))), layer_norm(s.hidden)
    third, videos = s.family == "eomt_dinov3", s.family == "videomt"
    own = Block({name: Linear(d, d, bool(of.get(key))) for name, key in _BIASES.items()}, "attention")

    def layer(one: Layer) -> Block:
        width, bias = one.dense.width, one.dense.bias
        if third:
            network = swiglu(d, width, bias) if of["gated"] else mlp(d, width, bias, up="up_proj", down="down_proj")
        else:
            gated = block("mlp", weights_in=Linear(d, 2 * width, True), weights_out=Linear(width, d, True))
            network = gated if of["gated"] else mlp(d, width)
        attention = own if third else square_attention(d, out="out_proj")
        return block(norm1=norm, attention=attention, layer_scale1=scale, norm2=norm, mlp=network, layer_scale2=scale)

    patch = patch_convolution(s)
    larger = block(conv1=transposed(d, d, 2), conv2=depthwise(d, 3), layernorm2d=layer_norm(d))
    square = Linear(d, d, True)
    return block(
        attn_mask_probs=buffer(of["num_blocks"]),
        embeddings=block(
            "embedding",
            cls_token=Tensor((1, 1, d)),
            register_tokens=Tensor((1, of["num_register_tokens"], d)),
            mask_token=Tensor((1, 1, d)) if videos else None,
            patch_embeddings=patch if third else block(projection=patch),
            position_embeddings=None if s.positions is None else embedding(s.positions, d),
        ),
        layernorm=norm,
        query=embedding(of["num_queries"], d),
        layers=stack(s.layers, layer),
        upscale_block=block(block=Repeat(Indices.below(of["num_upscale_blocks"]), larger)),
        mask_head=block("other", fc1=square, fc2=square, fc3=square),
        class_predictor=Linear(d, s.labels + 1, True, "other"),
        criterion=block(empty_weight=buffer(s.labels + 1)),
        query_updater=Linear(d, d, True, "other") if videos else None,
    )
