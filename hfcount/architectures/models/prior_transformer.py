"""The prior of Kandinsky and of unCLIP: from an embedding of a text to that of an image (arXiv:2204.06125)."""

from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.diffusion.layers import attention, feed_forward, time_embedding
from hfcount.mapper import Config, Sizes, count, optional, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# diffusers 0.42.1: prior_transformer.py, attention.py
MODEL_TYPES = ("PriorTransformer",)


class PriorTransformer(Sizes):
    """What a prior has; `normed` says whether the inputs, and the projected embedding, are normalised first."""

    normed: tuple[bool, bool]
    projects_text: bool
    predicts: bool
    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    num_layers: int = count("L", minimum=0)
    embedding_dim: int = size("d_e")
    num_embeddings: int = size("n_e")
    additional_embeddings: int = size("n_a", minimum=0)
    time_embed_dim: int | None = optional("d_t")
    embedding_proj_dim: int | None = optional("d_p")
    clip_embed_dim: int | None = optional("d_o")


def _has(c: Config, key: str, word: str) -> bool:
    """Whether the key has this word, and is not null."""
    return not c.is_null(key) and bool(c.choice(key, (word,)))


def spec(c: Config) -> Spec[PriorTransformer]:
    sizes = PriorTransformer.read(
        c,
        normed=(_has(c, "norm_in_type", "layer"), _has(c, "embedding_proj_norm_type", "layer")),
        projects_text=_has(c, "encoder_hid_proj_type", "linear"),
        predicts=_has(c, "added_emb_type", "prd"),
    )
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def blueprint(s: Spec[PriorTransformer]) -> Block:
    of, d = s.own, s.hidden
    projected, made = of.embedding_proj_dim or of.embedding_dim, of.clip_embed_dim or of.embedding_dim
    layer = block(norm1=layer_norm(d), attn1=attention(d, d, bias=True), norm3=layer_norm(d), ff=feed_forward(d, 4 * d))
    places = Tensor((1, of.num_embeddings + of.additional_embeddings, d), component="embedding")
    return block(
        time_embedding=time_embedding(d, of.time_embed_dim or d, d),
        proj_in=Linear(of.embedding_dim, d, True, "embedding"),
        embedding_proj_norm=layer_norm(projected) if of.normed[1] else None,
        embedding_proj=Linear(projected, d, True, "embedding"),
        encoder_hidden_states_proj=Linear(of.embedding_dim, d, True, "embedding") if of.projects_text else None,
        positional_embedding=places,
        prd_embedding=Tensor((1, 1, d), component="embedding") if of.predicts else None,
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        norm_in=layer_norm(d) if of.normed[0] else None,
        norm_out=layer_norm(d),
        proj_to_clip_embeddings=Linear(d, made, True, "projector"),
        clip_mean=Tensor((1, made)),
        clip_std=Tensor((1, made)),
    )
