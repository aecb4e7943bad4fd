"""RecurrentGemma: gated linear recurrences with local attention in every third layer (arXiv:2404.07839)."""

from collections.abc import Mapping

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, gqa, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.mixers import conv1d
from hfcount.mapper import Config
from hfcount.spec import LRU, Dense, Layer, Layers, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import printable

MODEL_TYPES = ("recurrent_gemma",)  # transformers 5.23: modeling_recurrent_gemma.py


def spec(c: Config) -> Spec:
    hidden, heads = c.int("hidden_size"), c.int("num_attention_heads")
    width = c.int("lru_width", default=hidden)
    keys.divides(c, "num_attention_heads", heads, "lru_width", width, built=True)
    full = keys.attention(c, qkv_bias=c.bool("attention_bias", default=False), out_bias=True)
    lru = LRU(width=width, heads=heads, kernel=c.int("conv1d_width"))
    ffn = Dense(width=c.int("intermediate_size") // 2, bias=True)
    kinds = {"attention": Layer(mixer=full, ffn=ffn), "recurrent": Layer(mixer=lru, ffn=ffn)}
    windows = keys.sliding_everywhere(c, default=2048, key="attention_window_size")
    return keys.decoder_spec(c, _periodic(c, kinds), tied=True, heads=("ForCausalLM", "Model"), windows=windows)


def _periodic(c: Config, kinds: Mapping[str, Layer]) -> list[Layers]:
    """Layers by kind: block_types lists the kinds of one period, which is repeated."""
    pattern, count = (
        c.strs("block_types", "_block_types") or ["recurrent", "recurrent", "attention"],
        keys.layer_count(c),
    )
    if unknown := [kind for kind in pattern if kind not in kinds]:
        known = ", ".join(kinds)
        raise c.error(
            "unknown-kind",
            f"block_types names {printable(unknown[0], 40)}, and {c.family} knows {known}.",
            "block_types",
        )
    given = c.given("block_types")
    period = Dim.named("", len(pattern), f"entries of {c.path('block_types')}" + ("" if given else ", by default"))
    places = [(kind, Indices.span(place, max(place, count), period)) for place, kind in enumerate(pattern)]
    return [Layers(indices=indices, layer=kinds[kind]) for kind, indices in places if indices.count]


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mixer = layer.mixer
        return block(
            temporal_pre_norm=rms_norm(d),
            temporal_block=_rg_lru(d, mixer) if isinstance(mixer, LRU) else gqa(d, layer.attention),
            channel_pre_norm=rms_norm(d),
            mlp_block=swiglu(d, layer.dense.width, bias=True),
        )

    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_norm=rms_norm(d))
    return with_head(s, body)


def _rg_lru(d: int, a: LRU) -> Block:
    """The recurrent block of Griffin (arXiv:2402.19427, section 2.4).

    Tensors: linear_y and linear_x (d_r, d), conv_1d (d_r, 1, w), under rg_lru recurrent_param (d_r) and two gates, each
    a weight (h_r, d_r/h_r, d_r/h_r) and a bias (h_r, d_r/h_r); linear_out (d, d_r). All projections have biases.
    """
    part = a.width // a.heads
    gate, bias = Tensor((a.heads, part, part)), Tensor((a.heads, part))
    return block(
        "linear_attention",
        linear_y=Linear(d, a.width, bias=True),
        linear_x=Linear(d, a.width, bias=True),
        conv_1d=conv1d(a.width, a.kernel, bias=True),
        rg_lru=block(
            recurrent_param=Tensor((a.width,)),
            input_gate_weight=gate,
            input_gate_bias=bias,
            recurrent_gate_weight=gate,
            recurrent_gate_bias=bias,
        ),
        linear_out=Linear(a.width, d, bias=True),
    )
