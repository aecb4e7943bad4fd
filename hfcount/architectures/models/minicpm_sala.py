"""MiniCPM-SALA: softmax attention in some layers, lightning attention with gates in others (card of MiniCPM-SALA)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import GQA, Layer, Layers, Lightning, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear

MODEL_TYPES = ("minicpm_sala",)  # minicpm.py and configs/minicpm.py of sgl-project/sglang 0.5.23
CLASSES = ("MiniCPMSALAForCausalLM",)
IGNORED = (
    *("attn_use_rope", "dim_model_base", "lightning_layerwise_decay", "lightning_scale", "lightning_use_rope"),
    *("mup_denominator", "scale_depth", "scale_emb", "sparse_config", "sparse_use_nope"),
)

_ABSENT = {
    "vocab_size": 150528,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
_SOFTMAX, _LIGHTNING = ("minicpm4", "minicpm", "standard", "attention", "attn"), ("lightning", "lightning_attn")


class MiniCpmSala(Sizes):
    """Which of its attentions have gates, norms and biases."""

    gated: bool = flag("attn_use_output_gate", absent=False)
    lightning_gated: bool = flag("use_output_gate", absent=False)
    lightning_normed: bool = flag("use_output_norm", absent=False)
    qk_norm: bool = flag(absent=True)
    bias: bool = flag("attention_bias", absent=False)


def spec(c: Config) -> Spec[MiniCpmSala]:
    c.assuming(_ABSENT)
    sizes, count = MiniCpmSala.read(c), keys.layer_count(c)
    full = keys.attention(c, bias=sizes.bias)
    heads = c.int("lightning_nh", default=full.heads)
    width = c.int("lightning_head_dim", default=full.head_dim)
    linear = Lightning(heads=heads, head_dim=width)
    kinds = [_plain(kind) for kind in c.strs("mixer_types")] or [_SOFTMAX[0]]
    if len(kinds) > count:
        raise c.unequal("mixer_types", len(kinds), "num_hidden_layers", count)
    if _LIGHTNING[0] in kinds and c.int("lightning_nkv", default=full.kv_heads) != heads:
        text = f"lightning_nkv must be lightning_nh, {heads:,}."
        raise c.error("contradiction", text, "lightning_nkv", "Correct one of them.", expected=int(heads))
    known = {_SOFTMAX[0]: Layer(mixer=full), _LIGHTNING[0]: Layer(mixer=linear)}
    mixers = keys.by_kind(c, known, kinds, "mixer_types", len(kinds))
    if len(kinds) < count:  # the list begins again
        spans = ((place, known[kind]) for place, kind in enumerate(kinds))
        mixers = [Layers(indices=Indices.span(place, count, len(kinds)), layer=layer) for place, layer in spans]
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=keys.dense(c)), count))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model")).having(sizes)


def _plain(kind: str) -> str:
    if kind in _SOFTMAX:
        return _SOFTMAX[0]
    return _LIGHTNING[0] if kind.replace("-", "_") in _LIGHTNING else kind


def blueprint(s: Spec[MiniCpmSala]) -> Block:
    d, of = s.hidden, s.own

    def mixer(layer: Layer) -> Block:
        a = layer.mixer
        if isinstance(a, GQA):
            gate = Linear(d, a.heads * a.head_dim, of.bias) if of.gated else None
            return altered(gqa(d, a), o_gate=gate)
        assert isinstance(a, Lightning)
        inner = a.heads * a.head_dim
        plain = GQA(
            heads=a.heads,
            kv_heads=a.heads,
            head_dim=a.head_dim,
            qkv_bias=of.bias,
            out_bias=of.bias,
            qk_norm=of.qk_norm,
        )
        more = altered(
            gqa(d, plain),
            o_norm=rms_norm(inner) if of.lightning_normed else None,
            z_proj=Linear(d, inner, of.bias) if of.lightning_gated else None,
        )
        return Block(more.children, "linear_attention")

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=mixer(layer), mlp=swiglu(d, layer.dense.width))

    return decoder(s, layer_block)
