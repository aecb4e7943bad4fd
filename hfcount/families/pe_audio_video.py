"""Perception Encoder Audiovisual: sound, video and words in one space (https://huggingface.co/facebook/pe-av-large)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import as_tower, shared_copy
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Component, Linear, Node, Tensor, block

# transformers 5.23: modeling_pe_audio_video.py, modeling_pe_audio.py, modeling_pe_video.py
MODEL_TYPES = ("pe_audio_video", "pe_audio", "pe_video")

_SENSES: dict[str, Component] = {"audio": "audio", "video": "vision"}


def spec(c: Config) -> Spec:
    name = c.family.removeprefix("pe_")
    encoder = keys.only(c, families.part(c, f"{name}_config"), f"{c.family}_encoder")
    parts = {"both" if name == "audio_video" else name: encoder}
    tied = c.bool("tie_word_embeddings") if name == "audio_video" else False
    return keys.composite(c, families.part(c, "text_config"), parts, heads=("Model",)).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    text = families.base(s)
    if "both" not in s.parts:
        name = next(one for one in _SENSES if one in s.parts)
        return _pair(name, s.hidden, text, s.parts[name])
    both, d = s.parts["both"], s.hidden
    encoder = families.tree(both)
    found: dict[str, Node] = {"text_model": text}
    second = shared_copy(text, buffers=True) if s.tied else text
    for name in _SENSES:
        found[f"{name}_model"] = _pair(name, d, second, both.parts[name])
        found |= _contrast(f"{name}_plus_text", d + both.parts[name].hidden, d)
    inner = dict(encoder.children)
    if s.tied and isinstance(inner["embedder"], Block):
        embedder = dict(inner["embedder"].children)
        second_time = {name: shared_copy(embedder[name], buffers=True) for name in ("audio_encoder", "video_encoder")}
        inner["embedder"] = Block(embedder | second_time)
    found |= {"audio_video_encoder": Block(inner, repeats=0)}
    found |= _contrast("audio_video", both.hidden, d) | _contrast("text_audio_video", d, d)
    return Block(found)


def _pair(name: str, d: int, text: Node, encoder: Spec) -> Block:
    """A model of text and of another sense."""
    heads = {f"{name}_head": _head(encoder.hidden, d)} | _contrast(f"text_{name}", d, d)
    return Block({"text_model": text, f"{name}_encoder": as_tower(families.tree(encoder), _SENSES[name]), **heads})


def _contrast(name: str, inputs: int, d: int) -> dict[str, Node]:
    """The head of what is compared, and how the comparison is scaled."""
    one = Tensor((1,), component="other")
    return {f"{name}_head": _head(inputs, d), f"{name}_logit_scale": one, f"{name}_logit_bias": one}


def _head(inputs: int, d: int) -> Block:
    return block("projector", layer_norm=layer_norm(inputs), proj=Linear(inputs, d))
