"""Time-MoE: a decoder over the points of a series, with experts, and a head for each horizon (arXiv:2409.16040)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import gated_moe, gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_time_moe.py of Time-MoE/Time-MoE, and configuration_time_moe.py there
MODEL_TYPES = ("time_moe",)
IGNORED = ("router_aux_loss_factor",)

_ABSENT = {"hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32, "num_attention_heads": 32}


class TimeMoe(Sizes):
    input_size: int = size("n_i", absent=1)
    horizons: tuple[int, ...]


def spec(c: Config) -> Spec[TimeMoe]:
    c.assuming(_ABSENT)
    width, dense = c.int("intermediate_size"), c.bool("use_dense", default=False)
    if dense == c.bool("apply_aux_loss", default=True):
        text = f"use_dense and apply_aux_loss are both {'true' if dense else 'false'}, which the class refuses."
        raise c.error("contradiction", text, "apply_aux_loss", "Set one of them to the other value.")
    active = c.int("num_experts_per_tok", default=2)
    among = c.int("num_experts", default=1)
    mixer = keys.attention(c, qkv_bias=True, derived=True, indivisible="refused", alone=True)
    if dense:
        layer = Layer(mixer=mixer, ffn=keys.dense(c))
    else:
        each = width // active if width % active == 0 else keys.dim("d_x", width // active)
        routed = keys.at_most(c, "num_experts_per_tok", active, among)
        layer = Layer(mixer=mixer, ffn=MoE(experts=among, active=routed, width=each, shared=width))
    horizons = c.ints("horizon_lengths", default=(1,), alone=True)
    known = keys.named(("Model",), ForPrediction="prediction")
    sizes = TimeMoe.read(c, horizons=tuple(keys.dim(f"t{place + 1}", one) for place, one in enumerate(horizons)))
    return keys.decoder_spec(c, layer, vocab=0, heads=known).having(sizes)


def blueprint(s: Spec[TimeMoe]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        network = gated_moe(d, m) if isinstance(m := layer.ffn, MoE) else swiglu(d, layer.dense.width)
        return pre_norm(d, self_attn=gqa(d, layer.attention), ffn_layer=network)

    into = Linear(of.input_size, d)
    body = block(
        embed_layer=block("embedding", emb_layer=into, gate_layer=into),
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
    )
    if s.head == "base":
        return body
    heads = {
        str(place): block("other", out_layer=Linear(d, of.input_size * length))
        for place, length in enumerate(of.horizons)
    }
    return block(model=body, lm_heads=Block(heads))
