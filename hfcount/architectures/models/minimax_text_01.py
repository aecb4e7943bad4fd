"""MiniMax-Text-01 and M1 as they were released: lightning attention in seven of eight layers (arXiv:2501.08313)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, moe, numbered_swiglu, pre_norm, rms_norm
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Layer, Lightning, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_minimax_text_01.py of MiniMaxAI/MiniMax-Text-01, and modeling_minimax_m1.py of MiniMaxAI/MiniMax-M1-80k
MODEL_TYPES = ("minimax_text_01", "minimax_m1")
_SCALES = ("full_attention", "linear_attention", "mlp")
IGNORED = (
    *(f"layernorm_{part}_{factor}" for part in _SCALES for factor in ("alpha", "beta")),
    "postnorm",
    "rotary_dim",
    "shared_moe_mode",
)
CLASSES = ("MiniMaxText01ForCausalLM", "MiniMaxM1ForCausalLM")


def spec(c: Config) -> Spec:
    shared = c.ints("shared_intermediate_size", alone=True, minimum=0) or [0]  # one for each layer, or for all
    if any(shared):
        raise UnknownArchitecture(f"{c.where}: {c.family} is not described with a shared expert.")
    full = keys.attention(c, alone=True)
    linear = Lightning(heads=full.heads, head_dim=full.head_dim)
    given = c.ints("attn_type_list")
    if not given:
        raise c.error("list-length", "attn_type_list must say what attention each layer has.", "attn_type_list")
    some = keys.listing(c, "attn_type_list", given, 0, 1)
    mixers = keys.split((some[0], lambda: Layer(mixer=linear)), (some[1], lambda: Layer(mixer=full)))
    ffn = keys.moe(c, "intermediate_size", experts=("num_local_experts",))
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=ffn), keys.layer_count(c)))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def lightning(a: Lightning) -> Block:
        values = a.heads * a.head_dim
        return block(
            "linear_attention",
            qkv_proj=Linear(d, 3 * values),
            output_gate=Linear(d, values),
            norm=rms_norm(values),
            out_proj=Linear(values, d),
        )

    def layer_block(layer: Layer) -> Block:
        mixer = layer.mixer
        return pre_norm(
            d,
            self_attn=lightning(mixer) if isinstance(mixer, Lightning) else gqa(d, layer.attention),
            block_sparse_moe=moe(d, layer.moe, numbered_swiglu(d, layer.moe.width, "experts")),
        )

    return decoder(s, layer_block)
