"""ControlNet of Z-Image: layers for some of its own, which they steer; what else it needs, it takes from the model."""

from hfcount.architectures import keys
from hfcount.architectures.components.z_image import Patch, ZImageLayers, patches
from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("ZImageControlNetModel",)  # diffusers 0.42.1: controlnet_z_image.py

_SHARED, _STEERING = "control_layers", "control_noise_refiner"


class ZImageControlNet(Sizes):
    """Its sizes; `first` are the numbers of those of its `layers` that steer the first layer of the model.

    `refiner` says which layers refine the noise: none but the others, such that steer too, or plain ones.
    """

    each: ZImageLayers = derived(ZImageLayers.of)
    control_in_dim: int = size("C_h")
    patches: tuple[Patch, ...] = derived(patches)
    refiner: str | None = derived(lambda c: diffusion.text_of(c, "add_control_noise_refiner"))
    layers: int
    first: Indices


def spec(c: Config) -> Spec[ZImageControlNet]:
    places = [int(place) for place in c.ints("control_layers_places")]
    if 0 not in places:
        text = "control_layers_places lacks 0, the first layer."
        raise c.error("out-of-range", text, "control_layers_places", "Add it.")
    first = Indices.of([place for place, steered in enumerate(places) if not steered])
    sizes = ZImageControlNet.read(c, layers=keys.dim("L_c", len(places)), first=first)
    return diffusion.diffusing(c, sizes, sizes.each.dim)


def blueprint(s: Spec[ZImageControlNet]) -> Block:
    d, of = s.hidden, s.own
    refined = Indices.below(of.each.n_refiner_layers)
    refiner: Node | None = Repeat(refined, of.each.layer(True))
    if of.refiner == _SHARED:
        refiner = None
    elif of.refiner == _STEERING:
        refiner = _steering(of, refined, Indices.fixed(0) if refined.count else refined)
    inputs = {patch.name: Linear(patch.places * of.control_in_dim, d, True) for patch in of.patches}
    return block(
        control_layers=_steering(of, Indices.below(of.layers), of.first),
        control_all_x_embedder=Block(dict(inputs), "embedding"),
        control_noise_refiner=refiner,
    )


def _steering(of: ZImageControlNet, every: Indices, first: Indices) -> tuple[Node, ...]:
    """Layers with a projection behind them and, for the `first`, one before."""
    after = Linear(of.each.dim, of.each.dim, True, "projector")
    later = Repeat(every.difference(first), of.each.layer(True, after_proj=after))
    return Repeat(first, of.each.layer(True, before_proj=after, after_proj=after)), later
