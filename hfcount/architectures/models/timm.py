"""Models of timm as timm itself writes them: their names settle how they are built (no paper; a list of its models)."""

from collections.abc import Iterable, Sequence

from hfcount.architectures.components.timm import older_names
from hfcount.architectures.components.timm.arguments import UNCOUNTED, Listed, arguments, form, image_size, listed
from hfcount.architectures.components.timm.catalogue import VERSION, TimmSizes
from hfcount.architectures.keys import dim
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block
from hfcount.text import plural, printable

# _hub.py of timm/models 1.0.31, with _factory.py and _builder.py; the tensors are those that its create_model builds
MODEL_TYPES = ("timm",)  # what configs without a model_type are called that give an architecture of timm's
IGNORED = ("pretrained_cfg", "label_names", "label_descriptions", "global_pool", "num_features", "labels")

_PRETRAINED = frozenset(
    """
    architecture classifier crop_mode crop_pct custom_load description file first_conv fixed_input_size hf_hub_filename
    hf_hub_id input_size interpolation label_descriptions label_names label_offset license mean min_input_size notes
    num_classes origin_url paper_ids paper_name pool_size source state_dict std tag test_crop_pct test_input_size
    test_pool_size url
    """.split()
)
"""The keys that timm takes in pretrained_cfg (_pretrained.py); it refuses a config with another one."""

_ONCE = ("num_features", "labels", "model_type")
"""Further ones of a config of earlier versions, which has no pretrained_cfg."""

_CLASSES, _COLOURS = 1000, 3  # what timm assumes (_pretrained.py)


def spec(c: Config) -> Spec[Listed]:
    name = c.str("architecture").partition(".")[0]  # without the name of its weights
    model = listed(c, name)
    about = _about(c)
    args = arguments(c, name, model)
    size = image_size(args) or _fixed(about, args)
    chosen = form(args, name, model, size)
    channels = args.int("in_chans", default=_input(about)[0], minimum=1)
    sizes = TimmSizes(_classes(c, about, args), dim("C", channels), chosen.patches)
    tower = Spec(family=c.family, hidden=0, layers=(), causal=False, labels=sizes.classes, uncounted=UNCOUNTED)
    return tower.having(Listed(name=name, root=chosen.root, sizes=sizes))


def _about(c: Config) -> Config:
    """What is said of the weights: in an object, or as earlier versions wrote it beside the name.

    Raises:
        UnknownArchitecture: timm does not take all of its keys.
    """
    apart = c.has("pretrained_cfg")
    about = c.part("pretrained_cfg") if apart else c
    for key in about.names():
        if key not in _PRETRAINED and (apart or key not in _ONCE):
            text = f"timm {VERSION} refuses {printable(key, 40)} {'in pretrained_cfg' if apart else 'without'}"
            raise UnknownArchitecture(f"{c.where}: {text}{'' if apart else ' a pretrained_cfg'}.")
    about.ignored = {*_PRETRAINED, *c.ignored}
    return about


def _classes(c: Config, about: Config, args: Config) -> int:
    """The rows of the head. timm leaves out one of a checkpoint that has another number of classes."""
    given = c if c.has("num_classes") else about
    classes = given.int("num_classes", minimum=0) if given.has("num_classes") else _CLASSES
    built = args.int("num_classes", default=classes, minimum=0)
    if not about.given("classifier"):
        return dim("c", built)
    if built and built != classes:
        text = f"model_args gives {built:,} num_classes and the config {classes:,}, so timm does not load the head."
        raise args.error("contradiction", text, "num_classes", "Make them equal.", expected=classes, observed=built)
    offset = about.int("label_offset", minimum=0) if about.given("label_offset") else 0
    return dim("c", built) + offset if built and offset else dim("c", built)


def _input(about: Config) -> tuple[int, ...]:
    """The channels, height and width of images."""
    if not about.given("input_size"):
        return _COLOURS, 224, 224
    sizes = tuple(about.ints("input_size", least=3))
    if len(sizes) != 3 or min(sizes) < 1:
        raise about.error("out-of-range", "input_size must be channels, a height and a width.", "input_size")
    return sizes


def _fixed(about: Config, args: Config) -> tuple[int, int] | None:
    """The size of images, where the config fixes it for the model."""
    flexible = args.value("dynamic_img_size") or args.value("strict_img_size") is False
    if flexible or not about.bool("fixed_input_size", default=False):
        return None
    _, height, width = _input(about)
    return height, width


def blueprint(s: Spec[Listed]) -> Block:
    return s.own.tensors()


def drops(s: Spec, names: Iterable[str]) -> bool:
    """Whether timm drops all of these tensors, which the model does not have, when it loads it."""
    return older_names.drops(s.sizes(Listed).model.module, names)


def check_older(s: Spec, names: Sequence[str], where: str) -> None:
    """Whether tensors that the model does not have may be those of an earlier file, which timm converts.

    Raises:
        UnknownArchitecture: all of them may be.
    """
    module = s.sizes(Listed).model.module
    if names and not older_names.drops(module, names) and older_names.converts(module, names):
        raise UnknownArchitecture(
            f"{where}: {plural(len(names), 'name')}, such as {printable(names[0], 60)}, may be of an earlier file,"
            f" which timm converts when it loads ({module}.py); how is not described. Save it again with timm"
            f" {VERSION} to compare it."
        )
