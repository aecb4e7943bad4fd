"""DeepSeek-V4.1: layers that share what others compressed and selected, tables of n-grams, and a vision tower."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.compressed import sharing
from hfcount.architectures.components.stages import BESIDE, Stages
from hfcount.architectures.layers import lm_head, rms_norm, stack
from hfcount.architectures.layers.ffn import correction_bias, experts
from hfcount.architectures.layers.model import embedding
from hfcount.architectures.layers.streams import mixer
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Layers, MoE, Record, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, Undescribed, block

# deepseek_v41.py of ml-explore/mlx-lm 0.32.2, deepseek_v41/ of Blaizzy/mlx-vlm 0.7.10, deepseek_v4.py of
# sgl-project/sglang 0.5.23
MODEL_TYPES = ("deepseek_v41", "deepseek_v41_text")
IGNORED = (
    *BESIDE,
    "compress_rope_theta",
    "engram_compressed_vocab_size",
    "engram_vocab_size",
    "hc_pre_from_prev_sublayer",
    "hc_sinkhorn_iters",
    "num_key_value_heads",
    "q_head_norm",
)

_AHEAD = ("num_nextn_predict_layers", "dspark_markov_rank", "dspark_target_layer_ids")


class DeepseekV41(Sizes):
    o_groups: int
    hc_mult: int = size("m_r")
    q_lora_rank: int = size("r_q")
    o_lora_rank: int = size("r_o")
    index_n_heads: int = size("h_i")
    index_head_dim: int = size("h_di")
    stages: Stages | None
    ahead: bool
    seen: bool


class Engram(Record):
    """Tables of n-grams, all in one, `rows` in number and each `width` wide, of which a token reads `read`."""

    rows: int
    width: int
    read: int


class DeepseekV41Layer(Record):
    """What one layer has of its own: compressed tokens, gated or not, an indexer, and tables of n-grams."""

    compresses: bool
    gated: bool
    selects: bool
    engram: Engram | None


def spec(c: Config) -> Spec[DeepseekV41]:
    text = c.sub("text_config") or c.as_part("text_config")
    heads, groups = text.int("num_attention_heads"), text.int("o_groups")
    attention = GQA(heads=heads, kv_heads=1, head_dim=text.int("head_dim"), keys_are_values=True)
    keys.divides(text, "o_groups", groups, "num_attention_heads · head_dim", heads * attention.head_dim)
    ffn = keys.moe(text, "moe_intermediate_size", experts=("n_routed_experts",))
    ffn = ffn.replace(shared=ffn.width * text.int("n_shared_experts", default=1, minimum=1))
    layer = Layer(mixer=attention, ffn=ffn)
    layers = [Layers(indices=part, layer=layer.replace(own=sizes)) for part, sizes in _kinds(text)]
    parts = {"vision": families.part(c, "vision_config", "deepseek_v41_vision")} if c.sub("vision_config") else {}
    has_vision, drafted = bool(parts), text if any(text.value(key) for key in _AHEAD) else c
    ahead, stages = any(drafted.value(key) for key in _AHEAD), Stages.read_from(drafted)
    sizes = DeepseekV41.read(text, o_groups=groups, stages=stages, ahead=ahead, seen=has_vision)
    if stages:
        plain = DeepseekV41Layer(compresses=False, gated=False, selects=False, engram=None)
        parts |= stages.layers(drafted, text, layer.replace(own=plain))
    ratios, sources, selecting = _compressing(text, keys.layer_count(text))
    model = keys.decoder_spec(
        text,
        layers,
        whole=c,
        heads=("ForCausalLM", "ForConditionalGeneration"),
        windows=keys.sliding_everywhere(text, default=128),
        entries=sharing(text, attention, ratios, sources, selecting),
        parts=parts,
    )
    return model.replace(tied=False).having(sizes)


def _compressing(c: Config, count: int) -> tuple[list[int], list[int], list[int]]:
    """How many tokens become one, by layer; the layers that compress tokens, and those that have an indexer."""
    ratios, sources = c.ints("compress_ratios")[:count], _listed(c, "kv_source_layer_ids", count)
    if min(ratios, default=0) < 0:
        raise c.error("out-of-range", "compress_ratios must be 0 and more.", "compress_ratios", "Correct it.")
    if sources and (len(ratios) < count or any(ratios[place] < 1 for place in sources)):
        raise c.error(
            "list-length", "compress_ratios must give each layer of kv_source_layer_ids a ratio.", "compress_ratios"
        )
    return ratios, sources, _listed(c, "index_source_layer_ids", count)


def _kinds(c: Config) -> list[tuple[Indices, DeepseekV41Layer]]:
    """Sets of layers, and what they have of their own."""
    every = Indices.below(keys.layer_count(c))
    ratios, sources, selecting = _compressing(c, int(every.count))
    gated = [place for place in sources if ratios[place] > 1]
    tables = _engrams(c, every.count)
    marks: dict[tuple[bool, bool, bool, Engram | None], list[int]] = {}
    special = sorted({*sources, *selecting, *tables})
    for place in special:
        mark = (place in sources, place in gated, place in selecting, tables.get(place))
        marks.setdefault(mark, []).append(place)
    some = [(Indices.of(places), mark) for mark, places in marks.items()]
    rest = every.difference(*(intersection(every, part) for part, _ in some))
    kinds = [*some, *([(rest, (False, False, False, None))] if rest.count else [])]
    return [
        (part, DeepseekV41Layer(compresses=compresses, gated=gate, selects=select, engram=table))
        for part, (compresses, gate, select, table) in kinds
    ]


def _listed(c: Config, key: str, most: int) -> list[int]:
    given = sorted(set(c.ints(key)))
    if given and not 0 <= given[0] <= given[-1] < most:
        raise c.error("out-of-range", f"{key} names a layer that there is not.", key, "Correct it; it counts from 0.")
    return given


def _engrams(c: Config, most: int) -> dict[int, Engram]:
    places, rows = c.ints("engram_layer_ids"), c.ints("engram_num_embeddings")
    _listed(c, "engram_layer_ids", most)
    if len({*places}) < len(places):
        raise c.error("contradiction", "engram_layer_ids names a layer twice.", "engram_layer_ids", "Name each once.")
    if len(places) != len(rows):
        raise c.unequal("engram_num_embeddings", len(rows), "engram_layer_ids", len(places))
    if not places:
        return {}
    if min(rows) < 1:
        raise c.error("out-of-range", "engram_num_embeddings must name 1 and more rows.", "engram_num_embeddings")
    lengths = c.int("engram_max_ngram_size", minimum=2, maximum=MAX_LAYERS) - 1
    read = keys.dim("n_g", lengths * c.int("engram_n_heads", maximum=MAX_LAYERS))
    width = keys.dim("d_g", c.int("engram_head_dim"))
    return {
        place: Engram(rows=keys.dim(f"|V_g{number}|", size), width=width, read=read)
        for number, (place, size) in enumerate(zip(places, rows, strict=True), 1)
    }


def blueprint(s: Spec[DeepseekV41]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        sizes = layer.sizes(DeepseekV41Layer)
        return block(
            engram=_engram(d, sizes.engram, of.hc_mult) if sizes.engram else None,
            attn_norm=rms_norm(d),
            attn=_attention(d, layer.attention, of, sizes),
            ffn_norm=rms_norm(d),
            ffn=_balanced(d, layer.moe),
            **mixer("hc_attn", d, of.hc_mult),
            **mixer("hc_ffn", d, of.hc_mult),
        )

    mark = Tensor((d,), component="projector")
    marks: dict[str, Node] = {f"image_{name}": mark for name in ("start", "end", "newline")} if of.seen else {}
    mtp: Node | None = Undescribed("layers that draft further tokens") if of.ahead else None
    if of.stages:
        mtp = of.stages.tensors(s, layer_block)
    return block(
        embed=embedding(s.vocab, d),
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
        head=lm_head(s, "embed.weight"),
        vision=families.tower(s, "vision") if of.seen else None,
        aligner=_aligner(s) if of.seen else None,
        **marks,
        mtp=mtp,
    )


def _engram(d: int, engram: Engram, several: int) -> Block:
    """Tables of n-grams, from whose rows a gate adds values to all residual streams."""
    table = block("embedding", weight=Tensor((engram.rows, engram.width), active=(engram.read, engram.rows)))
    scale = Tensor((several, d), component="other")
    wkv = Linear(engram.read * engram.width, d * (several + 1), component="other")
    return block(embed=table, wkv=wkv, q_weight=scale, k_weight=scale)


def _attention(d: int, a: GQA, of: DeepseekV41, sizes: DeepseekV41Layer) -> Block:
    """Attention with one key/value head, low-rank queries and outputs; some layers compress tokens or select them."""
    inner, wide = of.o_groups * of.o_lora_rank, a.heads * a.head_dim
    compressor = block(
        wkv=Linear(d, a.head_dim), wgate=Linear(d, a.head_dim) if sizes.gated else None, norm=rms_norm(a.head_dim)
    )
    indexer = block(
        wq_b=Linear(of.q_lora_rank, of.index_n_heads * of.index_head_dim),
        weights_proj=Linear(d, of.index_n_heads),
        wk=Linear(a.head_dim, of.index_head_dim) if sizes.compresses else None,
        k_norm=rms_norm(of.index_head_dim) if sizes.compresses else None,
    )
    return block(
        "attention",
        wq_a=Linear(d, of.q_lora_rank),
        q_norm=rms_norm(of.q_lora_rank),
        wq_b=Linear(of.q_lora_rank, wide),
        wkv=Linear(d, a.head_dim),
        kv_norm=rms_norm(a.head_dim),
        wo_a=Linear(wide // of.o_groups, inner),
        wo_b=Linear(inner, d),
        attn_sink=Tensor((a.heads,)),
        compressor=compressor if sizes.compresses else None,
        indexer=indexer if sizes.selects else None,
    )


def _balanced(d: int, m: MoE) -> Block:
    """Routed experts and a shared one, balanced for text and, beside that, for images."""

    def expert(width: int) -> dict[str, Node]:
        return {"w1": Linear(d, width), "w2": Linear(width, d), "w3": Linear(d, width)}

    bias = correction_bias(m)
    return block(
        gate=block("router", weight=Tensor((m.experts, d)), bias=bias, bias_vl=bias),
        experts=experts(m, Block(expert(m.width), "experts")),
        shared_experts=Block(expert(m.shared or 0), "mlp"),
    )


def _aligner(s: Spec[DeepseekV41]) -> Block:
    vision = s.part("vision")
    side = vision.sizes(DeepseekV41Vision).downsample_ratio
    return block(
        "projector", w1=Linear(vision.hidden * side * side, s.hidden, True), w2=Linear(s.hidden, s.hidden, True)
    )


class DeepseekV41Vision(Sizes):
    """Sizes specific to the tower: its patches' side, and how many of them along a side become one token."""

    patch_size: int = size("p", absent=14)
    downsample_ratio: int = size("d_s", absent=3)


def vision_spec(c: Config) -> Spec[DeepseekV41Vision]:
    """DeepSeek-V4.1's vision tower: ViT's layers with RMS norms, gated networks and rotary positions."""
    ffn = Dense(width=c.int("intermediate_size"), bias=False)
    return keys.tower(c, ffn=ffn).having(DeepseekV41Vision.read(c))


def vision_blueprint(s: Spec[DeepseekV41Vision]) -> Block:
    d, side = s.hidden, s.own.patch_size

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            norm1=rms_norm(d),
            attn=block("attention", wqkv=Linear(d, 3 * d, True), wo=Linear(d, d, True)),
            norm2=rms_norm(d),
            mlp=block("mlp", w1=Linear(d, 2 * width), w2=Linear(width, d)),
        )

    patches = block("embedding", proj=Linear(3 * side * side, d, True))
    return block(patch_embed=patches, blocks=stack(s.layers, layer_block), norm=rms_norm(d))


PARTS = (
    families.Family(
        ("deepseek_v41_vision",),
        vision_spec,
        vision_blueprint,
        ignored=("max_image_tokens", "max_wh_ratio", "min_pixels"),
    ),
)
