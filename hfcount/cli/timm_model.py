"""Describes a timm model, for `hfcount architectures timm/NAME`."""

from collections.abc import Iterator

from hfcount.architectures.components.timm.arguments import SIZING
from hfcount.architectures.components.timm.catalogue import VERSION, TimmModel, TimmSizes, known, names, near, tensors
from hfcount.architectures.components.timm.names import COLOURS
from hfcount.errors import UnknownArchitecture
from hfcount.spec.tree.leaves import leaves
from hfcount.text import plural, printable

PREFIX = "timm/"

_CLASSES = 1000  # timm's default


def lines(named: str) -> Iterator[str]:
    """The parameters of a model, and the arguments that are supported.

    Raises:
        UnknownArchitecture: timm has no such model.
    """
    name = named.removeprefix(PREFIX).partition(".")[0]
    model = known(name)
    if model is None:
        alike = near(name)
        nearest = f" Nearest known: {', '.join(alike)}." if alike else ""
        raise UnknownArchitecture(
            f"timm {VERSION} has no architecture {printable(name, 60)} among the {len(names()):,} whose tensors are"
            f" known.{nearest}"
        )
    patches = (model.image.usual[0] // model.image.patch[0]) * (model.image.usual[1] // model.image.patch[1])
    leaves_ = leaves(tensors(model, f"={model.pool}", TimmSizes(_CLASSES, COLOURS, patches)))
    parameters = sum(leaf.elements for leaf in leaves_ if leaf.label == "parameter")
    count = sum(int(leaf.count) for leaf in leaves_)
    yield f"{PREFIX}{name}: {parameters:,} parameters, {plural(count, 'tensor')}, with {_CLASSES:,} classes"
    pools = [root for root in model.roots if not root.startswith("=") and not root[:1].isdecimal()]
    followed = (SIZING | model.shapeless) - ({"img_size"} if model.image.rule == "refused" else set())
    rows = {
        "images": _images(model),
        "pooling": ", ".join([f"{model.pool or 'none'} by default", *(pool or "none" for pool in pools)]),
        "model_args": f"{', '.join(sorted(followed))}; others are not followed",
        "checked against": f"timm {VERSION}: names, shapes and the count are those of its own create_model",
        "source": f"{model.module}.py of timm/models",
    }
    for row, text in rows.items():
        yield f"  {row:12}{text}"


def _images(model: TimmModel) -> str:
    """The effect of the image size."""
    height, width = model.image.usual
    usual, by_patch = f"{height} by {width} pixels", "x".join(map(str, model.image.patch))
    sizes = [root.replace("x", " by ") for root in model.roots if root[:1].isdecimal()]
    return {
        "refused": "img_size is not an argument: the tensors are the same for every image size",
        "free": f"from {usual} on, img_size does not change tensors",
        "patches": f"{usual} by default; positions follow img_size, in patches of {by_patch}",
        "fixed": f"{' or '.join([*([usual] if height else ['the default size']), *sizes])}; others are not followed",
        "needed": f"img_size must be set, and hfcount knows only {usual}",
    }[model.image.rule]
