"""Diffusion Policy: a U-Net over time that denoises actions, told by images and states (arXiv:2303.04137)."""

from hfcount.architectures import keys
from hfcount.architectures.components.robots import Features, Keypoints, backbone, crop
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.temporal import conv as along
from hfcount.architectures.layers.temporal import upsampling
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("lerobot_diffusion",)  # modeling_diffusion.py of huggingface/lerobot, 0.4.4
IGNORED = (
    "n_action_steps", "drop_n_last_frames", "crop_is_random", "num_train_timesteps", "beta_start", "beta_end",
    "clip_sample", "clip_sample_range", "num_inference_steps", "n_groups", "horizon", "resize_shape", "crop_ratio",
    "compile_model", "do_mask_loss_for_padding",
)  # fmt: skip

_GROUPS = 8  # of the last convolution, whatever n_groups says


class DiffusionPolicy(Sizes):
    features: Features
    keypoints: Keypoints | None
    down_dims: tuple[int, ...]
    n_obs_steps: int = size("n_o", absent=2)
    kernel_size: int = size("w", absent=5)
    diffusion_step_embed_dim: int = size("d_t", absent=128)
    use_film_scale_modulation: bool = flag(absent=True)
    use_separate_rgb_encoder_per_camera: bool = flag(absent=False)

    @property
    def condition_width(self) -> int:
        """The width of the condition of each layer: the step, and the features of all observations."""
        features, number = self.features, len(self.features.images)
        width = (features.state or 0) + (features.environment or 0)
        width += number * self.keypoints.width if self.keypoints else 0
        return self.diffusion_step_embed_dim + width * self.n_obs_steps


def spec(c: Config) -> Spec[DiffusionPolicy]:
    features = Features.read(c)
    features.robot_state(c)
    features.check_seen(c)
    features.check_alike(c)
    dims = tuple(c.ints("down_dims", default=(512, 1024, 2048), least=1, minimum=1))
    horizon, factor = c.int("horizon", default=16), 2 ** len(dims)
    if horizon % factor:
        text = f"horizon {horizon:,} is no multiple of {factor:,}, 2 to the power of the entries of down_dims."
        raise c.error("not-divisible", text, "horizon", "Correct one of them.")
    groups = c.int("n_groups", default=_GROUPS)
    if odd := [width for width in dims if width % groups] + [width for width in dims[:1] if width % _GROUPS]:
        text = f"down_dims has {odd[0]:,}, which its groups of channels do not divide."
        raise c.error("not-divisible", text, "down_dims", "Correct it or n_groups.")
    widths = tuple(keys.dim(f"d{number}", width) for number, width in enumerate(dims, 1))
    keypoints = Keypoints.read(c, _sides(c, features.images[0])) if features.images else None
    sizes = DiffusionPolicy.read(c, features=features, keypoints=keypoints, down_dims=widths)
    return Spec(
        family=c.family,
        hidden=widths[-1],
        layers=(),
        causal=False,
        uncounted="it denoises actions, and gives no tokens",
        parts={"backbone": backbone(c)} if keypoints else {},
    ).having(sizes)


def _sides(c: Config, image: tuple[int, int, int]) -> tuple[int, int]:
    """Height and width of what is left of an image once it is resized and cut."""
    resized = c.ints("resize_shape", minimum=1)
    if not resized:
        return crop(c, image)
    if len(resized) != 2:
        raise c.error("list-length", "resize_shape must have two entries, height and width.", "resize_shape")
    share = c.share("crop_ratio", default=1.0)
    return int(resized[0] * share), int(resized[1] * share)


def blueprint(s: Spec[DiffusionPolicy]) -> Block:
    sizes = s.own
    encoder: Node | None = sizes.keypoints.tensors(s.part("backbone")) if sizes.keypoints else None
    if encoder and sizes.use_separate_rgb_encoder_per_camera:
        encoder = Repeat(Indices.below(len(sizes.features.images)), encoder)
    return block(diffusion=block(rgb_encoder=encoder, unet=_unet(sizes)))


def _unet(sizes: DiffusionPolicy) -> Block:
    """Down, through the middle and up again, from actions to actions."""
    action, d, last, step = (
        sizes.features.action,
        sizes.down_dims,
        len(sizes.down_dims) - 1,
        sizes.diffusion_step_embed_dim,
    )
    down = {
        str(place): _stage(sizes, before, wide, along(wide, wide, 3) if place < last else None)
        for place, (before, wide) in enumerate(zip((action, *d), d, strict=False))
    }
    up = {
        str(place): _stage(
            sizes, 2 * d[last - place], d[last - place - 1], upsampling(d[last - place - 1], d[last - place - 1], 4)
        )
        for place in range(last)
    }
    return block(
        "convolution",
        diffusion_step_encoder=Block({"1": Linear(step, 4 * step, True), "3": Linear(4 * step, step, True)}),
        down_modules=Block(down),
        mid_modules=Repeat(Indices.below(2), _residual(sizes, d[-1], d[-1])),
        up_modules=Block(up),
        final_conv=Block({"0": _normed(d[0], d[0], sizes.kernel_size), "1": along(d[0], action, 1)}),
    )


def _stage(sizes: DiffusionPolicy, inputs: int, d: int, resized: Node | None) -> Block:
    children: dict[str, Node] = {"0": _residual(sizes, inputs, d), "1": _residual(sizes, d, d)}
    return Block({**children, **({"2": resized} if resized else {})})


def _residual(sizes: DiffusionPolicy, inputs: int, d: int) -> Block:
    """Two convolutions, and between them a bias and mostly a scale computed from the condition."""
    return block(
        conv1=_normed(inputs, d, sizes.kernel_size),
        cond_encoder=Block({"1": Linear(sizes.condition_width, 2 * d if sizes.use_film_scale_modulation else d, True)}),
        conv2=_normed(d, d, sizes.kernel_size),
        residual_conv=along(inputs, d, 1) if inputs != d else None,
    )


def _normed(inputs: int, d: int, kernel: int) -> Block:
    return block(block=Block({"0": along(inputs, d, kernel), "1": layer_norm(d)}))
