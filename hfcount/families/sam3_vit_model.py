"""SAM 3's ViT: attention within windows, everywhere in a few layers, with rotary positions (arXiv:2511.16719)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import patch_convolution, square_attention
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("sam3_vit_model",)  # transformers 5.23: modeling_sam3.py
IGNORED = ("image_size", "window_size", "global_attn_indexes", "layer_scale_init_value")


def spec(c: Config) -> Spec:
    side, image = c.int("patch_size"), c.int("pretrain_image_size")
    across = image // side  # what is left over is as no pixel of the table: it is tiled to any image
    if not across:
        said = f"pretrain_image_size is {image:,}, less than patch_size, which is {side:,}."
        c.cannot_run(said, "pretrain_image_size", "Correct one of them.")
    return keys.tower(c, patches=keys.patches(c), positions=across * across, indivisible="built")


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        norm, network = layer_norm(d), mlp(d, one.dense.width)
        return block(layer_norm1=norm, attention=square_attention(d), layer_norm2=norm, mlp=network)

    table = Tensor((1, s.positions or 0, d))
    patches = block(projection=patch_convolution(s, bias=False))
    return block(
        embeddings=block("embedding", position_embeddings=table, patch_embeddings=patches),
        layer_norm=layer_norm(d),
        layers=stack(s.layers, layer),
    )
