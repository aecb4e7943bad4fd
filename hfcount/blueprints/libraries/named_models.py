"""Configs of models that open_clip, LeRobot and others give by name alone."""

from collections.abc import Mapping
from typing import Any

from hfcount.errors import FetchError, UnknownArchitecture
from hfcount.fetcher.interface import Documents
from hfcount.formats.json import parse_object
from hfcount.text import printable

Values = Mapping[str, Any]


def config_of(name: str, documents: Documents) -> Values | None:
    """The config of a model by its name: of --base, as it is recorded here, or by a request; None if none tells it.

    Raises:
        FetchError: what --base names could not be read.
        DocumentError: it is no JSON object.
        UnknownArchitecture: what the name stands for could not be read.
    """
    read = documents.base
    document = read(name, False) if read else None
    if document is None and (known := KNOWN.get(name.removeprefix("FacebookAI/"))):
        return known
    if document is None and read:
        try:
            document = read(name, True)
        except FetchError as error:
            text = f"{documents.config.where}: the config of {printable(name, 60)} is needed, and could not be read"
            raise UnknownArchitecture(f"{text}: {error}") from None
    return parse_object(document, endless=True) if document else None


def _roberta(vocab: int, width: int, layers: int, model_type: str = "xlm-roberta") -> Values:
    return {
        "model_type": model_type,
        "vocab_size": vocab,
        "hidden_size": width,
        "intermediate_size": 4 * width,
        "num_hidden_layers": layers,
        "num_attention_heads": width // 64,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
    }


def _mt5(width: int, inner: int, layers: int, heads: int) -> Values:
    return {
        "model_type": "mt5",
        "vocab_size": 250112,
        "d_model": width,
        "d_kv": 64,
        "d_ff": inner,
        "num_layers": layers,
        "num_heads": heads,
        "relative_attention_num_buckets": 32,
        "feed_forward_proj": "gated-gelu",
    }


def _nllb(layers: int, inner: int) -> Values:
    sides = {
        f"{side}_{key}": value
        for side in ("encoder", "decoder")
        for key, value in (("layers", layers), ("ffn_dim", inner), ("attention_heads", 16))
    }
    return {"model_type": "m2m_100", "vocab_size": 256206, "d_model": 1024, "max_position_embeddings": 1024, **sides}


def _smolvlm(text: tuple[int, int, int, int, int], vision: tuple[int, int, int, int], scale: int) -> Values:
    """By width, layers, heads, heads of keys and network of the text; width, layers, image and patch of the tower."""
    width, layers, heads, kv_heads, inner = text
    vision_width, depth, image, patch = vision
    return {
        "model_type": "smolvlm",
        "scale_factor": scale,
        "tie_word_embeddings": False,
        "text_config": {
            "model_type": "llama",
            "vocab_size": 49280,
            "hidden_size": width,
            "intermediate_size": inner,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "num_key_value_heads": kv_heads,
            "head_dim": 64,
        },
        "vision_config": {
            "model_type": "smolvlm_vision",
            "hidden_size": vision_width,
            "intermediate_size": 4304 if vision_width == 1152 else 4 * vision_width,
            "num_hidden_layers": depth,
            "num_attention_heads": 16 if vision_width == 1152 else 12,
            "image_size": image,
            "patch_size": patch,
            "num_channels": 3,
        },
    }


_SMALL = (768, 12, 512, 16)

KNOWN: Mapping[str, Values] = {
    "roberta-base": _roberta(50265, 768, 12, "roberta"),
    "roberta-large": _roberta(50265, 1024, 24, "roberta"),
    "xlm-roberta-base": _roberta(250002, 768, 12),
    "xlm-roberta-large": _roberta(250002, 1024, 24),
    "google/mt5-base": _mt5(768, 2048, 12, 12),
    "google/mt5-xl": _mt5(2048, 5120, 24, 32),
    "facebook/nllb-200-distilled-600M": _nllb(12, 4096),
    "facebook/nllb-200-distilled-1.3B": _nllb(24, 8192),
    "HuggingFaceTB/SmolVLM2-256M-Video-Instruct": _smolvlm((576, 30, 9, 3, 1536), _SMALL, 4),
    "HuggingFaceTB/SmolVLM2-500M-Video-Instruct": _smolvlm((960, 32, 15, 5, 2560), _SMALL, 4),
    "HuggingFaceTB/SmolVLM2-2.2B-Instruct": _smolvlm((2048, 24, 32, 32, 8192), (1152, 27, 384, 14), 3),
}
"""The models that the built-in configs of open_clip and LeRobot name: sizes of their published configs."""
