"""OLMo as first released, whose projections are fused (arXiv:2402.00838)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, lm_head, stack
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("hf_olmo",)  # olmo/model.py, olmo/config.py and hf_olmo/ of ai2-olmo 0.6.0
CLASSES = ("OLMoForCausalLM",)
IGNORED = ("alibi_bias_max", "clip_qkv", "flash_attention", "norm_after", "rope_full_precision", "scale_logits")

_ABSENT = {"d_model": 768, "n_heads": 12, "n_layers": 12, "vocab_size": 50257, "embedding_size": 50304}


class HfOlmo(Sizes):
    """Sizes specific to OLMo; `fused` is of queries, keys and values, `into` what the network's activation halves."""

    fused: bool
    into: int
    affine: bool = flag("layer_norm_with_affine", absent=True)
    normed: bool = flag("attention_layer_norm", absent=False)
    normed_affine: bool = flag("attention_layer_norm_with_affine", absent=True)
    embedding_norm: bool = flag("embedding_layer_norm", absent=False)
    bias: bool = flag("include_bias", absent=True)
    norm_bias: bool


def spec(c: Config) -> Spec[HfOlmo]:
    c.assuming(_ABSENT)
    d, heads = c.int("d_model"), c.int("n_heads")
    if c.int("block_group_size", default=1) != 1:
        raise c.error("not-described", "Groups of layers (block_group_size) are not described.", "block_group_size")
    c.choice("layer_norm_type", ("default", "low_precision", "rms"), default="default")
    fused = c.choice("block_type", ("sequential", "llama"), default="sequential") == "sequential"
    halved = c.choice("activation_type", ("gelu", "relu", "swiglu"), default="swiglu") == "swiglu"
    given, ratio = c.int("mlp_hidden_size", default=None), c.int("mlp_ratio", default=4)
    into = given or ratio * d
    if halved and into % 2:
        text = f"The network's width is {into:,}, of which swiglu makes half, so it must be even."
        raise c.error("not-divisible", text, "mlp_hidden_size")
    bias = c.bool("include_bias", default=True)
    norm_bias = bias if c.is_null("bias_for_layer_norm") else c.bool("bias_for_layer_norm", default=bias)
    sizes = HfOlmo.read(c, fused=fused, into=into, norm_bias=norm_bias)
    mixer = GQA(
        heads=heads,
        kv_heads=_groups(c, heads, fused),
        head_dim=keys.divides(c, "n_heads", heads, "d_model", d),
        qkv_bias=bias,
        out_bias=bias,
    )
    ffn = Dense(width=into // 2 if halved else into, bias=bias)
    layers = keys.uniform(Layer(mixer=mixer, ffn=ffn), c.int("n_layers", maximum=MAX_LAYERS))
    rows = c.int("vocab_size") if c.is_null("embedding_size") else c.int("embedding_size")
    alibi, rope = c.bool("alibi", default=False), c.bool("rope", default=False)
    if alibi and rope:
        raise c.error("contradiction", "alibi and rope exclude each other.", "alibi", "Set one of them to false.")
    places = None if alibi or rope else c.int("max_sequence_length", default=1024)
    tied = c.bool("weight_tying", default=True)
    model = keys.decoder_spec(c, layers, hidden=d, vocab=rows, heads=("ForCausalLM",), positions=places)
    return model.replace(tied=tied).having(sizes)


def _groups(c: Config, heads: int, fused: bool) -> int:
    """How many heads of keys and values there are; the layers that are not fused know one or all."""
    shared = None if c.is_null("multi_query_attention") else c.bool("multi_query_attention", default=None)
    usual = 1 if shared else heads
    if c.is_null("n_kv_heads") or not c.given("n_kv_heads"):
        return usual
    given = c.int("n_kv_heads")
    if given != usual and (shared is not None or not fused):
        text = f"n_kv_heads is {given:,}, and what other keys say of it is {usual:,}."
        raise c.error("contradiction", text, "n_kv_heads", "Correct one of them.", expected=usual, observed=given)
    return given


def blueprint(s: Spec[HfOlmo]) -> Block:
    d, of = s.hidden, s.own

    def norm(width: int, affine: bool = of.affine) -> Block | None:
        bias = Tensor((width,)) if of.norm_bias else None
        return block("norm", weight=Tensor((width,)), bias=bias) if affine else None

    def layer_block(layer: Layer) -> Block:
        a, shared = layer.attention, layer.attention.kv_heads * layer.attention.head_dim
        query, key = Linear(d, d, of.bias, "attention"), Linear(d, shared, of.bias, "attention")
        return block(
            k_norm=norm(shared, of.normed_affine) if of.normed else None,
            q_norm=norm(d, of.normed_affine) if of.normed else None,
            att_proj=Linear(d, d + 2 * shared, of.bias, "attention") if of.fused else None,
            q_proj=None if of.fused else query,
            k_proj=None if of.fused else key,
            v_proj=None if of.fused else key,
            attn_out=Linear(a.heads * a.head_dim, d, of.bias, "attention"),
            ff_proj=Linear(d, of.into, of.bias, "mlp"),
            ff_out=Linear(layer.dense.width, d, of.bias, "mlp"),
            attn_norm=norm(d),
            ff_norm=norm(d),
        )

    body = block(
        wte=embedding(s.vocab, d),
        wpe=None if s.positions is None else embedding(s.positions, d),
        emb_norm=norm(d) if of.embedding_norm else None,
        blocks=stack(s.layers, layer_block),
        ln_f=norm(d),
        ff_out=None if s.tied else lm_head(s, "", of.bias),
    )
    return block(model=block(transformer=body))
