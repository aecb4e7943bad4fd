"""Karlo's projections of embeddings of a text and an image, for a U-Net that reads both (arXiv:2204.06125)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# diffusers 0.42.1: text_proj.py
MODEL_TYPES = ("UnCLIPTextProjModel",)


class TextProjection(Sizes):
    clip_extra_context_tokens: int = size("n_t")
    clip_embeddings_dim: int = size("d_e")
    time_embed_dim: int = size("d_t")
    cross_attention_dim: int = size("d_c")


def spec(c: Config) -> Spec[TextProjection]:
    sizes = TextProjection.read(c)
    return diffusion.diffusing(c, sizes, sizes.cross_attention_dim)


def blueprint(s: Spec[TextProjection]) -> Block:
    of, inputs, d = s.own, s.own.clip_embeddings_dim, s.own.cross_attention_dim
    timed = Linear(inputs, of.time_embed_dim, True)
    return block(
        "projector",
        learned_classifier_free_guidance_embeddings=Tensor((inputs,)),
        embedding_proj=timed,
        clip_image_embeddings_project_to_time_embeddings=timed,
        clip_extra_context_tokens_proj=Linear(inputs, of.clip_extra_context_tokens * d, True),
        encoder_hidden_states_proj=Linear(inputs, d, True),
        text_encoder_hidden_states_norm=layer_norm(d),
    )
