"""Nemotron 3 Omni: a hybrid language model that sees with RADIO and, if it hears, does so with Parakeet (its card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, backbones, rms_norm
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.models.radio import Radio
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, obsolete

# transformers 5.23: modeling_nemotron_h_omni.py
# and, for the first releases, nano_nemotron_vl.py of vllm-project/vllm 0.33
MODEL_TYPES = ("nemotron_h_omni", "NemotronH_Nano_VL_V2", "NemotronH_Nano_Omni_Reasoning_V3")
CLASSES = (
    "NemotronH_Nano_VL_V2",
    "NemotronH_Nano_Omni_Reasoning_V3",
    "NemotronH_Super_Omni_Reasoning_V3",
    "NemotronH_Omni_Reasoning_V3",
)
IGNORED = (
    "force_image_size",
    "max_sequence_length",
    "norm_mean",
    "norm_std",
    "patch_size",
    "sampling_rate",
    "use_thumbnail",
)
SPELLINGS = {
    r"^mlp1\.0\.": "multi_modal_projector.layer_norm.",
    r"^mlp1\.1\.": "multi_modal_projector.linear_1.",
    r"^mlp1\.3\.": "multi_modal_projector.linear_2.",
    r"^vision_projector\.vision_final_layernorm\.": "vision_final_layernorm.",  # so since 5.24
    r"^sound_encoder\.encoder\.": "audio_tower.",
    r"^sound_projection\.norm\.": "embed_audio.layer_norm.",
    r"^sound_projection\.linear([12])\.": r"embed_audio.linear_\1.",
}

_BANDS, _WINDOW = 257, 400  # of the spectra at 16 kHz whose filters the first checkpoints store


def _predicts(c: Config) -> bool:
    inner = c.part(_named(c, "text_config", "llm_config"))
    return inner.int("num_nextn_predict_layers", default=0, minimum=0) > 0


class Sound(Sizes):
    """The projection of what it hears, and the filters whose number its config tells."""

    projection_hidden_size: int = size("d_s")
    projection_bias: bool = flag()
    num_mel_bins: int = size()


class NemotronHOmni(Sizes):
    """Sizes specific to Nemotron 3 Omni; patches are joined `downsample_ratio` times along each side."""

    downsample_ratio: int = derived(lambda c: keys.inverse(c, "m", "downsample_ratio", default=0.5))
    projector_hidden_size: int = size("d_p")
    vision_hidden_size: int
    vision_final_layernorm: bool = derived(_predicts)
    sound: Sound | None = None


def spec(c: Config) -> Spec[NemotronHOmni]:
    read, audio = _named(c, "text_config", "llm_config"), _named(c, "audio_config", "sound_config")
    inner = c.part(read)
    inner.kind = inner.kind or "nemotron_h"
    c.kind = "nemotron_h_omni"  # whose class means the same by absent keys
    trained = c.part("vision_config").given("args")
    vision = backbones.only(c, families.part(c, "vision_config", "radio" if trained else ""), "radio")
    text, narrow = families.part(c, read), c.int("vision_hidden_size", "vit_hidden_size")
    if not trained:  # else it is a key of the tower alone
        _check_frames(c, vision.sizes(Radio).frames)
    if narrow != vision.hidden:
        message = f"vision_hidden_size is {narrow:,}, and hidden_size in vision_config {vision.hidden:,}."
        c.cannot_run("contradiction", message, "vision_hidden_size", "Correct one of them.")
    sizes = NemotronHOmni.read(c, vision_hidden_size=keys.dim("d_v", narrow))
    if not sizes.downsample_ratio:
        raise c.error("out-of-range", "downsample_ratio must be at most 1.", "downsample_ratio")
    towers = {"vision": vision.replace(adapted=True)}
    if heard := c.sub(audio):
        heard.assuming({"attention_bias": False, "scale_input": False})
        known = heard.kind in (None, "", "parakeet")  # the name of the encoder's family stands in the first configs
        towers["audio"] = families.part(c, audio, "parakeet_encoder" if known else "")
        sizes = sizes.replace(sound=Sound.read(heard))
    heads = keys.named(Omni_Reasoning_V3="conditional_generation", Nano_VL_V2="conditional_generation")
    return keys.composite(c, text, towers, key=read, heads=heads).replace(tied=text.tied).having(sizes)


def _check_frames(c: Config, spanned: int) -> None:
    frames = c.int("video_temporal_patch_size")
    if frames != spanned:
        text = f"video_temporal_patch_size is {frames:,}, and {spanned:,} in vision_config."
        raise c.error("contradiction", text, "video_temporal_patch_size", "Correct one of them.")


def _named(c: Config, now: str, before: str) -> str:
    return before if c.given(before) and not c.given(now) else now


def blueprint(s: Spec[NemotronHOmni]) -> Block:
    of, sound, d = s.own, s.own.sound, s.hidden
    vision_width, wide = of.downsample_ratio * of.downsample_ratio * of.vision_hidden_size, of.projector_hidden_size
    unstored = Tensor((of.vision_hidden_size,), presence="dispensable")
    normed = Block({"weight": unstored, "bias": unstored}, "norm", 0) if of.vision_final_layernorm else None
    projector = Block(
        {"0": rms_norm(vision_width), "1": Linear(vision_width, wide), "3": Linear(wide, d)}, "projector", 0
    )
    text = families.tree(s.part("text").replace(head="causal_lm"))
    body = block(
        language_model=rebased(text, "language_model"),
        vision_model=families.tower(s, "vision"),
        vision_projector=block(vision_final_layernorm=normed) if normed else None,
        mlp1=projector,
    )
    if sound is None:
        return body
    heard, between, bias = s.part("audio").hidden, sound.projection_hidden_size, sound.projection_bias
    filters = block(fb=obsolete(1, sound.num_mel_bins, _BANDS), window=obsolete(_WINDOW))
    encoder = altered(families.tower(s, "audio"), feature_extractor=block(featurizer=filters))
    into, out = Linear(heard, between, bias), Linear(between, d, bias)
    projected = Block({"norm": rms_norm(heard), "linear1": into, "linear2": out}, "projector", 0)
    return altered(body, sound_encoder=Block({"encoder": encoder}, "audio", 0), sound_projection=projected)
