"""Inkling: the language model, an audio tower that is a table, and a vision tower of few projections."""

from itertools import pairwise

from hfcount.architectures import families, keys
from hfcount.architectures.components.inkling import (
    INKLING_ATTENTION,
    Inkling,
    Reach,
    channels,
    released,
    scales,
)
from hfcount.architectures.layers import altered, embedding, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.attention import relative, spread
from hfcount.architectures.layers.composite import towers_beside_model
from hfcount.architectures.layers.ffn import correction_bias, stacked
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Layer, MoE, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("inkling_mm_model",)  # transformers 5.23: modeling_inkling.py
IGNORED = ("mtp_config",)
# Inkling's names in its release.
SPELLINGS = {
    r"^model\.llm\.unembed\.": "lm_head.",
    r"\bllm\.embed_norm\.": "language_model.embed_tokens.embed_norm.",
    r"\bllm\.embed\.": "language_model.embed_tokens.",
    r"\bllm\.": "language_model.",
    r"^model\.audio\.": "model.audio_tower.",
    r"^model\.visual\.": "model.vision_tower.",
    r"\bvision_tower\.layers\.linear_(\d+)\.": r"vision_tower.encoder_layers.\1.projection.",
    r"\bvision_tower\.layers\.norm_(\d+)\.": r"vision_tower.encoder_layers.\1.layer_norm.",
    r"\baudio_tower\.encoder\.": "audio_tower.embed_audio_tokens.embed_audio_tokens.",
    r"\baudio_tower\.final_norm\.": "audio_tower.norm.",
    r"\bshared_w2_weight$": "down_proj",
    r"\bmlp\.w2_md\.": "mlp.down_proj.",
    **INKLING_ATTENTION,
    r"_sconv\.weight$": "_sconv.conv1d.weight",
}
MERGED = {
    "mlp.shared_experts.shared_w13_weight": ("mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj"),
    "mlp.w13_dn.weight": ("mlp.gate_proj.weight", "mlp.up_proj.weight"),
}


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    width = text.hidden  # the width of what both towers give, whatever their own configs say
    towers = {
        "vision": families.part(c, "vision_config", "inkling_vision").replace(out=width),
        "audio": families.part(c, "audio_config", "inkling_audio").replace(hidden=width),
    }
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=False)  # the head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    vision, audio, body = families.tower(s, "vision"), families.tower(s, "audio"), families.base(s)
    if s.head == "base":
        table = altered(embedding(s.vocab, s.hidden), embed_norm=rms_norm(s.hidden))
        text = altered(body, embed=None, embed_norm=None, embed_tokens=table)
        return towers_beside_model(s, text, audio_tower=audio, vision_tower=vision)
    head = Linear(s.hidden, s.vocab, component="lm_head")
    text = Block({**body.children, "unembed": head})
    return block(model=block(llm=text, audio=audio, visual=vision))


def text_spec(c: Config) -> Spec[Inkling]:
    """Inkling's language model: attention with relative positions, short convolutions around it, and balanced
    experts.
    """
    every, kernel = Indices.below(keys.layer_count(c)), c.int("conv_kernel_size", "sconv_kernel_size")

    def attention(prefix: str) -> GQA:
        mixer = keys.prefixed_attention(c, prefix)
        # Convolutions over keys and values, and over what attention and the network give.
        inputs = 2 * mixer.kv_heads * mixer.head_dim + 2 * c.int("hidden_size")
        return mixer.replace(conv_cache=int(inputs) * (kernel - 1))

    full = Layer(mixer=attention(""), own=Reach(extent=c.int("rel_extent"), full=True))
    local = Layer(mixer=attention("swa_"), own=Reach(extent=c.int("sliding_window_size"), full=False))

    def full_ones() -> Indices:
        ids = keys.numbered(c, "local_layer_ids")
        return every.difference(ids) if ids.count else Indices.span(5, max(5, every.count), 6)

    mixers = keys.of_two(c, {"hybrid": full, "hybrid_sliding": local}, full_ones)
    # Earlier configs call the width of the experts intermediate_size, and that of the dense layers otherwise.
    names = ("intermediate_size", "moe_intermediate_size")
    wide, width = ("dense_intermediate_size", names[0]) if c.int("dense_intermediate_size", default=0) else names

    def experts() -> MoE:
        return keys.moe(c, width, experts=("n_routed_experts",), shared=("n_shared_experts",))

    sizes, heads = Inkling.read(c, conv_kernel_size=kernel), ("ForCausalLM", "Model")
    layers = keys.networks(c, keys.dense_and_sparse(c, "dense_mlp_idx", default=0), experts, width=wide)
    windows = keys.sliding(c, lambda: keys.other_than(c, full_ones()), key="sliding_window_size", kind="hybrid_sliding")
    model = keys.decoder_spec(c, keys.combined(mixers, layers), heads=heads, windows=windows)
    return model.replace(tied=False).having(sizes)  # the head is its own, whatever the config says


def text_blueprint(s: Spec[Inkling]) -> Block:
    if s.place:
        return released(s)
    d, rel, kernel = s.hidden, s.own.d_rel, s.own.conv_kernel_size
    table = altered(embedding(s.vocab, d), embed_norm=rms_norm(d))

    def layer_block(layer: Layer) -> Block:
        sparse = _joint_moe(d, layer.ffn) if isinstance(layer.ffn, MoE) else None
        return block(
            input_layernorm=rms_norm(d),
            self_attn=relative(d, layer.attention, rel, layer.sizes(Reach).extent, kernel),
            attn_sconv=spread(d, kernel),
            post_attention_layernorm=rms_norm(d),
            mlp=sparse or altered(swiglu(d, layer.dense.width), global_scale=Tensor((1,))),
            mlp_sconv=spread(d, kernel),
        )

    return with_head(s, block(embed_tokens=table, layers=stack(s.layers, layer_block), norm=rms_norm(d)))


class Step(Record):
    """A layer: how many cells it joins, and the channels of a cell before and behind it."""

    joined: int
    inputs: int
    outputs: int


class InklingVision(Record):
    steps: tuple[Step, ...]


def vision_spec(c: Config) -> Spec[InklingVision]:
    """Inkling's vision tower: each layer joins neighbouring cells of the grid and projects them."""
    steps = list[Step]()
    for place, (before, after) in enumerate(pairwise(scales(c))):
        joined = after.frames // before.frames * (after.side // before.side) ** 2
        cells = keys.derived_dim(c, f"j{place + 1}", joined, "{patch_size}, by its factors")
        inputs, outputs = channels(c, before, place), channels(c, after, place + 1)
        steps.append(Step(joined=cells, inputs=inputs, outputs=outputs))
    return keys.encoding(c, (), hidden=c.int("text_hidden_size")).having(InklingVision(steps=tuple(steps)))


def vision_blueprint(s: Spec[InklingVision]) -> Block:
    layers = dict[str, Node]()
    for place, step in enumerate(s.own.steps):
        last = place == len(s.own.steps) - 1
        width = s.output if last else step.outputs
        linear, norm = Linear(step.joined * step.inputs, width), None if last else rms_norm(width)
        if s.place:  # within the whole model the names are those of the release
            layers |= block(**{f"linear_{place}": linear, f"norm_{place}": norm}).children
        else:
            layers[str(place)] = block(projection=linear, layer_norm=norm)
    named = {"layers" if s.place else "encoder_layers": Block(layers)}
    return Block({**named, "final_norm": rms_norm(s.output)})


class InklingAudio(Sizes):
    rows: int


def audio_spec(c: Config) -> Spec[InklingAudio]:
    """Inkling's audio tower: a table with a row for each level of each mel bin, and a norm."""
    rows = c.int("n_mel_bins", "num_codebooks") * c.int("mel_vocab_size", "codebook_size")
    width = c.int("text_hidden_size", "hidden_size")
    return keys.encoding(c, (), hidden=width).having(InklingAudio.read(c, rows=rows))


def audio_blueprint(s: Spec[InklingAudio]) -> Block:
    table, norm = Tensor((s.own.rows, s.hidden), component="embedding"), rms_norm(s.hidden)
    if s.place:  # within the whole model the names are those of the release
        return block(encoder=block(weight=table), final_norm=norm)
    return block(embed_audio_tokens=block(embed_audio_tokens=block(weight=table)), norm=norm)


def _joint_moe(d: int, m: MoE) -> Block:
    """Balanced experts; the gate also scores the c shared ones (c·d_ff = d_s) and has one global scale.

    Tensors: gate.weight (n + c, d), gate.global_scale (1), gate.e_score_correction_bias (n); experts.gate_up_proj
    (n, 2·d_ff, d) and down_proj (n, d, d_ff); shared_experts.gate_proj and up_proj (c, d_ff, d), down_proj
    (c, d, d_ff). Source: transformers 5.23, modeling_inkling.py.
    """
    count = (m.shared or 0) // m.width
    up, down = Tensor((count, m.width, d)), Tensor((count, d, m.width))
    return block(
        gate=block(
            "router",
            weight=Tensor((m.experts + count, d)),
            global_scale=Tensor((1,)),
            e_score_correction_bias=correction_bias(m),
        ),
        experts=block(gate_up_proj=stacked(m, 2 * m.width, d), down_proj=stacked(m, d, m.width)),
        shared_experts=block("mlp", gate_proj=up, up_proj=up, down_proj=down),
    )


PARTS = (
    families.Family(("inkling_text",), text_spec, text_blueprint),
    families.Family(("inkling_vision",), vision_spec, vision_blueprint, ignored=("hidden_size", "num_attention_heads")),
    families.Family(("inkling_audio",), audio_spec, audio_blueprint),
)
