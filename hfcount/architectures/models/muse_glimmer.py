"""Muse Glimmer and Muse Spark: a gated language model with a vision tower and an adapter, Spark with an audio tower."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import (
    altered,
    base,
    correction_bias,
    gqa,
    layer_norm,
    mlp,
    rms_norm,
    stack,
    stacked,
    swiglu,
)
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.ffn import router
from hfcount.architectures.layers.sandwich import sandwich_norm
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, MoE, Patches, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("muse_glimmer", "muse_spark")  # transformers 5.23: modeling_muse_glimmer.py, modeling_muse_spark.py
CLASSES = ("MuseGlimmerForCausalLM",)
REPLACES_PLACEHOLDERS = True
_HEADS = keys.named(("ForConditionalGeneration", "Model"), MuseGlimmerForCausalLM="conditional_generation")


class MuseGlimmer(Sizes):
    out_hidden_size: int = size("d_o")
    projector_hidden_size: int = size("d_p")


def spec(c: Config) -> Spec[MuseGlimmer]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = MuseGlimmer.read(c)
    spark = c.family == "muse_spark"
    if spark:
        towers["audio"] = families.part(c, "audio_config")
    model = keys.composite(c, text, towers, heads=_HEADS)
    return model.replace(tied=model.tied and not spark).having(
        sizes
    )  # Spark's head is its own, whatever the config says


def blueprint(s: Spec[MuseGlimmer]) -> Block:
    vision_width, width = s.own.out_hidden_size, s.own.projector_hidden_size
    senses: dict[str, Node] = {
        "vision_tower": families.tower(s, "vision"),
        "vision_adapter": block("projector", fc1=Linear(vision_width, width), fc2=Linear(width, width)),
        "vision_projection": Linear(width, s.hidden, component="projector"),
    }
    if "audio" in s.parts:
        senses["audio_tower"] = families.tower(s, "audio")
    return towers_in_model(s, families.base(s), **senses)


def text_spec(c: Config) -> Spec:
    """Muse Glimmer's language model: a gate on the output of attention, norms around each branch, windows in most."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")
    layer, windows = Layer(mixer=mixer, ffn=keys.dense(c)), keys.sliding(c, lambda: _but_every_nth_from_end(c, 4))
    return keys.decoder_spec(c, layer, heads=("Model",), windows=windows)


def text_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        gated = altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim))
        return sandwich_norm(d, gated, swiglu(d, layer.dense.width))

    return base(s, layer_block)


def vision_spec(c: Config) -> Spec:
    """Muse Glimmer's and Muse Spark's vision tower: flattened patches of several frames, a learned table of places."""
    patches = Patches(side=c.int("patch_size"), channels=3, frames=c.int("patch_temporal"))
    rows = c.int("pos_emb_height") * c.int("pos_emb_width")
    return keys.tower(c, patches=patches, positions=rows, indivisible="built")


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            norm1=layer_norm(d),
            norm2=layer_norm(d),
            attn=square_attention(d, out="proj"),
            mlp=mlp(d, layer.dense.width),
        )

    table = Linear((s.seen.frames or 1) * s.seen.pixels, d, component="embedding")
    return block(
        patch_embedder=block(patch_embedding=table, position_embedding_table=positions(s)),
        ln_pre=layer_norm(d),
        layers=stack(s.layers, layer_block),
        ln_post=layer_norm(d),
    )


class MuseSparkExperts(Record):
    """The width of what the experts of a layer read."""

    hidden: int


def spark_text_spec(c: Config) -> Spec:
    """Muse Spark's language model: gated attention, narrower experts, a learned gate on each residual."""
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False), indivisible="refused")

    def sparse() -> Layer:
        width = keys.dim("d_e", c.int("moe_hidden_size"))
        ffn = keys.moe(c, "moe_intermediate_size")
        return Layer(mixer=mixer, ffn=ffn, own=MuseSparkExperts(hidden=width))

    def dense() -> Layer:
        return Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size")))

    listed = c.strs("mlp_layer_types")
    layers = keys.by_kind(c, {"dense": dense, "sparse": sparse}, listed, "mlp_layer_types") if listed else None
    windows = keys.sliding(c, lambda: _but_every_nth_from_end(c, 4))
    layers = layers or keys.uniform(sparse(), keys.layer_count(c))
    return keys.decoder_spec(c, layers, heads=("Model",), windows=windows)


def spark_text_blueprint(s: Spec) -> Block:
    d, norm = s.hidden, rms_norm(s.hidden)

    def experts(m: MoE, width: int) -> Block:
        up, down = stacked(m, 2 * m.width, width), stacked(m, width, m.width)
        return block(
            gate=altered(router(d, m), e_score_correction_bias=correction_bias(m)),
            pre_expert_proj=Linear(d, width, component="mlp"),
            pre_expert_norm=rms_norm(width),
            experts=block(gate_up_proj=up, down_proj=down, post_expert_norm=rms_norm(width)),
            post_expert_proj=Linear(width, d, component="mlp"),
        )

    def layer_block(layer: Layer) -> Block:
        a, ffn = layer.attention, layer.ffn
        gate = block("other", gate=Tensor((d,)))
        return block(
            self_attn=altered(gqa(d, a), gate_proj=Linear(d, a.heads * a.head_dim)),
            mlp=experts(ffn, layer.sizes(MuseSparkExperts).hidden)
            if isinstance(ffn, MoE)
            else swiglu(d, layer.dense.width),
            input_layernorm=norm,
            pre_feedforward_layernorm=norm,
            post_feedforward_layernorm=norm,
            post_attention_residual_gate=gate,
            post_feedforward_residual_gate=gate,
        )

    return base(s, layer_block)


class MuseSparkAudio(Sizes):
    """Sizes specific to the tower; `patch_sizes` are how many samples or features each stage joins."""

    patch_sizes: tuple[int, ...]
    conv_kernel_size: int = size("w")


def spark_audio_spec(c: Config) -> Spec[MuseSparkAudio]:
    """Muse Spark's audio tower: stages that each join samples or features, then mix them by convolutions along time."""
    widths, joined = c.ints("hidden_sizes"), c.ints("patch_sizes")
    if not len(widths) == len(joined) == c.length("depths") == c.int("num_hidden_layers"):
        text = "patch_sizes, hidden_sizes and depths must have num_hidden_layers entries each."
        raise c.error("list-length", text, "num_hidden_layers", "Correct them.")
    layers = keys.stages(c, widths, lambda d: c.times("mlp_ratio", d))
    sizes = tuple(keys.dim(f"P{place}", size) for place, size in enumerate(joined, 1))
    model_sizes = MuseSparkAudio.read(c, patch_sizes=sizes)
    hidden = layers[-1].layer.width
    return keys.encoding(c, layers, hidden=hidden, out=c.int("out_hidden_size")).having(model_sizes)


def spark_audio_blueprint(s: Spec[MuseSparkAudio]) -> Block:
    stages, before = dict[str, Block](), 1
    for place, (part, joined) in enumerate(zip(s.layers, s.own.patch_sizes, strict=True)):
        d, width = part.layer.width, part.layer.dense.width
        convolution = block(weight=Tensor((d, 1, s.own.conv_kernel_size)), bias=Tensor((d,)))
        table = Linear(before * joined, d, bias=True, component="embedding")
        stages[str(place)] = block(
            patch_embedder=block(proj=table, norm=rms_norm(d)),
            conv_blocks=Repeat(part.indices, block(conv=convolution, norm=rms_norm(d), mlp=mlp(d, width))),
        )
        before = d
    out = Linear(s.hidden, s.output, bias=True, component="projector")
    return block(layers=Block(stages), norm=rms_norm(s.hidden), proj=out, post_proj_norm=rms_norm(s.output))


def _but_every_nth_from_end(c: Config, period: int) -> Indices:
    """All layers except the final one and every `period`-th before it."""
    count = keys.layer_count(c)
    return keys.other_than(c, range((count - 1) % period, count, period))


PARTS = (
    families.Family(("muse_glimmer_text",), text_spec, text_blueprint),
    families.Family(
        ("muse_glimmer_vision", "muse_spark_vision"), vision_spec, vision_blueprint, ignored=("merge_size",)
    ),
    families.Family(("muse_spark_text",), spark_text_spec, spark_text_blueprint),
    families.Family(("muse_spark_audio",), spark_audio_spec, spark_audio_blueprint),
)
