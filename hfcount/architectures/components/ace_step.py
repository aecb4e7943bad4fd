"""ACE-Step's parts: layers that denoise sound, and those that make their conditions, and tokens of sound."""

from typing import Literal

from hfcount.architectures.layers import rms_norm, swiglu
from hfcount.architectures.layers.diffusion.transformers import STEP_CHANNELS, table
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.spec import Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

Convolutions = Literal["wrapped", "plain"]
"""Whether the convolutions at both ends stand between two turns of the places, as the published code numbers them."""


class Stack(Record):
    """Layers: how many, the width of what they read, and how many tokens they learn for it; `sound` is what they give.

    The tokens are many for what makes sound of tokens, which alone gives sound.
    """

    layers: int
    inputs: int
    tokens: int
    sound: int | None = None

    def tensors(self, d: int, width: int, attention: Block) -> Block:
        """Layers of width `d`, with a network of `width`."""
        layer = block(
            self_attn=attention,
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
            mlp=swiglu(d, width),
        )
        learned = Tensor((1, self.tokens, d), component="embedding") if self.tokens else None
        many = self.sound is not None
        return block(
            embed_tokens=Linear(self.inputs, d, True, "embedding"),
            norm=rms_norm(d),
            special_token=None if many else learned,
            special_tokens=learned if many else None,
            proj_out=None if self.sound is None else Linear(d, self.sound, True),
            layers=Repeat(Indices.below(self.layers), layer),
        )


class Denoiser(Record):
    """The transformer: its layers, its channels, those of the sound, a patch's places, the width of a condition."""

    layers: int
    inputs: int
    sound: int
    patch: int
    condition: int

    def tensors(self, d: int, width: int, attention: Block, convolutions: Convolutions) -> Block:
        """Layers of width `d`, with a network of `width`, and what is at both of their ends."""
        layer = block(
            self_attn_norm=rms_norm(d),
            self_attn=attention,
            cross_attn_norm=rms_norm(d),
            cross_attn=attention,
            mlp_norm=rms_norm(d),
            mlp=swiglu(d, width),
            scale_shift_table=table(1, 6, d),
        )
        first, square = Linear(STEP_CHANNELS, d, True), Linear(d, d, True)
        step = block("embedding", linear_1=first, linear_2=square, time_proj=Linear(d, 6 * d, True))
        into, out = conv(self.inputs, d, self.patch, component="embedding"), upsampling(d, self.sound, self.patch)
        wrapped = convolutions == "wrapped"
        return block(
            layers=Repeat(Indices.below(self.layers), layer),
            proj_in=Block({"1": into}) if wrapped else None,
            proj_in_conv=None if wrapped else into,
            time_embed=step,
            time_embed_r=step,
            condition_embedder=Linear(self.condition, d, True, "embedding"),
            norm_out=rms_norm(d),
            proj_out=Block({"1": out}) if wrapped else None,
            proj_out_conv=None if wrapped else out,
            scale_shift_table=table(1, 2, d),
        )


def tokenizer(sound: int, d: int, pooler: Block, quantized: tuple[int, int], always: bool) -> Block:
    """What makes tokens of sound.

    Args:
        quantized: the width of a token, and of how many numbers it is.
        always: whether it is projected to these numbers even where they are as many as it is wide.
    """
    width, numbers = quantized
    into, out = Linear(width, numbers, True), Linear(numbers, width, True)
    projected = always or width != numbers
    return block(
        audio_acoustic_proj=Linear(sound, d, True, "embedding"),
        attention_pooler=pooler,
        quantizer=block("projector", project_in=into, project_out=out) if projected else None,
    )
