"""Stable Audio 3: a transformer that denoises sound by a text and its length, with attention of differences."""

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, count, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, buffer

# diffusers 0.42.1: transformer_stable_audio3.py, modeling_stable_audio_3.py
MODEL_TYPES = ("StableAudio3DiTModel", "StableAudio3DurationEmbedder")


class StableAudio3(Sizes):
    """Sizes specific to this architecture; `width` is that of its networks."""

    io_channels: int = size("C")
    patch_size: int = size("p")
    embed_dim: int = size("d")
    depth: int = count("L")
    num_heads: int = size("h", minimum=1)
    cond_token_dim: int = size("d_t")
    global_cond_dim: int = size("d_g")
    local_add_cond_dim: int = size("d_l")
    timestep_features_dim: int = size("d_s")
    num_memory_tokens: int = size("n_m", minimum=0)
    use_differential_attention: bool = flag()
    width: int


class Duration(Sizes):
    output_dim: int = size("d")
    fourier_dim: int = size("d_s")


def spec(c: Config) -> Spec[StableAudio3 | Duration]:
    if c.family == "StableAudio3DurationEmbedder":
        for key in ("min_freq", "max_freq"):
            c.number(key)
        length = Duration.read(c)
        return diffusion.diffusing(c, length, length.output_dim)
    sizes = StableAudio3.read(c, width=keys.dim("d_ff", c.times("ff_mult", c.int("embed_dim"))))
    if sizes.embed_dim < sizes.num_heads:
        text = f"embed_dim is {int(sizes.embed_dim):,}, less than num_heads: heads would have no width."
        raise c.error("out-of-range", text, "embed_dim", "Correct one of them.", observed=int(sizes.embed_dim))
    return diffusion.diffusing(c, sizes, sizes.embed_dim)


def blueprint(s: Spec[StableAudio3 | Duration]) -> Block:
    if isinstance(s.own, Duration):
        inputs = s.own.fourier_dim
        return block("embedding", freqs=buffer(inputs // 2), linear=Linear(inputs, s.own.output_dim, True))
    d, of = s.hidden, s.own
    patch, tokens, mixing = (
        of.io_channels * of.patch_size,
        of.num_memory_tokens,
        conv(of.io_channels, of.io_channels, 1, False),
    )
    pairs = of.embed_dim // of.num_heads // 2
    return block(
        to_timestep_embed=_projection(of.timestep_features_dim, d, d, True),
        prompt_padding_embedding=Tensor((of.cond_token_dim,), component="embedding"),
        to_cond_embed=_projection(of.cond_token_dim, d, d, False),
        to_global_embed=_projection(of.global_cond_dim, d, d, False),
        global_cond_embedder=_projection(d, d, 6 * d, True),
        preprocess_conv=block("convolution", weight=mixing.children["weight"]),
        postprocess_conv=block("convolution", weight=mixing.children["weight"]),
        proj_in=Linear(patch, d, component="embedding"),
        proj_out=Linear(d, patch),
        memory_tokens=Tensor((tokens, d), component="embedding") if tokens else None,
        rotary_pos_emb=block(inv_freq=buffer(-(-pairs // 2))),
        transformer_blocks=Repeat(Indices.below(of.depth), _layer(of, d)),
    )


def _projection(inputs: int, d: int, outputs: int, bias: bool) -> Block:
    return Block({"0": Linear(inputs, d, bias), "2": Linear(d, outputs, bias)}, "embedding")


def _layer(of: StableAudio3, d: int) -> Block:
    twice = of.use_differential_attention
    head, norm = block("norm", gamma=Tensor((of.embed_dim // of.num_heads,))), block("norm", gamma=Tensor((d,)))
    out = Linear(d, d)
    sizes = Linear(d, (5 if twice else 3) * d)
    crossed = {"to_q": Linear(d, (2 if twice else 1) * d), "to_kv": Linear(d, (3 if twice else 2) * d)}
    return block(
        pre_norm=norm,
        self_attn=block("attention", to_qkv=sizes, to_out=out, q_norm=head, k_norm=head),
        cross_attend_norm=norm,
        cross_attn=block("attention", **crossed, to_out=out, q_norm=head, k_norm=head),
        ff_norm=norm,
        ff=block("mlp", proj_in=Linear(d, 2 * of.width, True), proj_out=Linear(of.width, d, True)),
        to_scale_shift_gate=Tensor((6 * d,), component="norm"),
        to_local_embed=_projection(of.local_add_cond_dim, d, d, True),
    )
