"""Softmax attention of flash-linear-attention: LLaMA's, with forgetting, of paths, or sparse (arXiv:2503.02130)."""

from hfcount.architectures import keys
from hfcount.architectures.components import flash_linear
from hfcount.architectures.components.flash_linear import STATES, Around, around, attention, convolutions, softmax
from hfcount.architectures.layers import gqa, rms_norm
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node

# layers/attn.py, layers/forgetting_attn.py, layers/path_attn.py, layers/nsa.py of fla-org/flash-linear-attention 0.6.0
MODEL_TYPES = ("transformer", "forgetting_transformer", "path_attn", "nsa")
CLASSES = (
    *("TransformerForCausalLM", "TransformerModel", "NSAForCausalLM", "NSAModel"),
    *("ForgettingTransformerForCausalLM", "ForgettingTransformerModel", "PaTHAttentionForCausalLM"),
    "PaTHAttentionModel",
)
IGNORED = (*flash_linear.IGNORED, "block_counts", "block_size", "elementwise_affine")

_ABSENT = {
    "vocab_size": 32000,
    "hidden_size": 2048,
    "num_hidden_layers": 24,
    "num_heads": 32,
    "hidden_ratio": 4,
}
_SPARSE = {**_ABSENT, "num_heads": 64, "num_kv_heads": 4, "head_dim": 32, "window_size": 512}
_RANK, _KERNEL, _BRANCHES = 32, 3, 3


class Softmax(Around):
    """What attention has beside queries, keys and values.

    `gated` is whether the output has gates, `ranked` whether what a path is made of has a projection of low rank,
    `convolved` whether that is convolved.
    """

    gated: bool
    ranked: bool
    convolved: bool


def spec(c: Config) -> Spec[Softmax]:
    paths, sparse = c.family == "path_attn", c.family == "nsa"
    normed = c.bool("qk_norm", default=False) if c.family in ("transformer", "forgetting_transformer") else False

    def own() -> Layer:
        d = c.int("hidden_size")
        if sparse:
            heads, shared = flash_linear.shared_heads(c)
            flash_linear.rotated(c, c.int("head_dim"))
            bias = c.bool("qkv_bias", default=False)
            return Layer(mixer=GQA(heads=heads, kv_heads=shared, head_dim=c.int("head_dim"), qkv_bias=bias))
        return Layer(mixer=softmax(c, d, normed, rotary=c.family == "transformer"))

    model = around(c, own, _SPARSE if sparse else _ABSENT, mixed=False, uncounted=STATES if paths or sparse else "")
    window = c.int("window_size") if not paths and not sparse and c.given("window_size") else None
    if window is not None and model.layers:
        model = model.replace(windows=keys.within(model.layers[0].indices, window))
    gates = {"forgetting_transformer": "use_output_gate", "path_attn": "use_forget_gate"}
    gate = gates.get(c.family)
    sizes = Softmax.read(
        c,
        gated=sparse or (gate is not None and c.bool(gate, default=False)),
        ranked=paths and c.bool("use_low_rank_w", default=True),
        convolved=paths and c.bool("use_w_shortconv", default=True),
    )
    return model.having(sizes)


def blueprint(s: Spec[Softmax]) -> Block:
    return flash_linear.headed(s, lambda layer: _attention(s, layer.attention))


def _attention(s: Spec[Softmax], a: GQA) -> Block:
    d, of, shared = s.hidden, s.own, a.kv_heads * a.head_dim
    gates: dict[str, Node | None] = {}
    if s.family == "nsa":
        return altered(gqa(d, a), rotary_emb=None, g_proj=Linear(d, _BRANCHES * a.heads))
    if s.family == "forgetting_transformer":
        gates = {"f_proj": Linear(d, a.heads, True), "g_proj": Linear(d, d) if of.gated else None}
        if a.qk_norm:  # of each head on its own
            gates |= {"q_norm": rms_norm(d), "k_norm": rms_norm(shared)}
    elif s.family == "path_attn":
        ranked = Block({"0": Linear(d, _RANK), "1": Linear(_RANK, shared)})
        gates = {
            "w_proj": ranked if of.ranked else Linear(d, shared),
            **convolutions(_KERNEL if of.convolved else None, w=shared),
            "bt_proj": Linear(d, a.kv_heads, True),
            "g_proj": Linear(d, a.heads, True) if of.gated else None,
        }
    return attention(d, a, **gates)
