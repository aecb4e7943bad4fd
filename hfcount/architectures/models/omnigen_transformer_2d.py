"""OmniGen: a language model that also reads images, and denoises one (arXiv:2409.11340)."""

from hfcount.architectures.layers import diffusion, rms_norm
from hfcount.architectures.layers.diffusion.layers import time_embedding
from hfcount.architectures.layers.diffusion.transformers import modulated, normed_attention, patches
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

MODEL_TYPES = ("OmniGenTransformer2DModel",)  # diffusers 0.42.1: transformer_omnigen.py


class OmniGen(Sizes):
    in_channels: int = size("C")
    patch_size: int = size("p", minimum=1)
    hidden_size: int = size("d")
    num_attention_heads: int = size("h", minimum=1)
    num_key_value_heads: int = size("h_kv")
    intermediate_size: int = size("d_ff")
    num_layers: int = count("L")
    vocab_size: int = size("V")
    pos_embed_max_size: int = size("n_p")
    time_step_dim: int = size("d_s")


def spec(c: Config) -> Spec[OmniGen]:
    sizes = OmniGen.read(c)
    if sizes.hidden_size % 4:
        text = f"hidden_size is {int(sizes.hidden_size):,}, which a table of places needs in quarters."
        raise c.error("not-divisible", text, "hidden_size", "Correct it.", observed=int(sizes.hidden_size))
    if sizes.hidden_size < sizes.num_attention_heads:
        text = f"hidden_size is {int(sizes.hidden_size):,}, less than num_attention_heads: heads would have no width."
        raise c.error("out-of-range", text, "hidden_size", "Correct it.", observed=int(sizes.hidden_size))
    scaling = c.object("rope_scaling") or {}
    for key in ("short_factor", "long_factor"):
        if key not in scaling:
            text = f"rope_scaling has no {key}, which each model of the class is built with."
            raise c.error("contradiction", text, "rope_scaling", f"Give {key}, a factor for each pair.")
    if not c.is_null("pad_token_id"):
        pad, rows = c.int("pad_token_id", minimum=-int(sizes.vocab_size)), sizes.vocab_size
        if pad >= rows:
            text = f"pad_token_id is {int(pad):,}, and vocab_size {int(rows):,}."
            raise c.error("out-of-range", text, "pad_token_id", "Correct one of them.", observed=int(pad))
    diffusion.activation(c, "timestep_activation_fn")
    return diffusion.diffusing(c, sizes, sizes.hidden_size)


def blueprint(s: Spec[OmniGen]) -> Block:
    d, of = s.hidden, s.own
    head, width, norm = d // of.num_attention_heads, of.intermediate_size, rms_norm(d)
    sizes = Linear(d, of.num_key_value_heads * head)
    image, rows = patches(of.in_channels, d, of.patch_size, of.patch_size), of.pos_embed_max_size
    layer = block(
        input_layernorm=norm,
        self_attn=normed_attention(d, d, d, False, to_k=sizes, to_v=sizes, to_out=Block({"0": Linear(d, d)})),
        post_attention_layernorm=norm,
        mlp=block("mlp", gate_up_proj=Linear(d, 2 * width), down_proj=Linear(width, d)),
    )
    return block(
        patch_embedding=block(
            "embedding", pos_embed=buffer(1, rows * rows, d), output_image_proj=image, input_image_proj=image
        ),
        time_token=time_embedding(of.time_step_dim, d),
        t_embedder=time_embedding(of.time_step_dim, d),
        embed_tokens=block("embedding", weight=Tensor((of.vocab_size, d))),
        layers=Repeat(Indices.below(of.num_layers), layer),
        norm=norm,
        norm_out=modulated(d, 2 * d),
        proj_out=Linear(d, of.patch_size * of.patch_size * of.in_channels, True),
    )
