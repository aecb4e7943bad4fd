"""The tensors of the stages of diffusers' U-Nets, of each kind that they may be of."""

from collections.abc import Sequence

from hfcount.architectures.components.unet_keys import Stage, Stages
from hfcount.architectures.layers.diffusion.layers import (
    attention,
    conv,
    feed_forward,
    image_attention,
    joined,
    numbered,
    resampling,
    residual,
    residuals,
)
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

GATED = ("gated", "gated-text-image")
_IMAGE = 3
"""The channels of an image, which stages with a second way for it take as they are."""


class Halves(Record):
    """How the stages are laid out.

    Args:
        time: the width of what a residual block reads of the step.
        scaled: whether it makes two numbers of it for each channel.
        linear: whether transformers have linear layers around them, and no convolutions.
        dual: whether there are two transformers in the place of each.
        gated: whether their layers also attend to boxes.
        normed: the norm of the text in stages that attend to both at once.
    """

    time: int
    scaled: bool
    linear: bool
    dual: bool = False
    gated: bool = False
    normed: str = ""

    @classmethod
    def of(cls, c: Config, time: int) -> "Halves":
        """Reads the keys of a U-Net that embeds a step in `time` elements; keys that its class lacks are absent."""
        shift = c.choice("resnet_time_scale_shift", ("default", "scale_shift"), default="default")
        twice = c.bool("class_embeddings_concat", default=False)
        return cls(
            time=time * 2 if twice else time,
            scaled=shift == "scale_shift",
            linear=c.bool("use_linear_projection", default=False),
            dual=c.bool("dual_cross_attention", default=False),
            gated=c.str("attention_type", default="default") in GATED,
            normed=c.str("cross_attention_norm", default=""),
        )

    def down(self, stages: Sequence[Stage]) -> Block:
        """The way down: down_blocks, of which each but the last halves the image."""
        made, before = list[Node](), stages[0].width
        for place, stage in enumerate(stages):
            last = place == len(stages) - 1
            if stage.kind.body == "k":
                attentions = Repeat(Indices.below(stage.layers), self._k_attention(stage, stage.width, last))
                built = block(
                    attentions=attentions if stage.kind.attends else None, resnets=self._k_residuals(before, stage)
                )
            else:
                built = block(
                    attentions=self._attentions(stage, stage.layers),
                    resnets=residuals(before, stage.width, stage.layers, self.time, self.scaled),
                    downsamplers=None if last else self._resizing(stage),
                    **({} if last or stage.kind.body == "plain" else self._way_down(stage)),
                )
            made.append(built)
            before = stage.width
        return numbered(made)

    def middle(self, stages: Stages) -> Block | None:
        """The middle: attention between two residual blocks, one such block alone, or nothing."""
        stage = stages.middle
        if stage is None:
            return None
        body, attention = residual(stage.width, stage.width, self.time, self.scaled), self._attentions(stage, 1)
        return block(attentions=attention, resnets=Repeat(Indices.fixed(0, 1) if attention else Indices.fixed(0), body))

    def up(self, stages: Sequence[Stage]) -> Block:
        """The way up: up_blocks, each of which also reads the output of its stage on the way down."""
        made, before = list[Node](), stages[0].width
        for place, stage in enumerate(stages):
            last, beside = place == len(stages) - 1, stages[min(place + 1, len(stages) - 1)].width
            if stage.kind.body == "k":
                built = self._k_up(stage, beside)
            else:
                count = 1 if stage.kind.body == "skip" else stage.layers + 1
                built = block(
                    attentions=self._attentions(stage, count),
                    resnets=joined(before, stage.width, beside, stage.layers, self._residual),
                    upsamplers=None if last else self._resizing(stage),
                    **({} if last or stage.kind.body == "plain" else self._way_up(stage)),
                )
            made.append(built)
            before = stage.width
        return numbered(made)

    def _attentions(self, stage: Stage, count: int) -> Node | None:
        """The attention of a stage, a number of times."""
        if stage.kind.attends == "text":
            return self._transformers(stage, count)
        if stage.kind.attends == "image":
            return Repeat(Indices.below(count), image_attention(stage.width, _inner(stage, stage.width)))
        return Repeat(Indices.below(count), self._added(stage)) if stage.kind.attends else None

    def _added(self, stage: Stage) -> Block:
        """Attention to the image and to a text at once. Tensors also: add_k_proj, add_v_proj, group_norm, norm_cross.

        If it attends to text alone, there are no to_k and to_v.
        """
        d, inner = stage.width, _inner(stage, stage.width)
        text, norm = Linear(stage.memory, inner, True), stage.memory if self.normed == "group_norm" else d
        text_attention = attention(
            d,
            inner,
            add_k_proj=text,
            add_v_proj=text,
            group_norm=layer_norm(d),
            norm_cross=layer_norm(norm) if self.normed else None,
        )
        left = {
            name: node
            for name, node in text_attention.children.items()
            if not (stage.only and name in ("to_k", "to_v"))
        }
        return Block(left, text_attention.component)

    def _transformers(self, stage: Stage, count: int) -> Node:
        """The transformers of a stage."""
        if self.dual:
            two = Repeat(Indices.fixed(0, 1), transformer(stage.replace(only=False), 1, linear=False))
            return Repeat(Indices.below(count), block(transformers=two))
        if len(stage.depths) == 1:
            return Repeat(Indices.below(count), transformer(stage, stage.depths[0], self.linear, self.gated))
        made = [transformer(stage, depth, self.linear, self.gated) for depth in stage.depths[: int(count)]]
        return numbered(made)

    def _resizing(self, stage: Stage) -> Block | None:
        """The resampling behind a stage."""
        if stage.kind.resize == "conv":
            return resampling(stage.width)
        return numbered([self._square(stage)]) if stage.kind.resize else None

    def _residual(self, inputs: int, outputs: int) -> Block:
        return residual(inputs, outputs, self.time, self.scaled)

    def _square(self, stage: Stage) -> Block:
        return self._residual(stage.width, stage.width)

    def _around(self, stage: Stage) -> Block:
        """A residual block whose way around has a convolution, though both widths are equal."""
        attention = self._square(stage)
        return Block({**attention.children, "conv_shortcut": conv(stage.width, stage.width, 1)}, attention.component)

    def _way_down(self, stage: Stage) -> dict[str, Node]:
        """The skip path of an image, and the downsampling of the main path."""
        return {"resnet_down": self._around(stage), "skip_conv": conv(_IMAGE, stage.width, 1)}

    def _way_up(self, stage: Stage) -> dict[str, Node]:
        """The skip path of an image, and the upsampling of the main path."""
        d = stage.width
        return {"resnet_up": self._around(stage), "skip_conv": conv(d, _IMAGE), "skip_norm": layer_norm(d)}

    def _k_residual(self, inputs: int, inner: int, outputs: int) -> Block:
        """A residual block whose norms a step sets. Tensors: norm1.linear, conv1, norm2.linear, conv2, conv_shortcut.

        conv1 makes it `inner` wide, and conv2 as wide as `outputs`.
        """
        around = block("convolution", weight=Tensor((outputs, inputs, 1, 1)))
        return block(
            norm1=self._set(inputs),
            conv1=conv(inputs, inner),
            norm2=self._set(inner),
            conv2=conv(inner, outputs),
            conv_shortcut=None if inputs == outputs else around,
        )

    def _set(self, d: int) -> Block:
        """A norm over `d` channels whose scale and shift depend on the step."""
        return block("norm", linear=Linear(self.time, 2 * d, True))

    def _k_residuals(self, before: int, stage: Stage) -> tuple[Node, ...]:
        d, count = stage.width, stage.layers
        rest = Indices(range(1, max(1, count)), count - 1)
        return Repeat(Indices.fixed(0), self._k_residual(before, d, d)), Repeat(rest, self._k_residual(d, d, d))

    def _k_attention(self, stage: Stage, d: int, itself: bool) -> Block:
        """Attention to text, in a stage that is `d` wide, behind attention to `itself` if it has that."""
        inner = _inner(stage, d)
        return block(
            norm1=self._set(d) if itself else None,
            attn1=attention(d, inner) if itself else None,
            norm2=self._set(d),
            attn2=attention(d, inner, stage.memory, norm_cross=layer_norm(stage.memory)),
        )

    def _k_up(self, stage: Stage, beside: int) -> Block:
        """A stage on the way up, whose last block makes it as wide as the next; it has no block more than `layers`."""
        d, count, attends = stage.width, int(stage.layers), stage.kind.attends
        itself = bool(attends) and d == beside == self.time
        made, heeds = list[Node](), list[Node]()
        places = [Indices.fixed(0), Indices(range(1, count - 1), stage.layers - 2), Indices.of([count - 1])]
        for place, indices in enumerate(places if count > 1 else places[2:]):
            last = place == 2 or count == 1
            inputs = d if itself or (place and count > 1) else 2 * d
            resnet = self._k_residual(inputs, d if attends or not last else beside, beside if last else d)
            made.append(Repeat(indices, resnet))
            heeds.append(Repeat(indices, self._k_attention(stage, beside if last else d, itself)))
        return block(attentions=tuple(heeds) if attends else None, resnets=tuple(made))


def _inner(stage: Stage, d: int) -> int:
    """The width of all heads together, for `d` channels."""
    return stage.head_dim * (d // stage.head_dim)


def transformer(stage: Stage, depth: int, linear: bool, gated: bool = False) -> Block:
    """A transformer over the places of an image. Tensors: norm, proj_in, transformer_blocks and proj_out.

    Its layers have a `fuser` if they are `gated`.
    """
    d, inner = stage.width, stage.heads * (stage.width // stage.heads)
    layer = text_layer(inner, stage.memory, stage.memory if stage.only else None)
    if gated:
        layer = Block({**layer.children, "fuser": _fuser(inner, stage.memory)})
    return around(d, inner, Repeat(Indices.below(depth), layer), linear)


def text_layer(d: int, memory: int | None, first: int | None = None) -> Block:
    """A layer of a transformer over places, with attention to itself, then to what is `memory` wide.

    Without `memory` it attends to itself twice; what is `first` wide stands in the place of itself.
    """
    return block(
        norm1=layer_norm(d),
        attn1=attention(d, d, first, bias=False),
        norm2=layer_norm(d),
        attn2=attention(d, d, memory, bias=False),
        norm3=layer_norm(d),
        ff=feed_forward(d, 4 * d, gated=True),
    )


def around(d: int, inner: int, layers: Node, linear: bool = True, **more: Node) -> Block:
    """A transformer that is `inner` wide, in what is `d` wide. Tensors: norm, proj_in, transformer_blocks, proj_out."""

    def project(inputs: int, outputs: int) -> Node:
        return Linear(inputs, outputs, True, "projector") if linear else conv(inputs, outputs, 1)

    return block(
        norm=layer_norm(d), proj_in=project(d, inner), transformer_blocks=layers, proj_out=project(inner, d), **more
    )


def _fuser(d: int, memory: int) -> Block:
    """Attention to boxes, behind gates (arXiv:2301.07093)."""
    return block(
        linear=Linear(memory, d, True, "attention"),
        attn=attention(d, d, bias=False),
        ff=feed_forward(d, 4 * d, gated=True),
        norm1=layer_norm(d),
        norm2=layer_norm(d),
        alpha_attn=Tensor(()),
        alpha_dense=Tensor(()),
    )
