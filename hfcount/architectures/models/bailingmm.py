"""Ming-Omni: a language model of Ling with routers of each modality, behind towers (arXiv:2506.09344)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.temporal import conv
from hfcount.errors import ConfigError
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, size
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block, buffer

# modeling_bailingmm.py of inclusionAI/Ming, with its modeling_bailingmm2.py, qwen2_5_vit.py and whisper encoder; for
# the later vision tower, qwen3_moe_vit.py of Zihhan318/Ming2, which has a copy; encoder.py and attention.py of FunASR's
# models/sanm, model.py of openai/whisper, and, without sound, bailing_mm.py of SGLang 0.5.23
MODEL_TYPES = ("bailingmm", "bailingmm_moe_v2_lite")
CLASSES = ("BailingMMNativeForConditionalGeneration", "BailingMM2NativeForConditionalGeneration")
IGNORED = tuple(
    """
    audio_decoder_type audio_id_shift audio_wav_frontend_config_sanm ds_conv_type ds_stride image_patch_token
    image_start_token mrope_section norm_query_embeds use_audio_bpe_token use_interleaved_frame_timestamp
    video_patch_token video_start_token vocab_size_audio
    """.split()
)
# The earlier vision tower says this width of itself, whatever out_hidden_size of its config is.
_SEEN = 8192
# Defaults of the published classes of configs, which are not Ling's or Qwen's own.
_ABSENT_TEXT = {"use_bias": True, "use_qk_norm": False}
_ABSENT_VISION = {
    "depth": 32,
    "hidden_size": 3584,
    "intermediate_size": 3420,
    "num_heads": 16,
    "in_channels": 3,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "out_hidden_size": 3584,
}
_ABSENT_LATER_VISION = {
    **_ABSENT_VISION,
    "depth": 27,
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "patch_size": 16,
    "num_position_embeddings": 2304,
    "deepstack_visual_indexes": [8, 16, 24],
}
_TOWERS = {
    "qwen2_5_vit": "qwen2_5_vl_vision",
    "Qwen2_5_VisionTransformer": "qwen2_5_vl_vision",
    "qwen3_moe_vit": "qwen3_vl_moe_vision",
    "qwen3_vl_moe": "qwen3_vl_moe_vision",
    "Qwen3MoeVisionTransformer": "qwen3_vl_moe_vision",
    "Qwen3_VisionTransformer": "qwen3_vl_moe_vision",
}


class BailingMm(Sizes):
    """Sizes specific to Ming-Omni: of the projections, and of the frames that become one."""

    depth: int
    seen: int
    heard: int | None
    frames: int | None


def spec(c: Config) -> Spec[BailingMm]:
    for key in ("talker_config", "whisper_config", "audio_tokenizer_config", "vishead_diffloss_config"):
        if c.given(key):
            raise c.error("not-described", f"{key} asks for parts beside towers, which are not described.", key)
    kinds = ("bailing_moe_v2",) if c.family == "bailingmm_moe_v2_lite" else ("bailing_moe", "bailing_moe_v2")
    inner = c.part("llm_config")
    kind = inner.str("model_type", default=kinds[0])
    if kind not in kinds:
        raise _unknown(c, "llm_config", kind)
    inner.assuming(_ABSENT_TEXT)
    text = families.part(c, "llm_config", kind).replace(head="causal_lm")
    vision, towers = _vision(c), dict[str, Spec]()
    heard = frames = None
    if c.given("audio_config"):
        towers["audio"], heard, frames = _audio(c, c.part("audio_config"))
    sizes = BailingMm.read(
        c,
        depth=c.int("mlp_depth", default=1, maximum=MAX_LAYERS),
        seen=_seen(c, vision),
        heard=heard,
        frames=frames and keys.dim("w_a", frames),
    )
    heads = ("ForConditionalGeneration",)
    model = keys.composite(c, text, {"vision": vision, **towers}, key="llm_config", heads=keys.named(heads))
    return model.replace(tied=text.tied).having(sizes)


def _unknown(c: Config, key: str, kind: str) -> ConfigError:
    return c.error("unknown-kind", f"{key} is of a kind that is not described: {kind}.", key, observed=kind)


def _vision(c: Config) -> Spec:
    inner = c.part("vision_config")
    kind = next(iter(inner.strs("architectures")), "") or inner.str("model_type", default="")
    known = _TOWERS.get(kind)
    if known is None:
        raise _unknown(c, "vision_config", kind)
    inner.assuming(_ABSENT_VISION if known == "qwen2_5_vl_vision" else _ABSENT_LATER_VISION)
    return families.part(c, "vision_config", known)


def _seen(c: Config, vision: Spec) -> int:
    out = vision.output or 0
    if vision.family == "qwen2_5_vl_vision" and out != _SEEN:
        message = f"out_hidden_size of vision_config is {out:,}, and the published projection takes {_SEEN:,}."
        c.cannot_run("contradiction", message, "vision_config", "Correct it.")
    return out


def _audio(c: Config, config: Config) -> tuple[Spec, int, int]:
    """The tower that hears, the width that the projection takes of it, and how many frames that sees."""
    frames = config.int("ds_kernel_size", default=None)
    if config.given("whisper_encoder_config"):
        tower = families.part(config, "whisper_encoder_config", "ming_whisper_encoder")
        return tower, tower.hidden, frames or 3
    tower = families.part(config, "audio_encoder_config_sanm", "ming_sanm_encoder")
    width = config.int("audio_encoder_output_size", default=512)
    if width != tower.hidden:
        message = f"audio_encoder_output_size is {width:,}, and output_size of the encoder {tower.hidden:,}."
        c.cannot_run("contradiction", message, "audio_config", "Correct one of them.")
    return tower, tower.hidden, frames or 1


def blueprint(s: Spec[BailingMm]) -> Block:
    of, d = s.own, s.hidden

    def projector(first: Node, places: range) -> Block:
        return Block({"0": first, **{str(place): Linear(d, d, True) for place in places}}, "projector", 0)

    return block(
        vision=families.tower(s, "vision"),
        audio=families.tower(s, "audio") if of.heard else None,
        model=rebased(families.tree(s.part("text")), "model"),
        linear_proj=projector(Linear(of.seen, d, True), range(2, 2 * of.depth, 2)),
        # There it has a transposition after the convolution.
        linear_proj_audio=projector(conv(of.heard, d, of.frames), range(3, 2 * of.depth + 1, 2))
        if of.heard and of.frames
        else None,
    )


class MingWhisper(Sizes):
    n_mels: int = size("b")


def whisper_spec(c: Config) -> Spec[MingWhisper]:
    """Whisper's encoder by the names of its first implementation (arXiv:2212.04356)."""
    d = c.int("n_state")
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("n_head", maximum=MAX_LAYERS), indivisible="built"),
        ffn=Dense(width=4 * d, bias=True),
    )
    layers = keys.uniform(layer, c.int("n_layer", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d, positions=c.int("n_ctx")).having(MingWhisper.read(c))


def whisper_blueprint(s: Spec[MingWhisper]) -> Block:
    d = s.hidden
    square = Linear(d, d, True)

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        network = Block({"0": Linear(d, width, True), "2": Linear(width, d, True)}, "mlp")
        attention = block("attention", query=square, key=Linear(d, d), value=square, out=square)
        return block(attn=attention, attn_ln=layer_norm(d), mlp=network, mlp_ln=layer_norm(d))

    return block(
        positional_embedding=buffer(s.positions or 0, d),
        conv1=conv(s.own.n_mels, d, 3, component="embedding"),
        conv2=conv(d, d, 3, component="embedding"),
        blocks=stack(s.layers, layer_block),
        ln_post=layer_norm(d),
    )


class MingSanm(Sizes):
    kernel_size: int = count("w")
    normalize_before: bool


class MingSanmLayer(Record):
    inputs: int
    joined: bool


def sanm_spec(c: Config) -> Spec[MingSanm]:
    """SAN-M: attention with a memory of the frames around; the first layer narrows what is heard (arXiv:2006.01713)."""
    c.assuming({"output_size": 256, "attention_heads": 4, "linear_units": 2048, "num_blocks": 6, "kernel_size": 11})
    for key, known in (
        ("input_layer", ("pe", "pe_online")),  # others have tensors
        ("positionwise_layer_type", ("linear",)),
        ("selfattention_layer_type", ("sanm",)),
    ):
        kind = c.str(key, default="conv2d" if key == "input_layer" else known[0])
        if kind not in known:
            raise _unknown(c, key, kind)
    if c.given("lora_list"):
        raise c.error("not-described", "lora_list asks for adapters within, which are not described.", "lora_list")
    d, depth = c.int("output_size"), c.int("num_blocks", maximum=MAX_LAYERS)
    mixer = keys.multi_head(c, d, c.int("attention_heads", maximum=MAX_LAYERS))
    joined = c.bool("concat_after", default=False)
    inputs = c.int("input_size")

    def layer(inputs: int) -> Layer:
        own = MingSanmLayer(inputs=inputs, joined=joined)
        return Layer(mixer=mixer, ffn=Dense(width=c.int("linear_units"), bias=True), own=own)

    first, later = Indices.below(1), Indices.below(depth).difference(Indices.below(1))
    layers = keys.split((first, lambda: layer(inputs)), (later, lambda: layer(d)))
    sizes = MingSanm.read(c, normalize_before=c.bool("normalize_before", default=True))
    return keys.encoding(c, layers, hidden=d).having(sizes)


def sanm_blueprint(s: Spec[MingSanm]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        own = layer.sizes(MingSanmLayer)
        width = layer.dense.width
        attention = block(
            "attention",
            linear_q_k_v=Linear(own.inputs, 3 * d, True),
            linear_out=Linear(d, d, True),
            fsmn_block=conv(1, d, s.own.kernel_size, False),
        )
        return block(
            self_attn=attention,
            feed_forward=block("mlp", w_1=Linear(d, width, True), w_2=Linear(width, d, True)),
            norm1=layer_norm(own.inputs),
            norm2=layer_norm(d),
            concat_linear=Linear(2 * d, d, True) if own.joined else None,
        )

    return block(
        encoders0=stack(s.layers[:1], layer_block),
        encoders=tuple(Repeat(part.indices.shifted(-1), layer_block(part.layer)) for part in s.layers[1:]),
        after_norm=layer_norm(d) if s.own.normalize_before else None,
    )


PARTS = (
    families.Family(("ming_whisper_encoder",), whisper_spec, whisper_blueprint),
    families.Family(("ming_sanm_encoder",), sanm_spec, sanm_blueprint),
)
