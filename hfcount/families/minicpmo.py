"""MiniCPM-o 2.6 and 4.5: SigLIP's tower and Whisper's before Qwen, and speech after it (arXiv:2408.01800)."""

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.families.minicpmv import MiniCPMV
from hfcount.families.minicpmv import blueprint as minicpmv
from hfcount.mapper import Config
from hfcount.parts import altered
from hfcount.parts.composite import as_tower, two_layers
from hfcount.spec import Spec, flag
from hfcount.text import printable
from hfcount.tree.nodes import Block, Node

MODEL_TYPES = ("minicpmo",)  # modeling_minicpmo.py of openbmb/MiniCPM-o-2_6 and openbmb/MiniCPM-o-4_5
IGNORED = (
    "audio_chunk_length",
    "audio_pool_step",
    "batch_vision_input",
    "chunk_input",
    "slice_config",
    "slice_mode",
    "stream_input",
    "use_image_id",
    "vision_batch_size",
)

# configuration_minicpm.py of openbmb/MiniCPM-o-2_6.
_SIGLIP = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "image_size": 980,
    "patch_size": 14,
}
_VERSIONS = {"2.6": ("qwen2", "conditional_chattts"), "4.5": ("qwen3", "minicpmtts")}


class MiniCPMO(MiniCPMV):
    """What MiniCPM-o has besides: whether it sees, hears and speaks."""

    init_vision: bool = flag(absent=True)
    init_audio: bool = flag(absent=True)
    init_tts: bool = flag(absent=True)


def spec(c: Config) -> Spec[MiniCPMO]:
    version = c.str("version", default="2.6")
    words, speech = _VERSIONS.get(version, ("", ""))
    if not words or c.part("tts_config").str("model_type", default=speech) != speech:
        raise UnknownArchitecture(f"{c.where}: version {printable(version, 20)} of MiniCPM-o is not described so.")
    text = families.read(c.as_part().varied("", {"architectures": None}), words)
    seen = c.part("vision_config", defaults={} if c.sub("vision_config") else _SIGLIP)
    vision, audio = families.read(seen, "idefics2_vision"), families.part(c, "audio_config", "whisper_encoder")
    if c.bool("drop_vision_last_layer", default=True):
        vision = vision.replace(layers=keys.uniform(vision.layers[0].layer, max(0, vision.depth - 1)))
    own = MiniCPMO.read(c, places=False)
    parts = {"vision": vision, "audio": audio, "tts": families.part(c, "tts_config", speech), "text": text}
    heads = keys.named(MiniCPMO="causal_lm")
    return keys.decoder_spec(c, text.layers, heads=heads, windows=text.windows, parts=parts).having(own)


def blueprint(s: Spec[MiniCPMO]) -> Block:
    heard = s.parts["audio"]
    without: dict[str, Node | None] = {} if s.own.init_vision else {"vpm": None, "resampler": None}
    audio: dict[str, Node] = {
        "apm": families.tower(s, "audio"),
        "audio_projection_layer": two_layers(heard.layers[0].layer.dense.width // 4, s.hidden),
    }
    speech: dict[str, Node] = {"tts": as_tower(families.tree(s.parts["tts"]), "audio")}
    return altered(minicpmv(s), **without, **(audio if s.own.init_audio else {}), **(speech if s.own.init_tts else {}))
