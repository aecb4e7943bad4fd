"""DeepSeek-VL, Janus and JanusFlow as released: towers by name before Llama's layers (arXiv:2403.05525, 2410.13848)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hfcount.architectures import families, keys
from hfcount.architectures.components.sam import SamTower, sam_tower
from hfcount.architectures.components.uvit import ENTERING, LEAVING, SEEING, Flows, decoder, encoder
from hfcount.architectures.components.uvit import IGNORED as OF_FLOWS
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.composite import as_tower, rebased
from hfcount.architectures.layers.vision import convolution
from hfcount.architectures.layers.vqgan import attending, residual
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block, buffer

# modeling_vlm.py of deepseek-ai/Janus, siglip_vit.py of deepseek-ai/Janus, vq_model.py of deepseek-ai/Janus,
# uvit.py of deepseek-ai/Janus, clip_encoder.py of deepseek-ai/DeepSeek-VL, sam.py of deepseek-ai/DeepSeek-VL
MODEL_TYPES = ("multi_modality",)
CLASSES = ("MultiModalityCausalLM",)
IGNORED = ("freeze_high", "freeze_low", "pixel_mean", "pixel_std", "select_layer", *OF_FLOWS)

# The towers that the implementation builds by these names, whatever else the config says of them.
_SIGLIP: dict[str, tuple[int, int, int, int, float]] = {
    "siglip_large_patch16_384": (16, 1024, 24, 16, 4),
    "siglip_so400m_patch14_224": (14, 1152, 27, 16, 3.7362),
    "siglip_so400m_patch14_384": (14, 1152, 27, 16, 3.7362),
}
_SMALLER = {"siglip_large_patch16_256": (16, 1024, 24, 16, 4)}  # known to JanusFlow alone
_SIGLIP_ALL = {"in_chans": 3, "global_pool": "map", "class_token": False}
_SAM: dict[str, tuple[int, int, int, list[int], tuple[int, ...]]] = {
    "sam_vit_b": (768, 12, 12, [2, 5, 8, 11], ()),
    "sam_b_downsample": (768, 12, 12, [2, 5, 8, 11], (512, 1024)),
    "sam_vit_l": (1024, 24, 16, [5, 11, 17, 23], ()),
    "sam_vit_h": (1280, 32, 16, [7, 15, 23, 31], ()),
}
_SAM_ALL: dict[str, Any] = {
    "output_channels": 256,
    "num_channels": 3,
    "patch_size": 16,
    "window_size": 14,
    "mlp_dim": None,
    "mlp_ratio": 4,
    "qkv_bias": True,
    "use_abs_pos": True,
    "use_rel_pos": True,
}
_PROJECTORS = ("identity", "linear", "mlp_gelu", "low_high_hybrid_split_mlp_gelu")
_DRAWING = ("gen_vision_config", "gen_aligner_config", "gen_head_config")
_HYBRID = "HybridVisionTower"


class Downsampled(Record):
    """SAM's tower with convolutions behind it, of these channels, and a second neck."""

    tower: SamTower
    widths: tuple[int, ...]

    def tensors(self, s: Spec) -> Block:
        """The tower, named as in SAM's release, downsamples.N, hd_alpha_downsamples (1) and neck_hd."""
        plain = self.tower.tensors(s, released=True)
        ends = zip((s.output, *self.widths), self.widths, strict=False)
        halves = {str(n): convolution(inputs, out, 3, bias=False) for n, (inputs, out) in enumerate(ends)}
        further: dict[str, Node] = {
            "downsamples": Block(halves),
            "hd_alpha_downsamples": Tensor((1,)),
            "neck_hd": self.tower.neck(s, released=True),
        }
        return Block({**plain.children, **further})


class Projector(Sizes):
    """A projection of `inputs` to `out` elements, of as many layers as its kind has by its depth."""

    kind: str
    inputs: int
    out: int
    depth: int

    def tensors(self) -> Block:
        """layers, or layers.N: N is even, or odd behind high_up_proj and low_up_proj, each of half the width."""
        inputs, out, split = self.inputs, self.out, self.kind == _PROJECTORS[3]
        if self.kind == "identity":
            return block("projector")
        if self.kind == "linear":
            return block("projector", layers=Linear(inputs, out, True))
        more = max(0, self.depth - 1)
        places = Indices(range(2 - split, 2 - split + 2 * int(more), 2), more)
        later, half = Repeat(places, Linear(out, out, True)), Linear(inputs, out // 2, True)
        if split:
            return block("projector", high_up_proj=half, low_up_proj=half, layers=later)
        return block("projector", layers=(Repeat(Indices.fixed(0), Linear(inputs, out, True)), later))


class Drawing(Sizes):
    """What draws images: the table of their codes, its projection, and the head that chooses a code."""

    aligner: Projector
    codes: int
    code: int
    inputs: int
    between: int
    chosen: int

    def tensors(self) -> dict[str, Node]:
        """The autoencoder, gen_aligner, gen_head with output_mlp_projector and vision_head, and gen_embed."""
        first, last = Linear(self.inputs, self.between, True), Linear(self.between, self.chosen, True)
        parts = {
            "gen_vision_model": _autoencoder(),
            "gen_aligner": self.aligner.tensors(),
            "gen_head": block("projector", output_mlp_projector=first, vision_head=last),
            "gen_embed": block("projector", weight=Tensor((self.codes, self.code))),
        }
        return {name: Block(part.children, part.component, 0) for name, part in parts.items()}


class MultiModality(Sizes):
    """Sizes specific to these models: `norms` are the widths of those behind each of two towers."""

    aligner: Projector
    norms: tuple[int, ...]
    drawing: Drawing | None


def spec(c: Config) -> Spec[MultiModality | Flows]:
    text, draws = families.part(c, "language_config", "llama"), any(map(c.given, _DRAWING))
    if c.given(SEEING):
        return _flowing(c, text)
    inner = c.part("vision_config")
    kind = inner.choice("cls", ("CLIPVisionTower",) if draws else ("CLIPVisionTower", _HYBRID))
    params, norms = inner.part("params"), tuple[int, ...]()
    places = {"vision": params}
    if kind == _HYBRID:
        places = {side: params.part(f"{side}_res_cfg") for side in ("high", "low")}
        norms = tuple(inner.int("output_dim", default=1024) for inner in places.values())
    drawing = _drawing(c) if draws else None
    sizes = MultiModality.read(c, aligner=_projector(c, "aligner_config"), norms=norms, drawing=drawing)
    names = (*_SIGLIP, *(() if draws else _SAM))
    towers = {name: _tower(inner, names) for name, inner in places.items()}
    heads = keys.named(ModalityCausalLM="causal_lm")
    return keys.composite(c, text, towers, key="language_config", heads=heads).replace(tied=text.tied).having(sizes)


def blueprint(s: Spec[MultiModality | Flows]) -> Block:
    of = s.own
    if isinstance(of, Flows):
        tower = as_tower(block(vision_tower=_seeing(s.part("vision"))), "vision")
        return block(**of.tensors(tower), language_model=rebased(families.tree(s.part("text")), "language_model"))
    visual = {name: block(vision_tower=_seeing(part)) for name, part in s.parts.items() if name != "text"}
    towers = visual.get("vision")
    if of.norms:
        norms = {f"{side}_layer_norm": layer_norm(width) for side, width in zip(visual, of.norms, strict=True)}
        towers = Block({**{f"vision_tower_{side}": tower for side, tower in visual.items()}, **norms})
    assert towers is not None, "there is one tower, or two with norms"
    aligner = of.aligner.tensors()
    return block(
        vision_model=as_tower(towers, "vision"),
        aligner=Block(aligner.children, "projector", 0),
        **(of.drawing.tensors() if of.drawing else {}),
        language_model=rebased(families.tree(s.part("text")), "language_model"),
    )


def _flowing(c: Config, text: Spec) -> Spec[MultiModality | Flows]:
    into, out = _params(c.part(ENTERING), "ShallowUViTEncoder"), _params(c.part(LEAVING), "ShallowUViTDecoder")
    sizes = Flows.read(c, encoder=encoder(into), decoder=decoder(out))
    vision_width = _tower(_params(c.part(SEEING), "CLIPVisionTower"), (*_SIGLIP, *_SMALLER))
    sizes.compare(c, text, vision_width)
    heads = keys.named(ModalityCausalLM="causal_lm")
    model = keys.composite(c, text, {"vision": vision_width}, key="language_config", heads=heads)
    return model.replace(tied=text.tied).having(sizes)


def _seeing(s: Spec) -> Node:
    return s.own.tensors(s) if isinstance(s.own, Downsampled) else families.tree(s)


def _params(c: Config, kind: str) -> Config:
    """The object params of a part, whose class, cls, must be this one."""
    c.choice("cls", (kind,))
    return c.part("params")


def _projector(c: Config, key: str) -> Projector:
    params = _params(c.part(key), "MlpProjector")
    kind = params.choice("projector_type", _PROJECTORS)
    if kind == "identity":
        return Projector.read(params, kind=kind, inputs=0, out=0, depth=0)
    depth = params.int("depth", default=1, maximum=MAX_LAYERS) if kind.endswith("gelu") else 1
    return Projector.read(params, kind=kind, inputs=params.int("input_dim"), out=params.int("n_embed"), depth=depth)


def _drawing(c: Config) -> Drawing:
    codes, head = _params(c.part("gen_vision_config"), "VQ-16"), _params(c.part("gen_head_config"), "vision_head")
    return Drawing.read(
        c,
        aligner=_projector(c, "gen_aligner_config"),
        codes=codes.int("image_token_size"),
        code=codes.int("n_embed"),
        inputs=head.int("n_embed"),
        between=head.int("image_token_embed"),
        chosen=head.int("image_token_size"),
    )


def _tower(c: Config, names: Sequence[str]) -> Spec:
    """A tower that the implementation builds by the name in model_name, one of these."""
    name = c.choice("model_name", names, default=names[0])
    size = {"image_size": c.assuming({"image_size": 336}).value("image_size")}
    if name in _SAM:
        width, depth, heads, everywhere, halves = _SAM[name]
        sizes = {"hidden_size": width, "num_hidden_layers": depth, "num_attention_heads": heads, **_SAM_ALL}
        usual = c.part(name, defaults={**sizes, "global_attn_indexes": everywhere})
        tower = sam_tower(usual.varied("", size, c.source("image_size")))
        return tower.having(Downsampled(tower=tower.own, widths=halves))
    side, width, depth, heads, ratio = (_SIGLIP | _SMALLER)[name]
    last = c.int("select_layer", default=-2, minimum=-MAX_LAYERS, maximum=MAX_LAYERS)
    depth = min(depth, last if last > 0 else depth + int(last) + 1)
    if depth < 0:
        raise c.error("out-of-range", f"select_layer is {last:,}, before the first layer.", "select_layer")
    sizes = {"patch_size": side, "width": width, "layers": int(depth), "heads": heads, "mlp_ratio": ratio}
    usual = c.part(name, defaults={**sizes, **_SIGLIP_ALL})
    return families.read(usual.varied("", size, c.source("image_size")), "deepseek_vl_v2_vision")


# VQ_16 of vq_model.py, which takes no size from the config.
_CODES, _CODE, _LATENT, _USED = 16384, 8, 256, 65536
_COLOURS, _WIDTHS, _BLOCKS = 3, (128, 128, 256, 256, 512), 2


def _autoencoder() -> Block:
    """Stages as in VQGAN under other names, with a table of codes and which of them were used."""
    quantize = block(embedding=block(weight=Tensor((_CODES, _CODE))), codebook_used=buffer(_USED))
    body = block(
        encoder=_half(_COLOURS, (_WIDTHS[0], *_WIDTHS), _LATENT, "downsample"),
        decoder=_half(_LATENT, (_WIDTHS[-1], *reversed(_WIDTHS)), _COLOURS, "upsample"),
        quantize=quantize,
        quant_conv=convolution(_LATENT, _CODE, 1),
        post_quant_conv=convolution(_CODE, _LATENT, 1),
    )
    return Block(body.children, "vision")


def _half(inputs: int, widths: Sequence[int], outputs: int, resampling: str) -> Block:
    """A half: a stage for each width but the first, and three blocks in the middle, which are as wide as the widest."""
    encodes, wide = resampling == "downsample", max(widths)
    stages, last = dict[str, Node](), len(widths) - 2
    for place, (before, width) in enumerate(pairwise(widths)):
        attends = place == (last if encodes else 0)
        chain = [residual(before if n == 0 else width, width) for n in range(_BLOCKS if encodes else _BLOCKS + 1)]
        stage = block(res=_numbered(chain), attn=_numbered([attending(width)] * len(chain)) if attends else None)
        further = {} if place == last else {resampling: block(conv=convolution(width, width, 3))}
        stages[str(place)] = Block({**stage.children, **further})
    both = residual(wide, wide)
    return block(
        conv_in=convolution(inputs, widths[0], 3),
        conv_blocks=Block(stages),
        mid=_numbered([both, attending(wide), both]),
        norm_out=layer_norm(widths[-1]),
        conv_out=convolution(widths[-1], outputs, 3),
    )


def _numbered(chain: Sequence[Node]) -> Block:
    return Block({str(place): step for place, step in enumerate(chain)})
