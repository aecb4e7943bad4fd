"""VideoLLaMA 3's vision tower: SigLIP's layers without a table of positions (arXiv:2501.13106)."""

from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.vision import clip_layer, patch_convolution
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block


def vision_blueprint(s: Spec) -> Block:
    """The tower: patches, layers and a norm."""
    d = s.hidden
    layers = stack(s.layers, lambda layer: clip_layer(d, layer))
    table = block(patch_embedding=patch_convolution(s))
    return block(embeddings=table, encoder=block(layers=layers), post_layernorm=layer_norm(d))
