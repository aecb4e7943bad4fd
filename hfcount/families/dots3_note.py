"""dots3-note: latent attention in windows or to selected tokens, balanced experts, towers for images and sound."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.composite import towers_beside_model
from hfcount.spec import Spec
from hfcount.tree.nodes import Block

MODEL_TYPES = ("dots3_note",)  # transformers 5.23: modeling_dots3_note.py
SPELLINGS = {
    r"^audio_encoder\.": "model.audio_tower.",
    r"^vision_encoder\.": "model.vision_tower.",
    r"^model\.(?=(?:embed_tokens|layers|norm)\.)": "model.language_model.",
}


def spec(c: Config) -> Spec:
    towers = {
        "vision": families.part(c, "vision_config", "dots3_note_vision_encoder"),
        "audio": families.part(c, "audio_config", "dots3_note_audio_encoder"),
    }
    text = families.part(c, "text_config", "dots3_note_text")
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration",))


def blueprint(s: Spec) -> Block:
    vision, audio = families.tower(s, "vision"), families.tower(s, "audio")
    return towers_beside_model(s, families.base(s), audio_encoder=audio, vision_encoder=vision)
