"""The arguments that a config passes to a timm model, and the tensors that follow from them."""

from typing import NamedTuple

from hfcount.architectures.components.timm.catalogue import VERSION, TimmModel, TimmSizes, known, near, tensors
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Record
from hfcount.spec.tree.nodes import Block
from hfcount.text import printable

Size = tuple[int, int]

SIZING = frozenset({"num_classes", "in_chans", "global_pool", "img_size"})
"""The arguments whose effect is recorded."""


UNCOUNTED = "timm's list gives names and shapes, and not what its layers compute"


class Listed(Record):
    """A model of timm's list: its root block, and the sizes asked for."""

    name: str
    root: str
    sizes: TimmSizes

    @property
    def model(self) -> TimmModel:
        """Its entry in the list."""
        model = known(self.name)
        assert model is not None, f"{self.name} was read, and is not listed"
        return model

    def tensors(self, classes: int | None = None) -> Block:
        """Its tree under timm's own names, with another number of classes if one is given."""
        return tensors(self.model, self.root, self.sizes if classes is None else self.sizes._replace(classes=classes))


class ModelForm(NamedTuple):
    """One form of a model: which of those that are recorded, and the number of patches of an image."""

    root: str
    patches: int


def listed(c: Config, name: str) -> TimmModel:
    """A model by its name.

    Raises:
        UnknownArchitecture: timm has none of that name.
    """
    if spec := known(name):
        return spec
    alike = near(name)
    text = f" Nearest known: {', '.join(alike)}." if alike else ""
    raise UnknownArchitecture(
        f"{c.where}: timm {VERSION} has no architecture {printable(name, 60)} of which the tensors are known.{text}"
    )


def arguments(c: Config, name: str, model: TimmModel) -> Config:
    """The config's model_args, which timm passes on to the model.

    Raises:
        UnknownArchitecture: there are some whose effect is not recorded.
    """
    for key, value in (c.object("model_args") or {}).items():
        if value is None or key not in SIZING | model.shapeless:
            text = f"what {printable(key, 40)} in model_args changes in {printable(name, 60)} is not recorded"
            raise UnknownArchitecture(f"{c.where}: {text}; what {', '.join(sorted(SIZING))} do is.")
    args = c.part("model_args")
    args.ignored = model.shapeless
    return args


def image_size(args: Config) -> Size | None:
    """The height and width in img_size, in pixels: one number for both, or two; None if it is not given."""
    if not args.given("img_size"):
        return None
    if args.is_int("img_size"):
        side = args.int("img_size", minimum=1)
        return side, side
    sides = args.ints("img_size", least=2)
    if len(sides) != 2 or min(sides) < 1:
        raise args.error("out-of-range", "img_size must be a height and a width.", "img_size")
    return sides[0], sides[1]


def form(args: Config, name: str, model: TimmModel, size: Size | None) -> ModelForm:
    """The form of a model with these arguments, for images of this size.

    Raises:
        UnknownArchitecture: it is not recorded.
        ConfigError: timm refuses the size.
    """
    pool = args.str("global_pool", default=model.pool)
    usual = pool == model.pool
    if not usual and pool not in model.roots:
        text = f"{printable(name, 60)} with the global_pool {printable(pool, 40)} is not recorded"
        raise UnknownArchitecture(f"{args.where}: {text}, but with {printable(model.pool)}.")
    root = f"={pool}" if usual else pool
    rule, least, patch = model.image
    if size is None and rule != "needed":
        size = least
    elif rule == "refused":
        text = f"timm's {printable(name, 60)} takes no size of images, so timm cannot build it."
        raise args.error("contradiction", text, "img_size", "Remove it, and fixed_input_size from pretrained_cfg.")
    if rule == "patches" and size:
        return ModelForm(root, (size[0] // patch[0]) * (size[1] // patch[1]))
    if size == least or (rule == "free" and size and min(size) >= max(least)):
        return ModelForm(root, 0)
    if size and usual and (resolution := f"{size[0]}x{size[1]}") in model.roots:
        return ModelForm(resolution, 0)
    text = f"{printable(name, 60)} for images of {f'{size[0]} by {size[1]}' if size else 'no given'} pixels"
    raise UnknownArchitecture(f"{args.where}: {text} is not recorded.")
