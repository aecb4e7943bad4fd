"""OpenELM: layers with ever more heads and wider networks (arXiv:2404.14619)."""

from functools import reduce

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, lm_head, rms_norm, stack
from hfcount.architectures.layers.stacks import entries
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Dense, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("openelm",)  # modeling_openelm.py of apple/OpenELM-1_1B-Instruct
IGNORED = ("max_context_length", "num_gqa_groups", "qkv_multipliers", "rope_max_length", "rope_freq_constant")


class Openelm(Sizes):
    ffn_with_glu: bool


def spec(c: Config) -> Spec[Openelm]:
    d, head_dim, count = c.int("model_dim"), c.int("head_dim"), keys.layer_count(c, "num_transformer_layers")
    queries, shared, factors = c.ints("num_query_heads"), c.ints("num_kv_heads"), c.entries("ffn_multipliers")
    for key, given in (("num_query_heads", queries), ("num_kv_heads", shared), ("ffn_multipliers", factors)):
        if len(given) != count:
            raise c.unequal(key, len(given), "num_transformer_layers", count)
        if any(
            isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**20 for value in given
        ):
            raise c.error("out-of-range", f"{key} must name a number above 0 for each layer.", key)
    gated, normed = c.bool("ffn_with_glu", default=True), c.bool("normalize_qk_projections", default=False)
    divisor = c.int("ffn_dim_divisor", default=256)
    alike = [[given[given.index(one)] for one in given] for given in (queries, shared)]  # by the first that is equal
    places: dict[tuple[int, int, int], list[int]] = {}
    for place, (heads, kv_heads, factor) in enumerate(zip(*alike, factors, strict=True)):
        if heads % kv_heads:
            text = "num_query_heads must name multiples of num_kv_heads, which they share."
            c.cannot_run("not-divisible", text, "num_kv_heads", "Correct one of them.")
        places.setdefault((heads, kv_heads, keys.rounded(factor * d, divisor)), []).append(place)
    layers = [
        Layers(
            indices=_placed(c, numbers),
            layer=Layer(
                mixer=GQA(heads=heads, kv_heads=kv_heads, head_dim=head_dim, qk_norm=normed),
                ffn=Dense(
                    width=keys.derived_dim(
                        c, "d_ff", width, f"{{ffn_multipliers}}[{numbers[0]}] · {{model_dim}}, {keys.channels(divisor)}"
                    )
                ),
            ),
        )
        for (heads, kv_heads, width), numbers in places.items()
    ]
    model = keys.decoder_spec(c, layers, hidden=d, heads=("ForCausalLM", "Model"))
    return model.replace(tied=c.bool("share_input_output_layers", default=True)).having(
        Openelm.read(c, ffn_with_glu=gated)
    )


def _placed(c: Config, numbers: list[int]) -> Indices:
    """Layers of the same sizes, which are those of as many entries of the lists, unless some are rounded to one."""
    sets = []
    for key in ("num_query_heads", "num_kv_heads", "ffn_multipliers"):
        given = c.entries(key)
        sets.append(entries(c, key, [place for place, value in enumerate(given) if value == given[numbers[0]]]))
    common = reduce(intersection, sets)
    return common if [*common] == numbers else Indices.of(numbers)


def blueprint(s: Spec[Openelm]) -> Block:
    d, times = s.hidden, 2 if s.own.ffn_with_glu else 1

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        norm = rms_norm(a.head_dim) if a.qk_norm else None
        out = Linear(a.heads * a.head_dim, d)
        return block(
            attn=block("attention", qkv_proj=fused_qkv(d, a), q_norm=norm, k_norm=norm, out_proj=out),
            ffn=block("mlp", proj_1=Linear(d, times * width), proj_2=Linear(width, d)),
            ffn_norm=rms_norm(d),
            attn_norm=rms_norm(d),
        )

    body = block(token_embeddings=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    if s.head == "base":
        return body
    return block(transformer=body, lm_head=None if s.tied else lm_head(s, ""))
