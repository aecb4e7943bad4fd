"""Mamba 1 and 2 under the names of their own library, and attention in some layers (arXiv:2312.00752)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, rms_norm, stack, with_head
from hfcount.architectures.layers.attention import fused_qkv
from hfcount.architectures.layers.mixers import conv1d, mamba, mamba2
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, SSM, Dense, Layer, Record, Spec
from hfcount.spec.tree.dims import round_up, stated
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# models/config_mamba.py, models/mixer_seq_simple.py and modules/ of state-spaces/mamba 2.3.2
MODEL_TYPES = ("mamba_ssm",)
CLASSES = ("MambaLMHeadModel",)
IGNORED = tuple(
    "A_init_range A_floor D_has_hdim activation causal conv_init dt_init dt_init_floor dt_limit dt_max"
    " dt_min dt_scale fused_add_norm norm_before_gate rotary_emb_dim"
    " rotary_emb_interleaved softmax_scale use_fast_path use_mem_eff_path".split()
)

_ABSENT = {"d_model": 2560, "n_layer": 64, "vocab_size": 50277}
_KINDS = ("Mamba1", "Mamba2")
_ATTENTION_STEP, _STEP = 256, 128


class MambaSsm(Sizes):
    """Which state space its layers have, and what its norms are."""

    kind: str
    centred: bool


class Second(Record):
    """What Mamba-2 may have otherwise: channels that no state has, a skip for each channel, and no norm."""

    channels: int
    each: bool
    normed: bool


class Attention(Sizes):
    """What stands in the projections of attention besides, and the kernel of a convolution behind them."""

    kernel: int = size("w_a", "d_conv", absent=0, minimum=0)
    qkv_bias: bool = flag("qkv_proj_bias", absent=True)
    out_bias: bool = flag("out_proj_bias", absent=True)
    network: int


def spec(c: Config) -> Spec[MambaSsm]:
    c.assuming(_ABSENT)
    ssm, count = c.part("ssm_cfg"), keys.layer_count(c, "n_layer")
    kind = ssm.str("layer", default="Mamba1")
    if kind not in _KINDS:
        raise UnknownArchitecture(f"{c.where}: mamba_ssm is described with {' and '.join(_KINDS)}, not with {kind}.")
    step = c.int("pad_vocab_size_multiple", default=8, minimum=1)
    rows, d = c.int("vocab_size"), c.int("d_model")
    vocab = keys.derived_dim(c, "|V|", round_up(int(rows), int(step)), f"{{vocab_size}}, rounded up to {stated(step)}")
    inner = c.int("d_intermediate", default=0, minimum=0)
    wide = f"{{d_intermediate}}, rounded up to {_STEP}"
    ffn = Dense(width=keys.derived_dim(c, "d_ff", round_up(int(inner), _STEP), wide)) if inner else None
    some = keys.among(c, "attn_layer_idx", c.ints("attn_layer_idx"), count)

    def state_space() -> Layer:
        made = _first(ssm, d) if kind == "Mamba1" else _second(ssm, d)
        return made.replace(ffn=ffn)

    layers = keys.split(
        (some, lambda: _attention(c.part("attn_cfg"), d).replace(ffn=ffn)),
        (Indices.below(count).difference(some), state_space),
    )
    tied = c.bool("tie_embeddings", default=True)
    sizes = MambaSsm.read(c, kind=kind, centred=not c.bool("rms_norm", default=True))
    model = keys.decoder_spec(c, layers, vocab=vocab, hidden=d, heads=keys.named(LMHeadModel="causal_lm"))
    return model.replace(tied=tied).having(sizes)


def _first(c: Config, d: int) -> Layer:
    inner = c.times("expand", d, default=2)
    usual = keys.derived_dim(c, "r_dt", -(-int(d) // 16), "d_model / 16, rounded up")
    rank = c.int("dt_rank") if c.is_int("dt_rank") else usual
    if not c.is_int("dt_rank"):
        c.choice("dt_rank", ("auto",), default="auto")
    mixer = SSM(
        inner=inner,
        state=c.int("d_state", default=16),
        kernel=c.int("d_conv", default=4),
        step_rank=rank,
        conv_bias=c.bool("conv_bias", default=True),
        bias=c.bool("bias", default=False),
    )
    return Layer(mixer=mixer)


def _second(c: Config, d: int) -> Layer:
    inner = c.times("expand", d, default=2)
    kept = c.int("d_ssm", default=inner)
    heads = keys.divides(c, "headdim", c.int("headdim", default=64), "d_ssm", kept)
    mixer = SSM(
        inner=kept,
        state=c.int("d_state", default=128),
        kernel=c.int("d_conv", default=4),
        heads=heads,
        groups=c.int("ngroups", default=1),
        conv_bias=c.bool("conv_bias", default=True),
        bias=c.bool("bias", default=False),
    )
    each, normed = c.bool("D_has_hdim", default=False), c.bool("rmsnorm", default=True)
    return Layer(mixer=mixer, own=Second(channels=keys.dim("d_c", inner), each=each, normed=normed))


def _attention(c: Config, d: int) -> Layer:
    heads = c.int("num_heads")
    shared, given = c.int("num_heads_kv", default=heads), c.int("head_dim", default=None)
    if heads % shared:
        text = f"num_heads {heads:,} is not a multiple of num_heads_kv {shared:,}."
        raise c.error("not-divisible", text, "num_heads_kv", "Correct one of them.", observed=int(shared))
    width = keys.divides(c, "num_heads", heads, "d_model", d) if given is None else given
    network = c.int("mlp_dim", default=0, minimum=0)
    rule = f"{{mlp_dim}}, rounded up to {_ATTENTION_STEP}"
    inner = keys.derived_dim(c, "d_m", round_up(int(network), _ATTENTION_STEP), rule) if network else 0
    own = Attention.read(c, network=inner)
    mixer = GQA(heads=heads, kv_heads=shared, head_dim=width, qkv_bias=own.qkv_bias, out_bias=own.out_bias)
    return Layer(mixer=mixer, own=own)


def blueprint(s: Spec[MambaSsm]) -> Block:
    d, of = s.hidden, s.own
    norm = layer_norm(d) if of.centred else rms_norm(d)

    def mixer(layer: Layer) -> Block:
        if isinstance(layer.mixer, GQA):
            return _fused(d, layer.attention, layer.sizes(Attention))
        if of.kind == "Mamba1":
            return mamba(d, layer.ssm)
        m, own = layer.ssm, layer.sizes(Second)
        beside = own.channels - m.inner  # channels of a gated network in the same projections
        wide = 2 * own.channels + 2 * (m.groups * m.state) + (m.heads or 1)
        usual = altered(mamba2(d, m, norm=own.normed), **({"D": Tensor((m.inner,))} if own.each else {}))
        if not beside:
            return usual
        return altered(usual, in_proj=Linear(d, wide, m.bias), out_proj=Linear(own.channels, d, m.bias))

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width if layer.ffn else 0
        network = block("mlp", fc1=Linear(d, 2 * width), fc2=Linear(width, d)) if width else None
        return block(norm=norm, mixer=mixer(layer), norm2=norm if width else None, mlp=network)

    body = block(embedding=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm_f=norm)
    return with_head(s, body, prefix="backbone", table="embedding")


def _fused(d: int, a: GQA, of: Attention) -> Block:
    """Attention whose projections have those of a gated network beside them."""
    qkv = a.heads * a.head_dim + 2 * (a.kv_heads * a.head_dim)
    inputs = Linear(d, qkv + of.network, a.qkv_bias) if of.network else fused_qkv(d, a)
    return block(
        "attention",
        in_proj=inputs,
        conv1d=conv1d(qkv, of.kernel, True) if of.kernel else None,
        out_proj=Linear(a.heads * a.head_dim + of.network // 2, d, a.out_bias),
    )
