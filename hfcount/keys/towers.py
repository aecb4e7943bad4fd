"""Towers that see and hear."""

from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Vision
from hfcount.text import printable


def seeing(eyes: Config, *names: str, default: int | None = None) -> int:
    """The width of a tower, which its attention heads share; `names` are what the width may be called."""
    width = eyes.int(*(names or ("hidden_size",)), **({} if default is None else {"default": default}))
    heads = eyes.int("num_attention_heads", "num_heads", "attention_heads", "encoder_attention_heads", default=None)
    if heads and width % heads:
        raise ConfigError(
            f"{eyes.where}: the width {width:,} is not a multiple of the {heads:,} attention heads, which share it."
            " Correct one of them."
        )
    return width


def siglip(eyes: Config) -> Vision:
    """SigLIP's tower; `vision_use_head` is whether it pools its tokens.

    Source of what absent keys mean: transformers 5.23, configuration_siglip.py, SiglipVisionConfig.
    """
    side = eyes.int("patch_size", default=16)
    along = eyes.int("image_size", default=224) // side
    return Vision(
        hidden=seeing(eyes, default=768),
        layers=eyes.int("num_hidden_layers", default=12, maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size", default=3072),
        patch=(side, side),
        channels=eyes.int("num_channels", default=3),
        positions=along * along,
        traits={"vision_use_head": int(eyes.bool("vision_use_head", default=True))},
    )


def clip_or_siglip(eyes: Config) -> Vision:
    """The tower that vision_config's model_type names; SigLIP's has `vision_use_head` in its traits."""
    kind = eyes.str("model_type", default="clip_vision_model")
    if kind == "siglip_vision_model":
        return siglip(eyes)
    if kind != "clip_vision_model":
        raise UnknownArchitecture(
            f"{eyes.where}: model_type is {printable(kind, 60)}, and of the towers of {eyes.family} those called"
            " clip_vision_model and siglip_vision_model are described."
        )
    side = eyes.int("patch_size", default=32)
    along = eyes.int("image_size", default=224) // side
    return Vision(
        hidden=seeing(eyes, default=768),
        layers=eyes.int("num_hidden_layers", default=12, maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size", default=3072),
        patch=(side, side),
        channels=eyes.int("num_channels", default=3),
        positions=along * along + 1,
    )


def qwen3_vision(c: Config) -> Vision:
    """The tower of Qwen3-VL and its successors; `deepstack` is how many layers hand tokens on besides the last.

    Source of what absent keys mean: transformers 5.23, configuration_qwen3_vl.py, Qwen3VLVisionConfig.
    """
    published = {"depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "patch_size": 16, "in_channels": 3}
    merging = {"temporal_patch_size": 2, "spatial_merge_size": 2, "out_hidden_size": 3584}
    eyes = c.part("vision_config", defaults={**published, **merging, "num_position_embeddings": 2304})
    side = eyes.int("patch_size")
    return Vision(
        hidden=seeing(eyes),
        layers=eyes.int("depth", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(eyes.int("temporal_patch_size"), side, side),
        channels=eyes.int("in_channels"),
        positions=eyes.int("num_position_embeddings"),
        merge=eyes.int("spatial_merge_size"),
        out=eyes.int("out_hidden_size"),
    )


def whisper(ears: Config) -> dict[str, int]:
    """The sizes of Whisper's encoder, by the names of hfcount.parts.audio.whisper's arguments.

    Source of what absent keys mean: transformers 5.23, configuration_voxtral.py and configuration_qwen2_audio.py.
    """
    return {
        "d": seeing(ears, "hidden_size", "d_model", default=1280),
        "layers": ears.int("num_hidden_layers", "encoder_layers", default=32, maximum=MAX_LAYERS),
        "width": ears.int("intermediate_size", "encoder_ffn_dim", default=5120),
        "mel": ears.int("num_mel_bins", default=128),
        "positions": ears.int("max_source_positions", default=1500),
    }


def gemma4_vision(c: Config) -> Vision:
    """Gemma 4's tower; its traits go by the names of hfcount.parts.vision_gemma.gemma4_vision's arguments.

    Source of what absent keys mean: transformers 5.23, configuration_gemma4.py, Gemma4VisionConfig.
    """
    published = {"hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 16, "num_attention_heads": 12}
    heads = {"num_key_value_heads": 12, "head_dim": 64}
    eyes = c.part("vision_config", defaults={**published, **heads, "patch_size": 16, "position_embedding_size": 10240})
    side = eyes.int("patch_size")
    return Vision(
        hidden=eyes.int("hidden_size"),
        layers=eyes.int("num_hidden_layers", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(side, side),
        positions=eyes.int("position_embedding_size"),
        traits={
            "heads": eyes.int("num_attention_heads"),
            "kv_heads": eyes.int("num_key_value_heads"),
            "head_dim": eyes.int("head_dim"),
            "clipped": int(eyes.bool("use_clipped_linears", default=False)),
            "standardised": int(eyes.bool("standardize", default=False)),
        },
    )


def mllama_vision(c: Config) -> Vision:
    """Llama 3.2's tower, whose layers come in two stacks; the second one's depth is among its traits.

    Source of what absent keys mean: transformers 5.23, configuration_mllama.py, MllamaVisionConfig.
    """
    published = {"hidden_size": 1280, "intermediate_size": 5120, "num_hidden_layers": 32, "num_global_layers": 8}
    image = {"num_channels": 3, "image_size": 448, "patch_size": 14, "max_num_tiles": 4}
    eyes = c.part("vision_config", defaults={**published, **image, "vision_output_dim": 7680})
    side, ratios = eyes.int("patch_size"), eyes.length("supported_aspect_ratios")
    along = eyes.int("image_size") // side
    names = ("num_global_layers", "max_num_tiles", "vision_output_dim")
    traits = {name: eyes.int(name, minimum=0, maximum=MAX_LAYERS) for name in names}
    return Vision(
        hidden=seeing(eyes),
        layers=eyes.int("num_hidden_layers", maximum=MAX_LAYERS),
        width=eyes.int("intermediate_size"),
        patch=(side, side),
        channels=eyes.int("num_channels"),
        positions=along * along + 1,
        traits={**traits, "supported_aspect_ratios": 8 if ratios is None else ratios},
    )


def conformer(c: Config) -> dict[str, int]:
    """The sizes of Gemma 4's encoder, by the names of hfcount.parts.audio.conformer's arguments.

    Source of what absent keys mean: transformers 5.23, configuration_gemma4.py, Gemma4AudioConfig.
    """
    published = {"hidden_size": 1024, "num_hidden_layers": 12, "num_attention_heads": 8}
    ears = c.part("audio_config", defaults={**published, "conv_kernel_size": 5, "output_proj_dims": 1536})
    channels = ears.ints("subsampling_conv_channels", default=(128, 32))
    if len(channels) != 2:
        raise ConfigError(f"{ears.where}: subsampling_conv_channels has {len(channels):,} entries, and must have 2.")
    return {
        "d": seeing(ears),
        "layers": ears.int("num_hidden_layers", maximum=MAX_LAYERS),
        "heads": ears.int("num_attention_heads", maximum=MAX_LAYERS),
        "kernel": ears.int("conv_kernel_size", maximum=MAX_LAYERS),
        "first": channels[0],
        "second": channels[1],
        "out": ears.int("output_proj_dims", maximum=MAX_LAYERS),
        "clipped": int(ears.bool("use_clipped_linears", default=True)),
    }
