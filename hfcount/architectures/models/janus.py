"""Janus: a tower that sees and an autoencoder whose codes are drawn, around Llama's layers (arXiv:2410.13848)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import convolution, patch_convolution
from hfcount.architectures.layers.vqgan import decoder, encoder
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("janus",)  # transformers 5.23: modeling_janus.py


def spec(c: Config) -> Spec:
    text, towers = (
        families.part(c, "text_config"),
        {"vision": families.part(c, "vision_config", "janus_vision_model")},
    )
    towers["vq"] = families.part(c, "vq_config", "janus_vqgan")
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model"))


def _aligner(inputs: int, width: int, depth: int) -> Block:
    later = Repeat(Indices.below(max(0, depth - 1)), Linear(width, width, True))
    return block("projector", fc1=Linear(inputs, width, True), hidden_layers=later)


def blueprint(s: Spec) -> Block:
    vision, codes = s.part("vision"), s.part("vq")
    of, width = codes.sizes(JanusVqgan), codes.output
    head = block(
        "projector",
        proj_out=Linear(of.image_token_embed_dim, width, True),
        vision_head=Linear(width, of.num_embeddings, True),
    )
    senses: dict[str, Node] = {
        "vision_model": families.tower(s, "vision"),
        "aligner": _aligner(vision.hidden, vision.output, vision.sizes(JanusVisionModel).depth),
        "vqmodel": Block(families.tree(codes).children, "vision"),
        "generation_embeddings": block("projector", weight=Tensor((of.num_embeddings, codes.hidden))),
        "generation_aligner": _aligner(codes.hidden, width, of.num_hidden_layers),
        "generation_head": head,
    }
    return towers_in_model(s, families.base(s), **senses)


class JanusVisionModel(Sizes):
    attention_bias: bool = flag(absent=True)
    use_qk_norm: bool = flag(absent=False)
    depth: int = size()


def vision_spec(c: Config) -> Spec[JanusVisionModel]:
    """Janus's vision tower: SigLIP's layers, with norms of queries and keys if it has them (arXiv:2410.13848)."""
    d = c.int("hidden_size")
    sizes = JanusVisionModel.read(c)
    return keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.times("mlp_ratio", d), bias=True),
        patches=keys.patches(c),
        positions=keys.squares(c),
        out=c.int("projection_dim"),
    ).having(sizes)


def vision_blueprint(s: Spec[JanusVisionModel]) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, s.own.attention_bias)
    norm = layer_norm(d) if s.own.use_qk_norm else None
    out = Linear(d, d, True)
    attention = block(
        "attention", q_proj=square, k_proj=square, v_proj=square, projection_layer=out, q_norm=norm, k_norm=norm
    )

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width)
        return block(layer_norm1=layer_norm(d), self_attn=attention, layer_norm2=layer_norm(d), mlp=network)

    return block(
        embeddings=block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
        encoder=block(layers=stack(s.layers, layer_block)),
        post_layernorm=layer_norm(d),
    )


class JanusVqgan(Sizes):
    """Sizes specific to Janus's autoencoder; `widths` are those of its stages."""

    widths: tuple[int, ...]
    in_channels: int = size()
    out_channels: int = size()
    base_channels: int = size()
    latent_channels: int = size()
    num_embeddings: int = size()
    num_res_blocks: int = size()
    image_token_embed_dim: int = size()
    num_hidden_layers: int = size()
    double_latent: bool = flag(absent=False)


def vqgan_spec(c: Config) -> Spec[JanusVqgan]:
    """Janus's autoencoder of images, with a code for each patch: VQGAN's stages of convolutions (arXiv:2012.09841)."""
    base, factors = c.int("base_channels"), c.ints("channel_multiplier")
    if not factors:
        raise c.error(
            "out-of-range", "channel_multiplier names no stage.", "channel_multiplier", "Name the width of each."
        )
    sizes = JanusVqgan.read(c, widths=tuple(keys.dim(f"C{n}", base * factor) for n, factor in enumerate(factors, 1)))
    heads = keys.named(JanusVQVAE="base")
    return keys.encoding(c, (), heads, hidden=c.int("embed_dim"), out=c.int("projection_dim")).having(sizes)


def vqgan_blueprint(s: Spec[JanusVqgan]) -> Block:
    of, latent, widths = s.own, s.own.latent_channels, s.own.widths
    codes = block(embedding=block(weight=Tensor((of.num_embeddings, s.hidden))))
    outputs = 2 * latent if of.double_latent else latent
    return block(
        "vision",
        encoder=encoder(of.in_channels, of.base_channels, widths, of.num_res_blocks, outputs),
        quantize=codes,
        quant_conv=convolution(latent, s.hidden, 1),
        post_quant_conv=convolution(s.hidden, latent, 1),
        decoder=decoder(latent, widths, of.num_res_blocks, of.out_channels),
    )


PARTS = (
    families.Family(("janus_vision_model",), vision_spec, vision_blueprint, ignored=("num_image_tokens",)),
    families.Family(("janus_vqgan",), vqgan_spec, vqgan_blueprint, ignored=("num_patches",)),
)
