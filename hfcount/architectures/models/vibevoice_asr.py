"""VibeVoice ASR: what is said and how it sounds, by two tokenizers' encoders, before a language model (model card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import rms_norm
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.conversions import inside
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node

MODEL_TYPES = ("vibevoice_asr",)  # transformers 5.23: modeling_vibevoice_asr.py
IGNORED = ("acoustic_tokenizer_chunk_size",)
SPELLINGS = inside("acoustic_tokenizer_encoder", "semantic_tokenizer_encoder", "multi_modal_projector")


def spec(c: Config) -> Spec:
    text = families.part(c, "text_config")
    towers = {name: families.part(c, f"{key}_tokenizer_encoder_config") for name, key in _NAMES.items()}
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=False)  # whatever a config says: its class ties nothing


_NAMES = {"audio": "acoustic", "meaning": "semantic"}


def blueprint(s: Spec) -> Block:
    d, projector, towers = s.hidden, dict[str, Node](), dict[str, Node]()
    for name, key in _NAMES.items():
        part = s.parts[name]
        towers[f"{key}_tokenizer_encoder"] = Block({**families.tree(part).children}, "audio", 0)
        projector[f"{key}_linear_1"] = Linear(part.hidden, d, True)
        projector[f"{key}_norm"] = rms_norm(d)
        projector[f"{key}_linear_2"] = Linear(d, d, True)
    return llava(s, families.base(s), **towers, multi_modal_projector=Block(projector, "projector"))
