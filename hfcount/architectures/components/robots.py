"""Inputs and outputs of LeRobot policies: features by kind, and the torchvision ResNet for images."""

from collections.abc import Mapping

from hfcount.architectures import keys
from hfcount.architectures.components.resnets import RESNETS, ResNet
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, buffer

BACKBONES = ("resnet18", "resnet34", "resnet50", "resnet101", "resnet152")
_STATE, _ACTION = "observation_state", "action"
_HALVINGS = 5  # how often a ResNet halves the sides of an image


class Features(Record):
    """Elements of the robot's state, of the environment's and of an action; channels and sides of each image."""

    state: int | None
    environment: int | None
    action: int
    images: tuple[tuple[int, int, int], ...]

    @classmethod
    def read(cls, c: Config) -> "Features":
        """By input_features and output_features."""
        states, environments = _widths(c, "STATE", "n_s", _STATE), _widths(c, "ENV", "n_e")
        actions = _widths(c, "ACTION", "n_a", _ACTION, "output_features")
        if not actions:
            raise c.error("contradiction", "output_features has no action of type ACTION.", "output_features")
        images = [_image(feature) for feature in _features(c, "input_features", "VISUAL").values()]
        return cls(
            state=next(iter(states), None),
            environment=next(iter(environments), None),
            action=actions[0],
            images=tuple(images),
        )

    def check_seen(self, c: Config) -> None:
        """There is an image or a state of the environment; the library refuses a policy without."""
        if not self.images and self.environment is None:
            text = "input_features has neither an image (VISUAL) nor a state of the environment (ENV)."
            raise c.error("contradiction", text, "input_features")

    def robot_state(self, c: Config) -> int:
        """The robot's state, for a policy that needs it."""
        if self.state is None:
            raise c.error("contradiction", "input_features has no observation.state of type STATE.", "input_features")
        return self.state

    def check_alike(self, c: Config) -> None:
        """All images have one shape; the library refuses others."""
        if len(set(self.images)) > 1:
            raise c.error("contradiction", "the images of input_features differ in their shapes.", "input_features")


def _features(c: Config, key: str, kind: str) -> Mapping[str, Config]:
    """The features of a kind, by name."""
    inner, names = c.part(key), c.object(key) or {}
    features = {name: inner.part(name) for name in names}
    return {name: feature for name, feature in features.items() if feature.str("type") == kind}


def _widths(c: Config, kind: str, symbol: str, wanted: str = "", key: str = "input_features") -> list[int]:
    """The widths of the vectors of a kind, all or those of one name."""
    features = [feature for name, feature in _features(c, key, kind).items() if name == (wanted or name)]
    return [keys.dim(symbol, feature.ints("shape", least=1, minimum=1)[0]) for feature in features]


def _image(c: Config) -> tuple[int, int, int]:
    shape = c.ints("shape", least=3, minimum=1)
    if len(shape) != 3:
        raise c.error("list-length", "the shape of an image must have three entries.", "shape")
    channels, high, wide = shape
    return keys.dim("C", channels), high, wide


def backbone(c: Config) -> Spec[ResNet]:
    """The ResNet that vision_backbone names, without its head."""
    known = RESNETS[c.choice("vision_backbone", BACKBONES, default="resnet18")]
    stages = tuple(known.layers(4))
    return Spec(
        family=c.family, hidden=stages[-1].layer.width, layers=stages, causal=False, uncounted=keys.COARSER
    ).having(ResNet.known(known, 3))


def _in_order(s: Spec) -> Block:
    """A ResNet by the places of its modules in a list, in place of their names."""
    sizes = s.sizes(ResNet).tensors(s.layers)
    places = {"0": "conv1", "1": "bn1", "4": "layer1", "5": "layer2", "6": "layer3", "7": "layer4"}
    return Block({place: sizes[name] for place, name in places.items()})


def group_normed(node: Node) -> Node:
    """The same with norms of groups of channels in place of batch normalisation: a weight and a bias."""
    if isinstance(node, tuple):
        return tuple(map(group_normed, node))
    if isinstance(node, Repeat):
        return Repeat(node.indices, group_normed(node.body), node.active)
    if not isinstance(node, Block):
        return node
    if "running_mean" in node.children:
        return Block({name: node.children[name] for name in ("weight", "bias")}, node.component, node.repeats)
    return Block({name: group_normed(child) for name, child in node.children.items()}, node.component, node.repeats)


class Keypoints(Record):
    """An image encoder: the positions of so many keypoints in the features of a ResNet."""

    use_group_norm: bool
    keypoints: int
    cells: int

    @classmethod
    def read(cls, c: Config, sides: tuple[int, int]) -> "Keypoints":
        """Reads the keys that the policies share; `sides` are the height and width of the ResNet's input."""
        grouped = c.bool("use_group_norm", default=True)
        if grouped and c.str("pretrained_backbone_weights", default=None):
            text = "use_group_norm takes the norms out of the backbone, so that no pretrained one can be loaded."
            raise c.error("contradiction", text, "pretrained_backbone_weights", "Set it to null.")
        high, wide = (_halved(int(side)) for side in sides)
        count = c.int("spatial_softmax_num_keypoints", default=32)
        return cls(use_group_norm=grouped, keypoints=keys.dim("n_k", count), cells=high * wide)

    @property
    def width(self) -> int:
        """The elements of its output for an image."""
        return 2 * self.keypoints

    def tensors(self, network: Spec) -> Block:
        """Its tensors: backbone, pool with the places of the cells, and out."""
        backbone = _in_order(network)
        nets = conv(network.hidden, self.keypoints, 1, bias=True)
        return Block(
            {
                "backbone": group_normed(backbone) if self.use_group_norm else backbone,
                "pool": Block({"pos_grid": buffer(self.cells, 2), "nets": nets}),
                "out": Linear(self.width, self.width, True),
            },
            "vision",
            0,
        )


def _halved(side: int) -> int:
    for _ in range(_HALVINGS):
        side = (side + 1) // 2
    return side


def crop(c: Config, image: tuple[int, int, int], default: tuple[int, int] | None = None) -> tuple[int, int]:
    """Height and width of an image after crop_shape."""
    given = c.ints("crop_shape", default=() if c.has("crop_shape") else default or (), minimum=1)
    if given and len(given) != 2:
        raise c.error("list-length", "crop_shape must have two entries, height and width.", "crop_shape")
    high, wide = given or image[1:]
    if given and (high > image[1] or wide > image[2]):
        text = f"crop_shape is {high:,} by {wide:,}, more than the image, which is {image[1]:,} by {image[2]:,}."
        raise c.error("out-of-range", text, "crop_shape", "Correct one.")
    return high, wide
