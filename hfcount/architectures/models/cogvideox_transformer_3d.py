"""CogVideoX: a transformer that denoises the tokens of a video and of a text as one sequence (arXiv:2408.06072).

ConsisID also sees a face, to which every few layers attend (arXiv:2411.17440).
"""

from hfcount.architectures.components.face_features import Face
from hfcount.architectures.layers import diffusion, layer_norm
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.diffusion.layers import feed_forward, time_embedding
from hfcount.architectures.layers.diffusion.transformers import normed_attention
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block, buffer

# diffusers 0.42.1: cogvideox_transformer_3d.py, consisid_transformer_3d.py
MODEL_TYPES = ("CogVideoXTransformer3DModel", "ConsisIDTransformer3DModel")


class CogVideoX(Sizes):
    """Sizes specific to these architectures; `positions` are rows of a table of positions, None if there is none.

    `face` is what sees a face, None without.
    """

    num_attention_heads: int = size("h")
    attention_head_dim: int = size("h_d")
    in_channels: int = size("C")
    out_channels: int = size("C_o")
    time_embed_dim: int = size("d_s")
    text_embed_dim: int = size("d_t")
    num_layers: int = count("L")
    patch_size: int = size("p", minimum=1)
    attention_bias: bool = flag()
    norm_elementwise_affine: bool = flag()
    gated: bool = derived(diffusion.gated_activation)
    patch_bias: bool
    ofs_embed_dim: int | None
    patch_size_t: int | None
    positions: int | None
    face: Face | None


def spec(c: Config) -> Spec[CogVideoX]:
    d = c.int("num_attention_heads") * c.int("attention_head_dim")
    rotary, learned = c.bool("use_rotary_positional_embeddings"), c.bool("use_learned_positional_embeddings")
    if learned and not rotary:
        text = "use_learned_positional_embeddings is true and use_rotary_positional_embeddings is false."
        raise c.error("contradiction", text, "use_learned_positional_embeddings", "Correct one of them.")
    if learned or not rotary:
        diffusion.sinusoidal(c, d, 16)
    faces = c.family == "ConsisIDTransformer3DModel"
    sizes = CogVideoX.read(
        c,
        patch_bias=faces or c.bool("patch_bias"),
        ofs_embed_dim=None if faces else diffusion.nullable(c, "ofs_embed_dim", "d_o"),
        patch_size_t=None if faces else diffusion.nullable(c, "patch_size_t", "p_t"),
        positions=_positions(c) if learned else None,
        face=Face.of(c) if faces and c.bool("is_train_face") else None,
    )
    diffusion.dropout(c)
    return diffusion.diffusing(c, sizes, sizes.num_attention_heads * sizes.attention_head_dim)


def _positions(c: Config) -> int:
    """Rows of the table of positions: those of the text, and those of the patches of the video."""
    patch, step = c.int("patch_size", minimum=1), c.int("temporal_compression_ratio", minimum=1)
    frames = (c.int("sample_frames") - 1) // step + 1
    return c.int("max_text_seq_length") + c.int("sample_height") // patch * (c.int("sample_width") // patch) * frames


def blueprint(s: Spec[CogVideoX]) -> Block:
    d, of = s.hidden, s.own
    norm, affine, patch = layer_norm(of.attention_head_dim), of.norm_elementwise_affine, of.patch_size
    modulated = _modulated(of.time_embed_dim, 6 * d, d, affine)
    layer = block(
        norm1=modulated,
        attn1=normed_attention(d, d, bias=of.attention_bias, norm=norm),
        norm2=modulated,
        ff=feed_forward(d, 4 * d, gated=of.gated),
    )
    places, offsets = patch * patch, of.ofs_embed_dim
    image: Node = conv(of.in_channels, d, patch, bias=of.patch_bias)
    if of.patch_size_t is not None:
        places = places * of.patch_size_t
        image = Linear(of.in_channels * places, d, True)
    table = None if of.positions is None else buffer(1, of.positions, d)
    face = of.face
    crossed = None if face is None else Repeat(Indices.below(face.layers), face.attention(d, face.outer, 2 * d // 3))
    return block(
        patch_embed=block("embedding", proj=image, text_proj=Linear(of.text_embed_dim, d, True), pos_embedding=table),
        time_embedding=time_embedding(d, of.time_embed_dim),
        ofs_embedding=time_embedding(offsets, offsets) if offsets else None,
        transformer_blocks=Repeat(Indices.below(of.num_layers), layer),
        norm_final=layer_norm(d) if affine else None,
        norm_out=_modulated(of.time_embed_dim, 2 * d, d, affine),
        proj_out=Linear(d, places * of.out_channels, True),
        local_facial_extractor=None if face is None else face.extractor(),
        perceiver_cross_attention=crossed,
    )


def _modulated(inputs: int, outputs: int, d: int, affine: bool) -> Block:
    return block("norm", linear=Linear(inputs, outputs, True), norm=layer_norm(d) if affine else None)
