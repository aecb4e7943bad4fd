"""Depth Pro: a ViT over patches of several scales, and one over the image, joined for depth (arXiv:2410.02073)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.depth import Fusion
from hfcount.architectures.layers.convolution import conv, transposed
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

MODEL_TYPES = ("depth_pro",)  # transformers 5.23: modeling_depth_pro.py
IGNORED = ("merge_padding_value",)

_HEADS = keys.named(ForDepthEstimation="depth_estimation", Model="base")
_FINE = 32  # the width before a depth
_SEEN = {"image": "image_model_config", "patch": "patch_model_config", "fov": "fov_model_config"}


class DepthPro(Record):
    """Sizes of Depth Pro: how many features are joined, and the widths of those of scaled images and of layers.

    `steps` are those of the head for the field of view, and `last` is the width of its last kernel.
    """

    fusion: Fusion
    fusion_hidden_size: int
    joined: int
    scaled: tuple[int, ...]
    between: tuple[int, ...]
    steps: int
    last: int


def spec(c: Config) -> Spec[DepthPro]:
    viewed = c.bool("use_fov_model", default=False)
    side = c.int("patch_size")
    parts = {name: _seeing(c, key, side) for name, key in _SEEN.items() if viewed or name != "fov"}
    scaled = c.ints("scaled_images_feature_dims", default=(1024, 1024, 512), least=1)
    between = c.ints("intermediate_feature_dims", default=(256, 256), least=1)
    counts = [c.length("scaled_images_ratios") or 3, c.length("intermediate_hook_ids") or 2]
    normed = c.bool("use_batch_norm_in_fusion_residual", default=False)
    key = "use_bias_in_fusion_residual"
    biased = not normed if c.has(key) and not c.given(key) else c.bool(key, default=not normed)
    d = keys.dim("d_f", c.int("fusion_hidden_size"))
    steps, image = c.int("num_fov_head_layers", minimum=0, maximum=30), c.part("image_model_config")
    size = side // image.int("patch_size") if viewed else 1
    sizes = DepthPro(
        fusion=Fusion(normed=normed, biased=biased),
        fusion_hidden_size=d,
        joined=sum(counts),
        scaled=tuple(keys.dim(f"C{number}", width) for number, width in enumerate(scaled, 1)),
        between=tuple(keys.dim(f"D{number}", width) for number, width in enumerate(between, 1)),
        steps=steps,
        last=keys.dim("w_l", (size - 1) // 2 ** int(steps) + 1),
    )
    model = keys.decoder_spec(c, (), vocab=0, hidden=d, layer_count=None, heads=_HEADS, parts=parts)
    return model.replace(causal=False).having(sizes)


def _seeing(c: Config, key: str, side: int) -> Spec:
    """A tower whose images are patches of this size, whatever its config says."""
    inner = c.part(key)
    return families.read(
        inner.varied(key, {"image_size": int(side)}, "patch_size"), inner.str("model_type", default="") or inner.kind
    )


def _larger(inputs: int, inner: int, outputs: int, times: int) -> Block:
    """A projection, and convolutions that each double the size."""
    layers: dict[str, Node] = {"0": conv(inputs, inner, 1)}
    for number in range(times):
        layers[str(number + 1)] = transposed(outputs if number else inner, outputs, 2, bias=False)
    return block(layers=Block(layers))


def _view(s: Spec[DepthPro]) -> Block:
    """How wide the camera sees."""
    d, steps = s.hidden, s.own.steps
    widths = [(d + 2**power - 1) // 2**power for power in range(1, steps + 2)]
    layers = {str(2 * place): conv(widths[place], widths[place + 1], 3, bias=True) for place in range(steps)}
    layers[str(2 * steps)] = conv(widths[-1], 1, s.own.last, bias=True)
    vision = s.part("fov")
    encoder = block(model=families.tree(vision), neck=Linear(vision.hidden, d // 2, True))
    return block("other", fov_encoder=encoder, conv=conv(d, d // 2, 3, bias=True), head=block(layers=Block(layers)))


def blueprint(s: Spec[DepthPro]) -> Block:
    d, sizes, image, patch = s.hidden, s.own, s.part("image").hidden, s.part("patch").hidden
    scaled, between = sizes.scaled, sizes.between
    all_widths = [*scaled, *between]
    spare = len(all_widths) - 1 if int(all_widths[-1]) == int(d) else len(all_widths)
    upsample = block(
        image_block=block(layers=Block({"0": transposed(image, scaled[0], 2)})),
        scaled_images=Block({str(place): _larger(patch, width, width, 1) for place, width in enumerate(scaled)}),
        intermediate=Block(
            {str(place): _larger(patch, width if place else d, width, 2 + place) for place, width in enumerate(between)}
        ),
    )
    projections = Block({str(place): conv(all_widths[place], d, 3) for place in range(spare)})
    joining = block(
        "projector",
        feature_upsample=upsample,
        fuse_image_with_low_res=conv(2 * scaled[0], scaled[0], 1, bias=True),
        feature_projection=block(projections=projections),
    )
    encoders = block(
        image_encoder=block(model=families.tree(s.part("image"))),
        patch_encoder=block(model=families.tree(s.part("patch"))),
    )
    body = block(encoder=encoders, neck=joining)
    if s.head == "base":
        return body
    deconv = transposed(d, d, 2, bias=False)
    layers = {"0": conv(d, d // 2, 3, bias=True), "1": transposed(d // 2, d // 2, 2)}
    layers |= {"2": conv(d // 2, _FINE, 3, bias=True), "4": conv(_FINE, 1, 1, bias=True)}
    fused = Repeat(Indices.below(sizes.joined - 1), sizes.fusion.tensors(sizes.fusion_hidden_size, deconv=deconv))
    stage = block("other", intermediate=fused, final=sizes.fusion.tensors(sizes.fusion_hidden_size))
    view = _view(s) if "fov" in s.parts else None
    return block(depth_pro=body, fusion_stage=stage, head=block("other", layers=Block(layers)), fov_model=view)
