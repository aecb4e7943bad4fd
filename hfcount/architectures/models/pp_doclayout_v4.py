"""PP-DocLayoutV4: RT-DETR for four-cornered parts of a page, and the order to read them in (PaddleOCR)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import UNSHAPED
from hfcount.architectures.components.rt_detr import Hybrid, denoising, hybrid, refining
from hfcount.architectures.layers.conversions import HYBRID
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("pp_doclayout_v4",)  # transformers 5.23: modeling_pp_doclayout_v4.py
IGNORED = (*UNSHAPED, "feat_strides", "s2r_steps")
SPELLINGS = {
    **HYBRID,
    r"decoder\.successor_order_head\.proj\.": "decoder_roor_order_head.",
    r"decoder\.successor_order_head\.global_pointer\.": "decoder_roor_global_pointer.",
    r"decoder\.relative_order_head\.proj\.": "decoder_order_head.",
    r"decoder\.relative_order_head\.global_pointer\.": "decoder_global_pointer.",
    r"decoder\.relative_order_head\.s2r_fusion\.closure_weight$": "s2r_fusion.a",
}

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")
_COORDINATES = 10  # a centre, and each corner as seen from it


class PPDocLayoutV4(Record):
    hybrid: Hybrid
    denoised: bool
    num_coords: int
    global_pointer_head_size: int


def spec(c: Config) -> Spec[PPDocLayoutV4]:
    given = c.int("num_coords", default=_COORDINATES)
    if given != _COORDINATES:
        raise c.error(
            "out-of-range", f"num_coords is {given:,}, but must be {_COORDINATES}.", "num_coords", observed=int(given)
        )
    noisy, narrow = denoising(c), keys.dim("d_g", c.int("global_pointer_head_size"))
    model = hybrid(c, _HEADS, families.backbone(c))
    sizes = PPDocLayoutV4(
        hybrid=model.own, denoised=noisy, num_coords=keys.dim("n_x", given), global_pointer_head_size=narrow
    )
    return model.having(sizes)


def blueprint(s: Spec[PPDocLayoutV4]) -> Block:
    d, sizes, narrow, places = s.hidden, s.own, s.own.global_pointer_head_size, s.own.num_coords
    decoder = refining(s, sizes.hybrid.points, headed=True, coordinates=places)
    tower = families.tree(s.part("backbone"))
    each = Repeat(Indices.below(s.depth), Linear(d, d, True, "other"))
    pair = block("other", q_proj=Linear(d, narrow, True), k_proj=Linear(d, narrow, True))
    body = altered(
        sizes.hybrid.tensors(s, tower, decoder, labelled=s.labels if sizes.denoised else None, coordinates=places),
        decoder_order_head=each,
        decoder_global_pointer=pair,
        decoder_roor_order_head=each,
        decoder_roor_global_pointer=pair,
        s2r_fusion=block("other", a=Tensor((1,))),
    )
    return body if s.head == "base" else block(model=body)
