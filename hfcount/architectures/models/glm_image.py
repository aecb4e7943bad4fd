"""GLM-Image: GLM-4 over text and codes of images, of which it predicts the latter (https://huggingface.co/zai-org)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.layers.vision import convolution, fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("glm_image",)  # transformers 5.23: modeling_glm_image.py


class GlmImage(Sizes):
    vision_vocab_size: int


def spec(c: Config) -> Spec[GlmImage]:
    parts = {"vision": families.part(c, "vision_config"), "codes": families.part(c, "vq_config")}
    codes = keys.dim("|V_v|", c.part("text_config").int("vision_vocab_size", default=16_512))
    heads = ("ForConditionalGeneration", "Model")
    sizes = GlmImage.read(c, vision_vocab_size=codes)
    model = keys.composite(c, families.part(c, "text_config"), parts, heads=heads)
    return model.replace(tied=False).having(sizes)  # whatever a config says: this architecture ties no head


def blueprint(s: Spec[GlmImage]) -> Block:
    codes = as_tower(families.tree(s.part("codes")), "vision")
    body = block(visual=families.tower(s, "vision"), language_model=families.base(s), vqmodel=codes)
    if s.head == "base":
        return body
    return block(model=body, lm_head=Linear(s.hidden, s.own.vision_vocab_size, component="lm_head"))


class GlmImageVision(Sizes):
    attention_bias: bool = flag(absent=True)


def vision_spec(c: Config) -> Spec[GlmImageVision]:
    """GLM-Image's vision tower: a table of positions, then layers, no norm behind them."""
    sizes = GlmImageVision.read(c)
    return keys.tower(
        c,
        heads=("num_heads",),
        depth=("depth",),
        indivisible="built",
        patches=keys.patches(c, "in_channels"),
        positions=keys.squares(c),
    ).having(sizes)


def vision_blueprint(s: Spec[GlmImageVision]) -> Block:
    d, bias = s.hidden, s.own.attention_bias

    def layer_block(layer: Layer) -> Block:
        attention = fused_square_attention(d, bias, bias)
        return block(norm1=layer_norm(d), norm2=layer_norm(d), attn=attention, mlp=mlp(d, layer.dense.width))

    return block(
        embeddings=block(position_embedding=positions(s)),
        patch_embed=block(proj=patch_convolution(s)),
        blocks=stack(s.layers, layer_block),
    )


class GlmImageVqmodel(Sizes):
    num_embeddings: int = size("n_e")
    latent_channels: int = size("C")


def vq_spec(c: Config) -> Spec[GlmImageVqmodel]:
    """GLM-Image's codebook of patches, with projections to it and back (arXiv:1711.00937)."""
    sizes = GlmImageVqmodel.read(c)
    return keys.encoding(c, (), {"VQVAE": "base"}, hidden=c.int("embed_dim")).having(sizes)


def vq_blueprint(s: Spec[GlmImageVqmodel]) -> Block:
    d, latent = s.hidden, s.own.latent_channels
    return block(
        quantize=block(embedding=embedding(s.own.num_embeddings, d)),
        quant_conv=convolution(latent, d, 1),
        post_quant_conv=convolution(d, latent, 1),
    )


PARTS = (
    families.Family(("glm_image_vision",), vision_spec, vision_blueprint, ignored=("spatial_merge_size",)),
    families.Family(("glm_image_vqmodel",), vq_spec, vq_blueprint, ignored=("in_channels",)),
)
