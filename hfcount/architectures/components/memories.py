"""The memory of earlier frames in SAM's successors for videos (arXiv:2408.00714)."""

from math import log2
from typing import Self

from hfcount.architectures.components.sam import feed_forward, narrowed_attention
from hfcount.architectures.keys import dim, multi_head, uniform
from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.ffn import mlp
from hfcount.architectures.layers.norms import layer_norm
from hfcount.architectures.layers.stacks import stack
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count, flag, size
from hfcount.spec import Dense, Layer, Layers, Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

_SEEN = 64  # the width of a memory, for the layers that attend to it


class Perceiver(Sizes):
    """Latents that attend to a memory, and among themselves (arXiv:2501.07256); `square` are those in a grid."""

    line: int = size("n_l", "perceiver_resampler_num_latents", minimum=0)
    square: int = size("n_q", "perceiver_resampler_num_latents_2d", minimum=0)
    hidden: int = size("d_l", "perceiver_resampler_hidden_size", minimum=0)
    wide: int = size("d_q", "perceiver_resampler_mlp_intermediate_size", minimum=0)
    heads: int = size("h_l", "perceiver_resampler_num_attention_heads", minimum=0)
    head_dim: int = size("h_q", "perceiver_resampler_attention_head_dim", minimum=0)
    depth: int = size("N_l", "perceiver_resampler_num_layers", minimum=0)

    def tensors(self) -> Block:
        """Its tensors: latents_1d (1, n_l, d_l) and latents_2d, layers, layer_norm."""
        d, wide, inner = self.hidden, self.wide, self.heads * self.head_dim
        into, norm = Linear(d, inner), layer_norm(d)
        attention = block("attention", q_proj=into, k_proj=into, v_proj=into, o_proj=Linear(inner, d))
        network = block(
            layer_norm=norm, up_proj=Linear(d, wide, component="mlp"), down_proj=Linear(wide, d, component="mlp")
        )
        layer = block(
            cross_attention=attention,
            mlp=network,
            self_attention=attention,
            self_mlp=network,
            layer_norm_input=norm,
            layer_norm_latents=norm,
            layer_norm_self=norm,
        )
        return block(
            latents_1d=Tensor((self.line, d), component="embedding") if self.line else None,
            latents_2d=Tensor((self.square, d), component="embedding") if self.square else None,
            layers=Repeat(Indices.below(self.depth), layer),
            layer_norm=norm,
        )


class Kept(Sizes):
    """The encoder of a frame's features and mask into memory."""

    num_maskmem: int = size("n_k")
    memory_encoder_hidden_size: int = size("d_e")
    memory_encoder_output_channels: int = size("d_k")
    memory_fuser_embed_dim: int = size("d_x")
    memory_fuser_intermediate_dim: int = size("d_y")
    memory_fuser_kernel_size: int = size("w_x")
    mask_downsampler_embed_dim: int = size("d_z")
    mask_downsampler_kernel_size: int = size("w_z")
    mask_downsampler_stride: int = size("s_z")


class Joined(Sizes):
    """The fusion of a frame's features with its mask, and learned embeddings of places and times."""

    memory_fuser_num_layers: int = count("N_x")
    occluded: bool = flag("enable_occlusion_spatial_embedding")
    pointed: bool = flag("enable_temporal_pos_encoding_for_object_pointers")


class Memories(Record):
    """Features and masks of earlier frames, and latents of them if there is a `perceiver`.

    Masks are made smaller in so many stages; what attends to memories is `width` wide, and `inner` between.
    """

    kept: Kept
    perceiver: Perceiver | None
    joined: Joined
    mask_stages: int
    width: int
    inner: int

    @classmethod
    def read(cls, c: Config, latent: bool) -> Self:
        """Those of a model; `latent` if it makes latents of them."""
        kept = Kept.read(c)
        perceiver = Perceiver.read(c) if latent else None
        side, total = kept.mask_downsampler_stride, c.int("mask_downsampler_total_stride")
        if side < 2:
            text = "mask_downsampler_stride is 1, and no number of such steps makes a mask smaller."
            raise c.error("out-of-range", text, "mask_downsampler_stride")
        key = "memory_attention_hidden_size"
        width, rate = c.int(key), c.int("memory_attention_downsample_rate")
        joined = Joined.read(c)
        inner = width // rate if rate else 0
        return cls(
            kept=kept,
            perceiver=perceiver,
            joined=joined,
            mask_stages=int(log2(max(1, total)) // log2(side)),
            width=dim("d_r", width),
            inner=dim("d_j", inner),
        )

    def tensors(self, d: int, layers: tuple[Layers, ...]) -> Block:
        """The tensors that a video model adds to the image model, whose features are `d` wide.

        Tensors: memory_attention, memory_encoder, mask_downsample, object_pointer_proj,
        temporal_positional_encoding_projection_layer, with latents spatial_perceiver, and `tokens`.
        """
        width, inner, norm = self.width, self.inner, layer_norm(self.width)
        latent, kept = self.perceiver is not None, self.kept.memory_encoder_output_channels

        def layer_block(layer: Layer) -> Block:
            wide = layer.dense.width
            named = {"mlp": mlp(width, wide, up="up_proj", down="down_proj")}
            return Block(
                {
                    "self_attn": narrowed_attention(width, inner, "o_proj"),
                    "cross_attn_image": narrowed_attention(width, inner, "o_proj", memory=_SEEN),
                    **(named if latent else fc(width, wide, up="linear1", down="linear2")),
                    **block(layer_norm1=norm, layer_norm2=norm, layer_norm3=norm).children,
                }
            )

        pointed = Linear(d, kept, True, "other") if self.joined.pointed else None
        return block(
            memory_attention=block(layers=stack(layers, layer_block), layer_norm=norm),
            memory_encoder=self.encoder(),
            mask_downsample=block("other", weight=Tensor((1, 1, 4, 4)), bias=Tensor((1,))),
            object_pointer_proj=feed_forward(d, d, d, 3),
            temporal_positional_encoding_projection_layer=pointed,
            spatial_perceiver=self.perceiver.tensors() if self.perceiver else None,
            **self.tokens(d).children,
        )

    def downsampler(self) -> Block:
        """Convolutions that make a mask smaller by the same factor, and its channels more by the factor's square.

        Tensors: layers of conv and layer_norm, final_conv.
        """
        of, stages, channels = self.kept, dict[str, Block](), 1
        for number in range(self.mask_stages):
            outputs = channels * of.mask_downsampler_stride * of.mask_downsampler_stride
            conv = convolution(channels, outputs, of.mask_downsampler_kernel_size)
            stages[str(number)] = block(conv=conv, layer_norm=layer_norm(outputs))
            channels = outputs
        return block(layers=Block(stages), final_conv=convolution(channels, of.mask_downsampler_embed_dim, 1))

    def encoder(self) -> Block:
        """Features and masks of a frame, fused and made narrower.

        Tensors: mask_downsampler, feature_projection, memory_fuser, projection.
        """
        of, d, fused = self.kept, self.kept.memory_encoder_hidden_size, self.kept.memory_fuser_embed_dim
        wide = of.memory_fuser_intermediate_dim
        fuser = block(
            scale=Tensor((fused,)),
            depthwise_conv=convolution(1, fused, of.memory_fuser_kernel_size),
            layer_norm=layer_norm(fused),
            pointwise_conv1=Linear(fused, wide, True),
            pointwise_conv2=Linear(wide, fused, True),
        )
        return block(
            "other",
            mask_downsampler=self.downsampler(),
            feature_projection=convolution(d, d, 1),
            memory_fuser=block(layers=Repeat(Indices.below(self.joined.memory_fuser_num_layers), fuser)),
            projection=convolution(d, of.memory_encoder_output_channels, 1),
        )

    def tokens(self, d: int) -> Block:
        """Learned vectors: the places and times of memories, and placeholders for absent inputs."""
        kept = self.kept.memory_encoder_output_channels
        return block(
            "embedding",
            no_memory_positional_encoding=Tensor((1, 1, d)),
            memory_temporal_positional_encoding=Tensor((self.kept.num_maskmem, 1, 1, kept)),
            no_object_pointer=Tensor((1, d)),
            occlusion_spatial_embedding_parameter=Tensor((1, kept)) if self.joined.occluded else None,
        )


def memory_layers(c: Config, wide: str) -> list[Layers]:
    """Layers that attend to memories; `wide` is the key of the width of their network."""
    width, heads = c.int("memory_attention_hidden_size"), c.int("memory_attention_num_attention_heads")
    mixer, rate = multi_head(c, width, heads, indivisible="built"), c.int("memory_attention_downsample_rate")
    if heads and rate and width // rate % heads:
        text = f"memory_attention_hidden_size {width:,} by memory_attention_downsample_rate {rate:,} is no multiple of"
        c.cannot_run("not-divisible", f"{text} {heads:,} heads.", "memory_attention_downsample_rate", "Correct one.")
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int(wide), bias=True))
    return uniform(layer, c.int("memory_attention_num_layers", maximum=MAX_LAYERS))
