"""Janus's autoencoder of images, with a code for each patch: VQGAN's stages of convolutions (arXiv:2012.09841)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts.vision import convolution
from hfcount.parts.vqgan import decoder, encoder
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("janus_vqgan",)  # transformers 5.23: modeling_janus.py
IGNORED = ("num_patches",)


def spec(c: Config) -> Spec:
    base, factors = c.int("base_channels"), c.ints("channel_multiplier")
    if not factors:
        raise c.error("channel_multiplier names no stage.", "channel_multiplier", "Name the width of each.")
    traits: dict[str, int] = {
        f"width.{place}": keys.sized(f"C{place + 1}", base * factor) for place, factor in enumerate(factors)
    }
    sizes = ("in_channels", "out_channels", "base_channels", "latent_channels", "num_embeddings", "num_res_blocks")
    traits |= {name: c.int(name) for name in (*sizes, "image_token_embed_dim", "num_hidden_layers")}
    traits |= {"stages": len(factors), "double_latent": c.bool("double_latent", default=False)}
    heads = keys.named(JanusVQVAE="base")
    return keys.encoding(c, (), heads, hidden=c.int("embed_dim"), out=c.int("projection_dim"), traits=traits)


def blueprint(s: Spec) -> Block:
    of, latent = s.traits, s.traits["latent_channels"]
    widths = [of[f"width.{place}"] for place in range(of["stages"])]
    codes = block(embedding=block(weight=Tensor((of["num_embeddings"], s.hidden))))
    outputs = 2 * latent if of["double_latent"] else latent
    return block(
        "vision",
        encoder=encoder(of["in_channels"], of["base_channels"], widths, of["num_res_blocks"], outputs),
        quantize=codes,
        quant_conv=convolution(latent, s.hidden, 1),
        post_quant_conv=convolution(s.hidden, latent, 1),
        decoder=decoder(latent, widths, of["num_res_blocks"], of["out_channels"]),
    )
