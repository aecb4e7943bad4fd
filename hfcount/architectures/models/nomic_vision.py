"""Nomic Embed Vision: a vision transformer with gated networks, pooled by attention (arXiv:2406.18587)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import fused_attention
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, flag, size
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_hf_nomic_bert.py of nomic-ai/nomic-bert-2048, whose configs are of type nomic_bert
MODEL_TYPES = ("nomic_vision",)
CLASSES = ("NomicVisionModel",)
IGNORED = tuple(
    "drop_path_rate fused_bias_fc fused_dropout_add_ln global_pool hidden_features_scaling_factor layer_scale"
    " layer_scale_init max_trained_positions no_embed_class num_heads_kv parallel_block parallel_block_tied_norm"
    " patch_dropout prenorm prepre_layernom ref_feat_shape rotary_emb_fraction rotary_emb_interleaved"
    " rotary_emb_scale_base rotary_scaling_factor sinusoidal_pos_embedding type_vocab_size use_flash_attn use_rms_norm"
    " use_rotary_pos_emb use_xentropy vocab_size pad_vocab_size_multiple dense_seq_output"
    " scale_attn_by_inverse_layer_idx reorder_and_upcast_attn n_positions"
    " layer_norm_epsilon hidden_size".split()
)

_GATED, _MULTIPLE = ("glu", "swiglu", "geglu"), 256


class NomicVision(Sizes):
    """Sizes specific to it; `normed` is of what the gate gives."""

    gated: bool
    normed: bool = flag("norm_mlp", absent=False)
    qkv_bias: bool = flag("qkv_proj_bias", absent=True)
    up_bias: bool = flag("mlp_fc1_bias", absent=True)
    down_bias: bool = flag("mlp_fc2_bias", absent=True)
    patch_bias: bool = flag("patch_embed_bias", absent=True)
    classed: bool = derived(lambda c: not c.bool("no_cls_token", default=False))
    registers: int = size("n_r", "register_tokens", absent=0, minimum=0)
    masked: bool = flag("mask_token", absent=False)
    placed: bool = flag("use_pos_embed", absent=True)


def spec(c: Config) -> Spec[NomicVision]:
    keys.head_of(c, keys.named(("Model",)))
    c.assuming({"n_embd": 768, "n_layer": 12, "n_head": 12})
    d, sizes = c.int("n_embd"), NomicVision.read(c, gated=c.str("activation_function", default="swiglu") in _GATED)
    wide = c.int("n_inner")
    if sizes.gated and wide % _MULTIPLE:
        rule = f"{{n_inner}}, rounded up to {_MULTIPLE}"
        wide = keys.derived_dim(c, "d_ff", -(-wide // _MULTIPLE) * _MULTIPLE, rule)
    attention = keys.multi_head(c, d, c.int("n_head", maximum=MAX_LAYERS), bias=sizes.qkv_bias)
    layers = keys.uniform(Layer(mixer=attention, ffn=Dense(width=wide)), c.int("n_layer", maximum=MAX_LAYERS))
    whole = c.bool("learned_pos_embedding", default=False) and sizes.registers > 0
    squares = keys.squares(c, "img_size")
    patches = Patches(side=c.int("patch_size"), channels=c.int("num_channels", default=3))
    model = keys.imaging(
        c,
        layers,
        keys.named(("Model",)),
        hidden=d,
        patches=patches,
        positions=(squares if whole else squares + 1) if sizes.placed else None,
    )
    return model.having(sizes)


def blueprint(s: Spec[NomicVision]) -> Block:
    d, of, side = s.hidden, s.own, s.patches
    assert side is not None, "spec() sets them"

    def network(width: int, normed: bool) -> Block:
        into = Linear(d, width, of.up_bias)
        up = {"fc11": into, "fc12": into} if of.gated else {"fc1": into}
        norm = {"norm": layer_norm(width)} if of.gated and normed else {}
        return Block({**up, "fc2": Linear(width, d, of.down_bias), **norm}, "mlp")

    def layer_block(layer: Layer) -> Block:
        attention = fused_attention(d, layer.attention, "Wqkv", "out_proj")
        return block(
            attn=attention, norm1=layer_norm(d), mlp=network(layer.dense.width, of.normed), norm2=layer_norm(d)
        )

    square = Linear(d, d, of.qkv_bias)
    pooling = block("other", Wq=square, Wkv=Linear(d, 2 * d, of.qkv_bias), latent=Tensor((1, 1, d)), out_proj=square)
    tables = block(
        "embedding",
        proj=Linear(side.channels * side.side * side.side, d, of.patch_bias),
        cls_token=Tensor((1, 1, d)) if of.classed else None,
        pos_embed=None if s.positions is None else Tensor((1, s.positions, d)),
        reg_token=Tensor((1, of.registers, d)) if of.registers else None,
        mask_token=Tensor((1, d)) if of.masked else None,
    )
    width = s.layers[0].layer.dense.width
    return block(
        embeddings=tables,
        layers=stack(s.layers, layer_block),
        selector=block("other", attn=pooling, mlp=network(width, False), norm1=layer_norm(d)),
    )
