"""ERNIE 4.5 with experts, in a run of layers (ERNIE 4.5 technical report)."""

from collections.abc import Callable

from hfcount.architectures import keys
from hfcount.architectures.layers import (
    altered,
    base,
    gqa,
    network,
    pre_norm,
    rms_norm,
    shared_moe,
    stack,
    with_head,
)
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.dims import round_up
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# transformers 5.23: modeling_ernie4_5_moe.py
# and, for the layers that predict further tokens, ernie_mtp.py of vllm-project/vllm 0.33
MODEL_TYPES = ("ernie4_5_moe",)
PREDICTORS = ("ErnieMTPModel", "Ernie4_5_MoeForCausalLMMTP")
SPELLINGS = {r"mlp\.moe_statics\.": "mlp.gate.moe_statics."}
MERGED = packed()


class Ernie45Moe(Sizes):
    use_bias: int


def spec(c: Config) -> Spec[Ernie45Moe]:
    bias, count = c.bool("use_bias", default=False), keys.layer_count(c)
    mixer = keys.attention(c, bias=bias)
    step = c.int("moe_layer_interval", default=1, minimum=1, maximum=MAX_LAYERS)
    start = c.int("moe_layer_start_index", minimum=0, maximum=MAX_LAYERS)
    last = c.int("moe_layer_end_index", default=-1, minimum=-1, maximum=MAX_LAYERS)
    stop = count if last == -1 else min(last + 1, count)
    routed = Indices.span(round_up(start + 1, step) - 1, stop, step)

    def sparse() -> MoE:
        names = {"experts": ("moe_num_experts", "num_experts"), "active": ("moe_k", "num_experts_per_tok")}
        ffn = keys.moe(c, "moe_intermediate_size", **names, shared=("moe_num_shared_experts",))
        return ffn.replace(bias=bias, shared=ffn.shared if c.int("moe_num_shared_experts", minimum=0) else None)

    places = (Indices.below(count).difference(routed), routed)
    layers = keys.networks(c, places, sparse, mixer, bias=bias)
    ahead = keys.drafts(c, "num_nextn_predict_layers", Layer(mixer=mixer, ffn=keys.dense(c, bias=bias)))
    return keys.decoder_spec(c, layers, tied=True, parts=ahead).having(Ernie45Moe.read(c, use_bias=int(bias)))


def blueprint(s: Spec[Ernie45Moe]) -> Block:
    d = s.hidden

    def experts(m: MoE) -> Block:
        balance = block("router", e_score_correction_bias=Tensor((1, m.experts)))
        return altered(shared_moe(d, m, bias=m.bias), moe_statics=balance)

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network(d, layer, experts))

    body = base(s.without("mtp"), layer_block)
    return with_head(s, Block({**body.children, **_ahead(s, layer_block)}), bias=bool(s.own.use_bias))


def _ahead(s: Spec[Ernie45Moe], layer_block: Callable[[Layer], Block]) -> dict[str, Node]:
    """The layers that predict further tokens, and what joins a token and a state for each of them."""
    if "mtp" not in s.parts:
        return {}
    d, count = s.hidden, Indices.below(s.part("mtp").depth)
    norm = Repeat(count, rms_norm(d).replace(component="mtp"))
    joined = {
        "mtp_emb_norm": norm,
        "mtp_hidden_norm": norm,
        "mtp_linear_proj": Repeat(count, Linear(2 * d, d, component="mtp")),
    }
    blocks = stack(s.stack("mtp"), lambda layer: layer_block(layer).replace(component="mtp"))
    return {**joined, "mtp_block": blocks}
