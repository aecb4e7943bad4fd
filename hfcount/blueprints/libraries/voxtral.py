"""Voxtral in Mistral's own layout: an encoder of speech like Whisper's, under names of its own.

Source: vLLM 0.33 (voxtral.py, transformers_utils/configs/mistral.py).
"""

from collections.abc import Mapping
from typing import Any

from hfcount.blueprints.libraries.params import known, size
from hfcount.errors import UnknownArchitecture
from hfcount.spec.tree.nodes import Block, Node, Repeat
from hfcount.text import shown

_SIZES = {
    "dim": "hidden_size",
    "n_layers": "num_hidden_layers",
    "hidden_dim": "intermediate_size",
    "n_heads": "num_attention_heads",
}
_NEUTRAL = (
    "audio_encoding_args",
    "causal",
    "ffn_type",
    "head_dim",
    "max_source_positions",
    "n_kv_heads",
    "norm_eps",
    "norm_type",
    "pos_embed",
    "rope_theta",
    "sliding_window",
    "use_biases",
    "use_cache",
    "vocab_size",
)
_SOUND = (
    "chunk_length_s",
    "frame_rate",
    "global_log_mel_max",
    "hop_length",
    "num_mel_bins",
    "sampling_rate",
    "transcription_format",
    "window_size",
)
_NAMES = {
    "self_attn_layer_norm": "attention_norm",
    "final_layer_norm": "ffn_norm",
}


def config(text: dict[str, Any], audio: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The config of transformers that describes the same model; raises as `mistral.config` does.

    Args:
        text: that of the language model.
        audio: the object `multimodal` of params.json.
    """
    model = known(audio.get("whisper_model_args"), "whisper_model_args", ("encoder_args", "downsample_args"), where)
    encoder = known(model.get("encoder_args"), "encoder_args", (*_SIZES, *_NEUTRAL), where)
    sound = known(encoder.get("audio_encoding_args"), "audio_encoding_args", _SOUND, where)
    joining = known(model.get("downsample_args"), "downsample_args", ("downsample_factor",), where)
    sizes: dict[str, Any] = {new: size(encoder, key, where) for key, new in _SIZES.items()}
    if lacking := _lacking(encoder, sizes, size(joining, "downsample_factor", where)):
        raise UnknownArchitecture(f"{where}: {lacking} is not described.")
    if text["tie_word_embeddings"]:
        raise UnknownArchitecture(f"{where}: what tied_embeddings brings beside multimodal is not described.")
    above = {"quantization_config": text.pop("quantization_config")} if "quantization_config" in text else {}
    tower = {"model_type": "voxtral_encoder", **sizes, "num_mel_bins": size(sound, "num_mel_bins", where)}
    architecture = {"model_type": "voxtral", "architectures": ["VoxtralForConditionalGeneration"]}
    return {**architecture, "text_config": text, "audio_config": tower, **above}


def _lacking(encoder: Mapping[str, Any], sizes: Mapping[str, int], joined: int) -> str:
    """The first difference between the speech encoder and Whisper's; "" if there is none."""
    width, heads = sizes["hidden_size"], sizes["num_attention_heads"]
    if encoder.get("causal"):
        return "an encoder that sees earlier sound alone, such as Voxtral Realtime's,"
    for key, usual in (("head_dim", width // heads), ("n_kv_heads", heads)):
        if encoder.get(key, usual) not in (usual, None):
            return f"{key} {shown(encoder[key])} of encoder_args, where its heads give {usual:,},"
    if joined * width != sizes["intermediate_size"]:
        return f"a projection of {joined:,} frames that together are not as wide as hidden_dim of encoder_args"
    return ""


def renamed(children: Mapping[str, Node]) -> dict[str, Node]:
    """Voxtral's children under the names of this layout, once those of the language model have them."""
    language = dict(children)
    tower, adapter = language.pop("audio_tower"), language.pop("vision_language_adapter")
    assert isinstance(tower, Block) and isinstance(adapter, Block)
    parts = tower.children
    encoder = {
        "conv_layers": Block({"0": parts["conv1"], "1": parts["conv2"]}),
        "transformer": Block({"layers": _layers(parts["layers"]), "norm": parts["layer_norm"]}),
    }
    projection = {"0": adapter.children["w_in"], "2": adapter.children["w_out"]}
    embeddings = {
        "tok_embeddings": language.pop("tok_embeddings"),
        "whisper_encoder": Block(encoder, tower.component, tower.repeats),
        "audio_language_projection": Block(projection, adapter.component, adapter.repeats),
    }
    return {**language, "mm_whisper_embeddings": Block(embeddings)}


def _layers(node: Node) -> Node:
    if isinstance(node, tuple):
        return tuple(map(_layers, node))
    if isinstance(node, Repeat):
        return node.replace(body=_layers(node.body))
    assert isinstance(node, Block)
    parts = dict(node.children)
    attention = parts["attention"]
    assert isinstance(attention, Block)
    projections = {"wo" if name == "out_proj" else name: child for name, child in attention.children.items()}
    network = {"w1": parts.pop("fc1"), "w2": parts.pop("fc2")}
    named = {_NAMES.get(name, name): child for name, child in parts.items()}
    named |= {"attention": attention.replace(children=projections), "feed_forward": Block(network, "mlp")}
    return node.replace(children=named)
