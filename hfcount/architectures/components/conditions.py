"""Time step embeddings of diffusers' U-Nets, and their other conditioning."""

from itertools import pairwise

from hfcount.architectures import keys
from hfcount.architectures.layers import diffusion
from hfcount.architectures.layers.diffusion.layers import conv, time_embedding
from hfcount.architectures.layers.norms import layer_norm
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block
from hfcount.text import shown

_PLACES = {"text_image_proj": 10, "image_proj": 32}  # how many tokens an image becomes
_HIDDEN = ("text_proj", *_PLACES)
_ADDED = ("text", "text_image", "text_time", "image", "image_hint")
_WIDTH = "projection_class_embeddings_input_dim"


class Conditions(Record):
    """The embeddings of the step and of the other conditions.

    Args:
        first: the width of the first stage.
        time: the width of the embedding of a step.
        fourier: whether it is made of Fourier features.
        condition: the width of what else is added to them.
        hidden: the width of the text that is projected first, and `hidden_kind` how.
        memory: the width of what stages attend to.
        classes: the rows of the table of classes.
        class_kind: how classes are embedded, and `added_kind` how what is added is.
        projected: the width of what is projected for either.
    """

    first: int
    time: int
    fourier: bool
    condition: int | None
    hidden: int | None
    hidden_kind: str
    memory: int
    classes: int | None
    class_kind: str
    added_kind: str
    projected: int | None

    @classmethod
    def of(cls, c: Config, first: int, memory: int, control: bool = False) -> "Conditions":
        """By the keys of a U-Net whose first stage is `first` wide, and whose stages attend to what is `memory` wide.

        One for `control` knows fewer kinds.

        Raises:
            ConfigError: a kind is unknown, or the width of what it projects is absent.
        """
        fourier, width = (False, first * 4) if control else _of_time(c, first)
        class_kind = c.str("class_embed_type", default="") or ""
        if control and class_kind == "simple_projection":
            class_kind = "identity"  # which brings no tensors either
        added = diffusion.word(c, "addition_embed_type", (None, *_ADDED[: 3 if control else None])) or ""
        needs = class_kind in ("projection", "simple_projection") or added == "text_time"
        hidden, hidden_kind = _hidden(c, _HIDDEN[: 2 if control else None])
        if isinstance(c.value("cross_attention_dim"), list) and (hidden_kind or added in ("text", "text_image")):
            text = "cross_attention_dim is a list, and a projection needs one number."
            raise c.error("contradiction", text, "cross_attention_dim")
        if added in ("image", "image_hint") and hidden is None:
            raise c.error(
                "contradiction", f"addition_embed_type is {added}, and encoder_hid_dim is null.", "encoder_hid_dim"
            )
        return cls(
            first=first,
            time=width,
            fourier=fourier,
            condition=None if control else _optional(c, "time_cond_proj_dim", "d_g"),
            hidden=hidden,
            hidden_kind=hidden_kind,
            memory=memory,
            classes=None if class_kind else _optional(c, "num_class_embeds", "n_c"),
            class_kind=class_kind,
            added_kind=added,
            projected=keys.dim("d_p", c.int(_WIDTH)) if needs else None,
        )

    def tensors(self) -> dict[str, Node | None]:
        """The embeddings, by their names."""
        inputs = self.time if self.fourier else self.first
        return {
            "time_proj": block("embedding", weight=Tensor((self.time // 2,))) if self.fourier else None,
            "time_embedding": time_embedding(inputs, self.time, condition=self.condition),
            "encoder_hid_proj": self._projection(),
            "class_embedding": self._classes(inputs),
            "add_embedding": self._added(),
        }

    def _projection(self) -> Node | None:
        """The projection of the text or the image."""
        if self.hidden is None:
            return None
        text, places = Linear(self.hidden, self.memory, True), _PLACES.get(self.hidden_kind, 0) * self.memory
        if self.hidden_kind == "text_proj":
            return Linear(self.hidden, self.memory, True, "projector")
        if self.hidden_kind == "image_proj":
            return block("projector", image_embeds=Linear(self.hidden, places, True), norm=layer_norm(self.memory))
        return block("projector", image_embeds=Linear(self.memory, places, True), text_proj=text)

    def _classes(self, inputs: int) -> Node | None:
        """The embedding of a class or another number."""
        if self.class_kind == "simple_projection":
            return Linear(self.projected or 0, self.time, True, "embedding")
        if self.class_kind in ("timestep", "projection"):
            return time_embedding(inputs if self.class_kind == "timestep" else self.projected or 0, self.time)
        return None if self.classes is None else block("embedding", weight=Tensor((self.classes, self.time)))

    def _added(self) -> Node | None:
        """The embedding that is added to that of the step."""
        d, kind = self.time, self.added_kind
        if kind == "text_time":
            return time_embedding(self.projected or 0, d)
        if kind == "text":
            return _pooled(self.memory if self.hidden is None else self.hidden, d)
        if not kind:
            return None
        width = self.memory if kind == "text_image" else self.hidden or 0
        image, norm = Linear(width, d, True), layer_norm(d)
        if kind == "text_image":
            return block("embedding", text_proj=Linear(width, d, True), text_norm=norm, image_proj=image)
        return block(
            "embedding", image_proj=image, image_norm=norm, input_hint_block=_hinted() if kind == "image_hint" else None
        )


def _optional(c: Config, key: str, symbol: str) -> int | None:
    value: int | None = c.int(key, default=None)
    return None if value is None else keys.dim(symbol, value)


def _of_time(c: Config, first: int) -> tuple[bool, int]:
    """Whether a step is embedded by Fourier features, and the width of its embedding."""
    fourier = c.choice("time_embedding_type", ("positional", "fourier"), default="positional") == "fourier"
    given = c.int("time_embedding_dim", default=0, minimum=0)
    width = keys.dim("d_t", given) if given else first * (2 if fourier else 4)
    if fourier and width % 2:
        text = f"time_embedding_dim is {int(width):,}, and has to be even."
        raise c.error("not-divisible", text, "time_embedding_dim", observed=int(width))
    return fourier, width


def _hidden(c: Config, known: tuple[str, ...]) -> tuple[int | None, str]:
    """The width of the text before it is projected, and how it is: one of the kinds that are known."""
    width = _optional(c, "encoder_hid_dim", "d_e")
    kind = diffusion.word(c, "encoder_hid_dim_type", (None, *known)) or ""
    if kind and width is None:
        text = f"encoder_hid_dim_type is {shown(kind)}, and encoder_hid_dim is null."
        raise c.error("contradiction", text, "encoder_hid_dim", "Give both, or none.")
    return width, kind or ("text_proj" if width is not None else "")


def _pooled(width: int, d: int) -> Block:
    """An embedding of a text by one place that attends to all others."""
    square = Linear(width, width, True)
    pool = block(positional_embedding=Tensor((1, width)), k_proj=square, q_proj=square, v_proj=square)
    return block("embedding", norm1=layer_norm(width), pool=pool, proj=Linear(width, d, True), norm2=layer_norm(d))


_BOX = 64
"""Sines and cosines of the four sides of a box, at eight frequencies."""


def boxes(text: int, kind: str) -> Block:
    """The embedding of boxes and their contents: text, or by `kind` an image too (arXiv:2301.07093)."""
    steps = {"0": Linear(text + _BOX, _WIDE, True), "2": Linear(_WIDE, _WIDE, True), "4": Linear(_WIDE, text, True)}
    net, absent = Block(dict(steps)), Tensor((text,))
    if kind == "gated":
        children: dict[str, Node] = {"linears": net, "null_positive_feature": absent}
    else:
        children = {
            "linears_text": net,
            "linears_image": net,
            "null_text_feature": absent,
            "null_image_feature": absent,
        }
    return Block({**children, "null_position_feature": Tensor((_BOX,))}, "embedding")


_WIDE = 512
_HINTS = (3, 16, 16, 32, 32, 96, 96, 256, 4)


def _hinted() -> Block:
    """The embedding of a hint image: convolutions, numbered with the activations between them."""
    return Block({str(2 * place): conv(before, d) for place, (before, d) in enumerate(pairwise(_HINTS))})
