"""TD-MPC, a policy that plans in a latent space by a model of what follows and what it is worth (arXiv:2203.04955)."""

from hfcount.architectures import keys
from hfcount.architectures.components.robots import Features
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("lerobot_tdmpc",)  # modeling_tdmpc.py of huggingface/lerobot, 0.4.4
IGNORED = (
    "n_obs_steps", "n_action_repeats", "horizon", "n_action_steps", "discount", "use_mpc", "cem_iterations", "max_std",
    "min_std", "n_gaussian_samples", "n_pi_samples", "uncertainty_regularizer_coeff", "n_elites",
    "elite_weighting_temperature", "gaussian_mean_momentum", "max_random_shift_ratio", "reward_coeff",
    "expectile_weight", "value_coeff", "consistency_coeff", "advantage_scaling", "pi_coeff", "temporal_decay_coeff",
    "target_model_momentum",
)  # fmt: skip

_KERNELS = (7, 5, 3, 3)  # of the convolutions that see an image, each with a stride of 2


class Tdmpc(Sizes):
    features: Features
    cells: int
    image_encoder_hidden_dim: int = size("d_v", absent=32)
    state_encoder_hidden_dim: int = size("d_s", absent=256)
    latent_dim: int = size("d_z", absent=50)
    mlp_dim: int = size("d_ff", absent=512)
    q_ensemble_size: int = count("n_q", absent=5)


def spec(c: Config) -> Spec[Tdmpc]:
    features = Features.read(c)
    if len(features.images) > 1:
        raise c.error("contradiction", "input_features has more than one image.", "input_features")
    sizes = Tdmpc.read(c, features=features, cells=_cells(c, features.images[0]) if features.images else 0)
    return Spec(
        family=c.family,
        hidden=sizes.latent_dim,
        layers=(),
        causal=False,
        uncounted="it plans actions, and gives no tokens",
    ).having(sizes)


def _cells(c: Config, image: tuple[int, int, int]) -> int:
    """The places that the last convolution sees."""
    _, high, wide = image
    if high != wide:
        raise c.error("contradiction", f"the image is {high:,} by {wide:,}, but must be square.", "input_features")
    side = high
    for kernel in _KERNELS:
        side = (side - kernel) // 2 + 1
    if side < 1:
        raise c.error("out-of-range", f"an image {high:,} pixels wide is too small to be seen.", "input_features")
    return keys.dim("n_v", side * side)


def blueprint(s: Spec[Tdmpc]) -> Block:
    return block(model=_model(s.own), model_target=_model(s.own))


def _model(sizes: Tdmpc) -> Block:
    """The model; what it is trained towards is another of the same."""
    latent, action, d = sizes.latent_dim, sizes.features.action, sizes.mlp_dim
    both = latent + action
    dynamics = _network(both, d, latent)
    value: dict[str, Node] = {"1": layer_norm(d), "3": Linear(d, d, True), "5": Linear(d, 1, True)}
    return block(
        "mlp",
        _encoder=_encoder(sizes),
        _dynamics=Block({**dynamics.children, "7": layer_norm(latent)}),
        _reward=_network(both, d, 1),
        _pi=_network(latent, d, action),
        _Qs=Repeat(Indices.below(sizes.q_ensemble_size), Block({"0": Linear(both, d, True), **value})),
        _V=Block({"0": Linear(latent, d, True), **value}),
    )


def _network(inputs: int, d: int, out: int) -> Block:
    """Three linear maps, with norms after the first two."""
    first, second = Linear(inputs, d, True), Linear(d, d, True)
    return Block({"0": first, "1": layer_norm(d), "3": second, "4": layer_norm(d), "6": Linear(d, out, True)})


def _encoder(sizes: Tdmpc) -> Block:
    """What makes the latent of an image and of states."""
    features, d, latent = sizes.features, sizes.image_encoder_hidden_dim, sizes.latent_dim
    children = dict[str, Node]()
    if features.images:
        widths = (features.images[0][0], d, d, d)
        layers: dict[str, Node] = {
            str(2 * place): conv(into, d, kernel, bias=True)
            for place, (into, kernel) in enumerate(zip(widths, _KERNELS, strict=True))
        }
        layers |= {"9": Linear(sizes.cells * d, latent, True), "10": layer_norm(latent)}
        children["image_enc_layers"] = Block(layers, "vision")
    for name, width in (("state", features.state), ("env_state", features.environment)):
        if width is not None:
            first = Linear(width, sizes.state_encoder_hidden_dim, True)
            second = Linear(sizes.state_encoder_hidden_dim, latent, True)
            children[f"{name}_enc_layers"] = Block({"0": first, "2": second, "3": layer_norm(latent)})
    return Block(children)
