"""VideoLLaMA 3 as it was released: a tower for images of any size in Qwen2's model (arXiv:2501.13106)."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.components.video_llama import vision_blueprint
from hfcount.architectures.layers import within
from hfcount.architectures.layers.composite import as_tower
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

# modeling_videollama3.py, modeling_videollama3_encoder.py and their configs of DAMO-NLP-SG/VideoLLaMA3
MODEL_TYPES = ("videollama3_qwen2",)
CLASSES = ("Videollama3Qwen2ForCausalLM",)
IGNORED = tuple(
    "image_aspect_ratio is_alignment mm_attn_implementation mm_hidden_size mm_vision_select_feature"
    " mm_vision_select_layer tokenizer_model_max_length tokenizer_padding_side use_flash_loss use_mm_proj"
    " use_reconstruct use_token_compression vision_encoder vision_encoder_lr mm_projector_lr llm_lr".split()
)


class Videollama3(Sizes):
    """How many linear layers the projector has; a `single` one is not in a list."""

    depth: int
    single: bool


def spec(c: Config) -> Spec[Videollama3]:
    known = keys.named(("ForCausalLM",))
    keys.head_of(c, known)
    kind = c.str("mm_projector_type", default="mlp2x_gelu")
    deep = re.fullmatch(r"mlp(\d+)x_gelu", kind)
    vision = families.part(c, "vision_encoder_config", always="videollama3_vision_encoder")
    if not deep and (kind != "linear" or c.int("mm_hidden_size") != vision.hidden):
        raise UnknownArchitecture(f"{c.where}: VideoLLaMA 3 is described with linear layers behind its tower, alone.")
    text = families.read(c.as_part().varied("", {"architectures": None}), "qwen2")
    parts = {"vision": vision, "text": text}
    model = keys.decoder_spec(c, text.layers, heads=known, windows=text.windows, parts=parts)
    return model.having(Videollama3(depth=max(int(deep[1]), 1) if deep else 1, single=not deep))


def blueprint(s: Spec[Videollama3]) -> Block:
    d, of = s.hidden, s.own
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    # An activation follows each linear layer but the last.
    first, later = Linear(s.part("vision").hidden, d, True), Indices.of(range(2, 2 * int(of.depth), 2))
    chain = (Repeat(Indices.below(1), first), Repeat(later, Linear(d, d, True)))
    projector: Node = as_tower(first if of.single else block(readout=chain), "projector")
    return within(text, model=block(vision_encoder=families.tower(s, "vision"), mm_projector=projector))


_ABSENT = {
    "hidden_size": 768,
    "intermediate_size": 3072,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "num_channels": 3,
    "patch_size": 16,
}


def vision_spec(c: Config) -> Spec:
    """The tower of VideoLLaMA 3 as it was released, also on its own (arXiv:2501.13106)."""
    c = c.assuming(_ABSENT)
    return keys.tower(c, patches=keys.patches(c), further={"VisionEncoderModel": "base"})


PARTS = (
    families.Family(
        ("videollama3_vision_encoder",),
        vision_spec,
        vision_blueprint,
        classes=("Videollama3VisionEncoderModel",),
    ),
)
