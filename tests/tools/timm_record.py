"""Records the tensors of timm's models, a line of JSON each, for timm_pack.py. It needs timm, and nothing of hfcount.

    python tests/tools/timm_record.py [NAME...] > RECORD        (all of its architectures without names)
    python tests/tools/timm_record.py --tensors NAME '{"num_classes": 7}'    what one is, by name

Each is built on the meta device with several numbers of classes, channels and pixels. An extent follows a size if it is
a whole multiple of it, with something added, in two builds, and in a third with other sizes.
"""

import inspect
import json
import logging
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import timm
import torch
from timm.models._input import _get_global_pool
from timm.models._registry import _model_to_module, get_pretrained_cfg
from torch import nn

Tensors = dict[str, tuple[tuple[int, ...], str, bool]]
"""By name: shape, dtype and whether it is a parameter of its own."""
Sizes = tuple[int, int, int]

POOLS = ("avg", "max", "avgmax", "catavgmax", "token", "map", "")
SHAPELESS = {
    **dict.fromkeys(("drop_rate", "drop_path_rate", "drop_block_rate", "proj_drop_rate", "attn_drop_rate"), 0.1),
    **dict.fromkeys(("pos_drop_rate", "patch_drop_rate"), 0.1),
    **dict.fromkeys(("dynamic_img_size", "dynamic_img_pad"), True),
    "strict_img_size": False,
}
"""Arguments that change no tensor where a model takes them."""
STEPS = ((1000, 3), (1013, 5), (17, 7))  # classes and channels


def quick() -> None:
    """Leaves values as they are: only shapes matter."""
    for name in dir(nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(nn.init, name, lambda tensor, *_, **__: tensor)
    for name in ("uniform_", "normal_", "erfinv_", "mul_", "add_", "clamp_", "fill_", "zero_", "div_", "sub_", "copy_"):
        setattr(torch.Tensor, name, lambda tensor, *_, **__: tensor)
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)


def build(name: str, **arguments: Any) -> nn.Module:
    """A model as timm builds it of a config that says nothing else."""
    about = get_pretrained_cfg(name)
    known = {"first_conv": about.first_conv} if about and "pruned" in name else {}  # which are made by that
    with torch.device("meta"):
        return timm.create_model(name, pretrained_cfg={"architecture": name, **known}, **arguments)


def tensors(model: nn.Module) -> Tensors:
    parameters, seen, shared = dict(model.named_parameters(remove_duplicate=False)), set(), set()
    for name, parameter in parameters.items():
        (shared if id(parameter) in seen else seen).add(name if id(parameter) in seen else id(parameter))
    return {
        name: (tuple(tensor.shape), str(tensor.dtype), name in parameters and name not in shared)
        for name, tensor in model.state_dict().items()
    }


def tried(name: str, **arguments: Any) -> Tensors | str:
    """The tensors of a model, or why there is none."""
    try:
        return tensors(build(name, **arguments))
    except Exception as error:  # whatever timm raises of arguments that it does not take
        return str(error)


def builds(name: str) -> dict[str, Any]:
    """What a model is with several sizes: `A` to `C` by STEPS, `Z` without classes, `I1`, `I2` and `R` by pixels."""
    about = get_pretrained_cfg(name)
    height, width = about.input_size[-2:] if about else (224, 224)
    fixed: dict[str, Any] = {}
    try:
        model = build(name)
    except Exception:  # it needs to know the size of images
        fixed = {"img_size": (height, width)}
        model = build(name, **fixed)
    patch = getattr(model, "patch_embed", None)
    classes, channels = STEPS[0]
    found: dict[str, Any] = {"name": name, "module": _model_to_module[name], "pool": _get_global_pool(model)}
    found |= {"img": getattr(patch, "img_size", None), "patch": getattr(patch, "patch_size", None)}
    found |= {"size": (height, width), "needed": bool(fixed)}
    for step, (classes, channels) in zip("ABC", STEPS, strict=True):
        found[step] = tried(name, num_classes=classes, in_chans=channels, **fixed)
    found["Z"] = tried(name, num_classes=0, **fixed)
    if not fixed:
        found["size1"], found["size2"] = (2 * height, 3 * width), (3 * height, width)
        found["I1"] = tried(name, num_classes=1000, img_size=found["size1"])
        if isinstance(found["I1"], str) and "unexpected keyword" not in found["I1"]:
            found["size1"] = (2 * height, 2 * width)
            found["I1"] = tried(name, num_classes=1000, img_size=found["size1"])
        if isinstance(found["I1"], dict):
            found["I2"] = tried(name, num_classes=1000, img_size=found["size2"])
        found["R"] = tried(name, num_classes=1000, img_size=(height, width))
    return found


def multiple(values: Mapping[int, int], letter: str) -> str | None:
    """What an extent is in terms of a size, by the extent for each value of it; None if it does not follow it."""
    (first, one), (second, other), *rest = values.items()
    many, odd = divmod(other - one, second - first)
    more = one - many * first
    if odd or many < 1 or more < 0 or any(many * value + more != extent for value, extent in rest):
        return None
    return f"{many if many > 1 else ''}{letter}{f'+{more}' if more else ''}"


def extent(found: Mapping[str, int], patches: Mapping[str, int]) -> str | None:
    """An extent in terms of what it follows, by the extent in each build."""
    steps = {"c": [step[0] for step in STEPS], "i": [step[1] for step in STEPS]}
    known = [step for step in "ABC" if step in found]
    if len({found[step] for step in known}) > 1:
        for letter, sizes in steps.items():
            values = {sizes["ABC".index(step)]: found[step] for step in known}
            if text := multiple(values, letter):
                return text
        return None
    varied = {patches[step]: found[step] for step in patches if step in found}
    if len(set(varied.values())) > 1:
        return multiple(varied, "g")
    return str(found["A"])


def written(builds: Mapping[str, Tensors], patches: Mapping[str, int]) -> dict[str, str] | None:
    """Each tensor of the build `A`, in terms of what it follows; None if one does not follow any of the sizes."""
    found = {}
    for name, (shape, dtype, own) in builds["A"].items():
        shapes = {step: one[name][0] for step, one in builds.items() if name in one}
        extents = [extent({step: one[axis] for step, one in shapes.items()}, patches) for axis in range(len(shape))]
        if None in extents:
            return None
        whole = not dtype.startswith(("torch.float", "torch.bfloat", "float"))
        found[name] = ("#" if whole else "" if own else "~") + (",".join(map(str, extents)) or "s")
    return found


def pixels(raw: Mapping[str, Any]) -> tuple[str, dict[str, int]]:
    """What the size of an image changes, as the list has it, and the number of patches in each build."""
    size = "x".join(map(str, raw["size"]))
    first, usual = raw.get("I1"), raw["A"]
    if raw.get("needed"):
        return f"needed/{size}", {}
    if isinstance(first, str) and first != "same":
        return ("refused" if "unexpected keyword" in first else "fixed"), {}
    if first in ("same", usual):
        return (f"free/{size}", {}) if raw["R"] in ("same", usual) else ("fixed", {})
    patch, image = raw["patch"], raw["img"]
    if not (patch and image and first.keys() == usual.keys()):
        return "fixed", {}
    patch = (patch, patch) if isinstance(patch, int) else tuple(patch)
    sizes = {"A": image, "I1": raw["size1"], "I2": raw["size2"], "R": raw["size"]}
    patches = {step: (one[0] // patch[0]) * (one[1] // patch[1]) for step, one in sizes.items()}
    return f"patches/{image[0]}x{image[1]}/{patch[0]}x{patch[1]}", patches


def fitted(raw: Mapping[str, Any]) -> dict[str, Any] | None:
    """A model as the list has it; None if its shapes follow the sizes in another way."""
    image, patches = pixels(raw)
    made = {step: raw[step] for step in ("A", "B", "C", *patches) if isinstance(raw.get(step), dict)}
    tree = written(made, patches)
    if tree is None and patches:
        image, made = "fixed", {step: made[step] for step in "ABC" if step in made}
        tree = written(made, {})
    if tree is None or not isinstance(raw["B"], dict) or not isinstance(raw["Z"], dict):
        return None
    classless = {name for name, text in tree.items() if "c" not in text}
    gone = classless - raw["Z"].keys()
    if raw["Z"].keys() - classless or any(raw["Z"][name][0] != raw["A"][name][0] for name in classless - gone):
        return None
    trees = {f"={raw['pool'] or ''}": tree}
    if image == "fixed":
        image, further = sized(raw, tree, made)
        trees |= further
    headless = sorted({start(name, classless - gone) for name in gone})
    about = {"name": raw["name"], "module": raw["module"].removeprefix("timm.models."), "image": image}
    return about | {"trees": trees, "headless": headless, "native": native(raw["name"]), "takes": []}


def sized(raw: Mapping[str, Any], tree: dict[str, str], made: Mapping[str, Tensors]) -> tuple[str, dict[str, Any]]:
    """The size of images that a model has by default, and what it is for those that its weights are for."""
    size, own = "x".join(map(str, raw["size"])), raw.get("R")
    if own in ("same", raw["A"]):
        return f"fixed/{size}", {}
    image, further = raw["img"], resized(tree, made["A"], own) if isinstance(own, dict) else None
    known = image and len(image) == 2 and all(isinstance(side, int) for side in image)
    return f"fixed/{image[0]}x{image[1]}" if known else "fixed", {size: further} if further else {}


def resized(tree: Mapping[str, str], usual: Tensors, other: Tensors) -> dict[str, str] | None:
    """A model for images of another size, by the one for the usual size; None if it cannot be told."""
    found = {}
    for name, (shape, *_) in other.items():
        if name not in tree or (usual[name][0] != shape and re.search("[cig]", tree[name])):
            return None
        mark = re.sub(r"[\d,]", "", tree[name])
        found[name] = tree[name] if usual[name][0] == shape else mark + ",".join(map(str, shape))
    return found


def start(name: str, kept: set[str]) -> str:
    """The shortest beginning of a name, in whole parts, that none of the others has."""
    parts = name.split(".")
    starts = (f"{'.'.join(parts[:count])}." for count in range(1, len(parts) + 1))
    return next(one for one in starts if not any(f"{other}.".startswith(one) for other in kept))


def native(name: str) -> list[str]:
    """The sizes of images that timm fixes where it makes a model by its name alone, by the name of its weights."""
    found, usual = [], get_pretrained_cfg(name)
    tags = [one.partition(".")[2] for one in timm.list_models(f"{name}.*", pretrained=True)]
    for tag in ("", *tags):
        about = get_pretrained_cfg(f"{name}.{tag}" if tag else name)
        if about and about.fixed_input_size and (not tag or about.input_size != usual.input_size):
            found.append(f"{tag}={about.input_size[1]}x{about.input_size[2]}")
    return found


class Alike(NamedTuple):
    """What models of one file with one usual way of pooling have in common, as its first model has it."""

    takes: list[str]
    untouched: list[str]
    touched: list[str]


def asked(name: str, model: dict[str, Any], usual: str, known: dict[tuple[str, str], Alike]) -> None:
    """Adds what other ways of pooling make of a model, and the arguments that change none of its tensors."""
    size = model["image"].partition("/")[2]
    fixed = {"img_size": tuple(map(int, size.split("x")))} if model["image"].startswith("needed") else {}
    tree, group = model["trees"][f"={usual}"], (model["module"], usual)
    alike = known.get(group)
    base = tried(name, num_classes=1000, **fixed) if alike is None or alike.touched else {}
    if alike is None:
        alike = known[group] = first(name, base, usual, fixed)
    model["takes"] = alike.takes
    model["trees"] |= dict.fromkeys(alike.untouched, tree)
    for pool in alike.touched:
        if own := pooled(name, tree, base, global_pool=pool, **fixed):
            model["trees"][pool] = own


def first(name: str, base: Tensors, usual: str, fixed: dict[str, Any]) -> Alike:
    arguments = inspect.signature(type(build(name, **fixed)).__init__).parameters
    known = {key: value for key, value in SHAPELESS.items() if key in arguments}
    takes = sorted(known) if tried(name, num_classes=1000, **fixed, **known) == base else []
    found = Alike(takes, [], [])
    for pool in POOLS if "global_pool" in arguments else ():
        made = base if pool == usual else tried(name, num_classes=1000, global_pool=pool, **fixed)
        if pool != usual and isinstance(made, dict):
            (found.untouched if made == base else found.touched).append(pool)
    return found


def pooled(name: str, tree: Mapping[str, str], base: Tensors, **arguments: Any) -> dict[str, str] | None:
    """The tensors of a model with such arguments, by those that it usually has; None if it cannot be told."""
    made = {"A": tried(name, num_classes=1000, **arguments)}
    if isinstance(made["A"], str) or made["A"] == base:
        return None if isinstance(made["A"], str) else dict(tree)
    made["B"] = tried(name, num_classes=1013, in_chans=5, **arguments)
    found = written(made, {}) if isinstance(made["B"], dict) else None
    return found and {key: tree[key] if made["A"][key] == base.get(key) else text for key, text in found.items()}


def recorded(names: list[str]) -> Iterator[str]:
    known: dict[tuple[str, str], Alike] = {}
    for name in names:
        try:
            raw = builds(name)
            model = fitted(raw)
        except Exception as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        if model is None:
            print(f"{name}: its shapes do not follow the sizes", file=sys.stderr)
            continue
        asked(name, model, raw["pool"] or "", known)
        yield json.dumps(model)


if __name__ == "__main__":
    quick()
    if sys.argv[1:2] == ["--tensors"]:
        print(json.dumps(tried(sys.argv[2], **json.loads(sys.argv[3]))))
    else:
        for line in recorded(sys.argv[1:] or sorted(timm.list_models())):
            print(line, flush=True)
