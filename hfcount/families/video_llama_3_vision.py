"""VideoLLaMA 3's vision tower: SigLIP's layers with rotary positions, for images of any size (arXiv:2501.13106)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, stack
from hfcount.parts.vision import clip_layer, patch_convolution
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("video_llama_3_vision",)  # transformers 5.23: modeling_video_llama_3.py


def spec(c: Config) -> Spec:
    return keys.tower(c, patches=keys.patches(c))


def blueprint(s: Spec) -> Block:
    d = s.hidden
    layers = stack(s.layers, lambda one: clip_layer(d, one))
    table = block(patch_embedding=patch_convolution(s))
    return block(embeddings=table, encoder=block(layers=layers), post_layernorm=layer_norm(d))
