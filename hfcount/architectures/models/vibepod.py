"""VibePod, and VibeVoice as its own code has it: tokenizers, Qwen2, a head that diffuses (arXiv:2508.19205)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.codecs import ratios
from hfcount.architectures.layers import layer_norm, rms_norm, swiglu
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import Head, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, buffer, obsolete

# modeling_vibevoice.py, modeling_vibevoice_inference.py, modular_vibevoice_tokenizer.py and
# modular_vibevoice_diffusion_head.py of vibevoice-community/VibeVoice, and modeling_vibevoice_asr.py of
# microsoft/VibeVoice; VibePod is the same model under its earlier name
MODEL_TYPES = ("vibepod",)
CLASSES = (
    "VibePodForConditionalGeneration",
    "VibePodModel",
    "VibeVoiceForConditionalGenerationInference",
    "VibeVoiceASRForConditionalGeneration",
    "VibeVoiceForASRTraining",
    "VibeVoiceASRModel",
)
IGNORED = ("causal", "ddpm_batch_mul", "ddpm_num_inference_steps", "ddpm_num_steps", "speech_vae_dim")

_HEADS: dict[str, Head] = {
    **{f"Vibe{name}ForConditionalGeneration": "conditional_generation" for name in ("Pod", "Voice", "VoiceASR")},
    **{f"Vibe{name}Model": "base" for name in ("Pod", "Voice", "VoiceASR")},
    "VibeVoiceForConditionalGenerationInference": "conditional_generation",
    "VibeVoiceForASRTraining": "conditional_generation",
}
_EXPANSION, _KERNEL, _FREQUENCIES = 4, 7, 256
"""How much wider a tokenizer's networks are, how far its layers look, and how many frequencies a step has."""
_RATIOS, _DEPTHS = (8, 5, 5, 4, 2, 2), "3-3-3-3-3-3-8"
"""What a tokenizer is by default."""


class Side(Record):
    """One side of a tokenizer, from the wave on: its first width, the ratios of its steps, the depth of each stage."""

    width: int
    ratios: tuple[int, ...]
    depths: tuple[int, ...]


class Tokenizer(Sizes):
    """A tokenizer: a wave of `channels`, and `vae_dim` numbers for each place of what it becomes."""

    channels: int = size("C_a", absent=1)
    vae_dim: int = size("z", absent=64)
    kernel_size: int = size("w", absent=_KERNEL)
    last_kernel_size: int = size("w_l", absent=_KERNEL)
    conv_bias: bool = flag(absent=True)
    normed_last: bool
    affine: bool
    centred: bool
    scaled: bool
    depthwise: bool
    encoder: Side
    decoder: Side | None


class Diffusion(Record):
    """The head that diffuses: its layers, its width and that of its networks, and the numbers of a latent."""

    layers: int
    width: int
    ffn: int
    latent: int


class VibePod(Sizes):
    """Sizes of the parts: what is heard, what is meant, how wide each comes to its connector, and the head, if any."""

    acoustic: Tokenizer
    semantic: Tokenizer
    acoustic_width: int
    semantic_width: int
    diffusion: Diffusion | None


def spec(c: Config) -> Spec[VibePod]:
    name = keys.head_of(c, _HEADS)[0]
    if c.given("decoder_config"):
        c.part("decoder_config").choice("model_type", ("qwen2",), default="")
    text = families.part(c, "decoder_config", "qwen2")
    acoustic = _tokenizer(c.part("acoustic_tokenizer_config"), decodes=True)
    semantic = _tokenizer(c.part("semantic_tokenizer_config"), decodes=False)
    recognises = "ASR" in name
    if recognises:
        c.without_effect("diffusion_head_config")
    sizes = VibePod.read(
        c,
        acoustic=acoustic,
        semantic=semantic,
        acoustic_width=c.int("acoustic_vae_dim", default=acoustic.vae_dim),
        semantic_width=c.int("semantic_vae_dim", default=semantic.vae_dim),
        diffusion=None if recognises else _diffusion(c.part("diffusion_head_config")),
    )
    model = keys.composite(c, text, {}, key="decoder_config", heads=_HEADS).having(sizes)
    # The class for inference asks the config of the whole, which ties by default; the others ask the language model's.
    asked = c.bool("tie_word_embeddings", default=True) if name.endswith("Inference") else text.tied
    return model.replace(tied=asked)


def _tokenizer(c: Config, decodes: bool) -> Tokenizer:
    if c.str("conv_norm", default="none") != "none":
        raise UnknownArchitecture(f"{c.where}: tokenizers whose convolutions are normed (conv_norm) are not described.")
    steps, depths = ratios(c, "encoder_ratios", _RATIOS), _depths(c, "encoder_depths")
    encoder = _side(c, "encoder", c.int("encoder_n_filters", default=32), steps, depths)
    return Tokenizer.read(
        c,
        normed_last=not c.bool("disable_last_norm", default=True),
        affine=c.bool("layernorm_elementwise_affine", default=True),
        centred=c.choice("layernorm", ("RMSNorm", "LN"), default="RMSNorm") == "LN",
        scaled=c.number("layer_scale_init_value", default=1e-6, zero=True) > 0,
        depthwise=c.choice("mixer_layer", ("depthwise_conv", "conv"), default="depthwise_conv") == "depthwise_conv",
        encoder=encoder,
        decoder=_back(c, steps, depths) if decodes else None,
    )


def _back(c: Config, steps: tuple[int, ...], depths: tuple[int, ...]) -> Side:
    """The side that makes sound, whose ratios and depths go from the latent on, as the encoder's ratios do."""
    own = ratios(c, "decoder_ratios", steps)
    told = isinstance(c.value("decoder_depths"), str)
    if not told:
        c.without_effect("decoder_depths")  # a list is passed over
    backwards = tuple(reversed(_depths(c, "decoder_depths"))) if told else depths
    return _side(c, "decoder", c.int("decoder_n_filters", default=32), own, backwards)


def _side(c: Config, name: str, width: int, steps: tuple[int, ...], depths: tuple[int, ...]) -> Side:
    if len(depths) != len(steps) + 1:
        key = f"{name}_depths"
        text = f"{key} has {len(depths):,} entries, but must have one more than {name}_ratios, {len(steps):,}."
        raise c.error("list-length", text, key, "Correct one of them.")
    return Side(width=width, ratios=tuple(reversed(steps)), depths=depths)


def _depths(c: Config, key: str) -> tuple[int, ...]:
    """How many layers each stage has: a list, or a text of numbers with hyphens between."""
    value = c.value(key) if c.has(key) else _DEPTHS
    if isinstance(value, str):
        c.str(key, default=None)
        numbers = [int(part) if part.isdecimal() and len(part) < 9 else -1 for part in value.split("-")]
    else:
        numbers = c.ints(key)
    if any(not 0 <= number <= MAX_LAYERS for number in numbers):
        raise c.error("out-of-range", f"{key} must hold numbers of layers with hyphens between.", key, "Correct it.")
    return tuple(keys.dim(f"N_s{place}", number) for place, number in enumerate(numbers))


def _diffusion(c: Config) -> Diffusion:
    width = c.int("hidden_size", default=768)
    return Diffusion(
        layers=keys.dim("N_d", c.int("head_layers", default=4, maximum=MAX_LAYERS)),
        width=keys.dim("d_h", width),
        ffn=c.times("head_ffn_ratio", width, default=3.0),
        latent=keys.dim("z_h", c.int("latent_size", default=64)),
    )


def blueprint(s: Spec[VibePod]) -> Block:
    d, of = s.hidden, s.own

    def connector(inputs: int) -> Block:
        return block("projector", fc1=Linear(inputs, d, True), norm=rms_norm(d), fc2=Linear(d, d, True))

    diffuses: dict[str, Node] = {}
    if of.diffusion is not None:
        number = buffer(component="other")
        diffuses = {
            "speech_scaling_factor": number,
            "speech_bias_factor": number,
            "prediction_head": _head(of.diffusion),
        }
    return towers_in_model(
        s,
        families.base(s),
        acoustic_tokenizer=_encoding(of.acoustic),
        semantic_tokenizer=_encoding(of.semantic),
        acoustic_connector=connector(of.acoustic_width),
        semantic_connector=connector(of.semantic_width),
        **diffuses,
    )


def _head(of: Diffusion) -> Block:
    d = of.width

    def modulation(count: int) -> Block:
        return Block({"1": Linear(d, count * d)})

    layer = block(ffn=swiglu(d, of.ffn), norm=rms_norm(d), adaLN_modulation=modulation(3))
    return block(
        "other",
        noisy_images_proj=Linear(of.latent, d),
        cond_proj=Linear(d, d),
        t_embedder=block(mlp=Block({"0": Linear(_FREQUENCIES, d), "2": Linear(d, d)})),
        layers=Repeat(Indices.below(of.layers), layer),
        final_layer=block(linear=Linear(d, of.latent), adaLN_modulation=modulation(2)),
    )


def _encoding(of: Tokenizer) -> Block:
    """A tokenizer; that of VibePod stored its fixed deviation."""
    if of.decoder is None:
        return block("audio", encoder=_encoder(of))
    return block("audio", encoder=_encoder(of), decoder=_decoder(of, of.decoder), fix_std=obsolete())


def _encoder(of: Tokenizer) -> Block:
    side, width = of.encoder, of.encoder.width
    steps = {"0": _step(conv=block(conv=conv(of.channels, width, of.kernel_size, of.conv_bias)))}
    stages = {"0": _stage(of, width, side.depths[0])}
    for number, (ratio, depth) in enumerate(zip(side.ratios, side.depths[1:], strict=True), 1):
        steps[f"{number}"] = _step(conv=block(conv=conv(width, 2 * width, 2 * ratio, of.conv_bias)))
        width = 2 * width
        stages[f"{number}"] = _stage(of, width, depth)
    return _ended(of, width, of.vae_dim, downsample_layers=Block({**steps}), stages=Block({**stages}))


def _decoder(of: Tokenizer, side: Side) -> Block:
    """The way back from a latent to a wave."""
    before = side.width * 2 ** len(side.ratios)
    steps = {"0": _step(conv=block(conv=conv(of.vae_dim, before, of.kernel_size, of.conv_bias)))}
    stages = {"0": _stage(of, before, side.depths[-1])}
    for number, (ratio, depth) in enumerate(zip(reversed(side.ratios), side.depths[-2::-1], strict=True), 1):
        width = side.width * 2 ** (len(side.ratios) - number)
        steps[f"{number}"] = _step(convtr=block(convtr=upsampling(before, width, 2 * ratio, of.conv_bias)))
        stages[f"{number}"] = _stage(of, width, depth)
        before = width
    return _ended(of, before, of.channels, upsample_layers=Block({**steps}), stages=Block({**stages}))


def _step(**convolution: Block) -> Block:
    return Block({"0": block(**convolution)})


def _ended(of: Tokenizer, width: int, out: int, **before: Block) -> Block:
    norm = _norm(of, width) if of.normed_last and (of.affine or of.centred) else None
    head = block(conv=block(conv=conv(width, out, of.last_kernel_size, of.conv_bias)))
    return block("convolution", **before, norm=norm, head=head)


def _norm(of: Tokenizer, width: int) -> Block:
    return layer_norm(width) if of.centred else rms_norm(width)


def _stage(of: Tokenizer, width: int, depth: int) -> Repeat:
    wide, norm, scale = _EXPANSION * width, _norm(of, width), Tensor((width,)) if of.scaled else None
    mixed = conv(1 if of.depthwise else width, width, _KERNEL, of.conv_bias)
    layer = block(
        gamma=scale,
        ffn_gamma=scale,
        norm=norm,
        ffn_norm=norm,
        mixer=block(conv=block(conv=block(conv=mixed))),
        ffn=block("mlp", linear1=Linear(width, wide, of.conv_bias), linear2=Linear(wide, width, of.conv_bias)),
    )
    return Repeat(Indices.below(depth), layer)
