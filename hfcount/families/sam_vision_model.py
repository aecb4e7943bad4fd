"""SAM's vision tower, also GOT-OCR2's: attention within windows, everywhere in a few layers (arXiv:2304.02643)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import convolution, fused_square_attention, patch_convolution
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Tensor, block

# transformers 5.23: modeling_sam.py, modeling_sam_hq.py, modeling_got_ocr2.py, modeling_slanext.py
MODEL_TYPES = ("sam_vision_model", "sam_hq_vision_model", "got_ocr2_vision", "pp_chart2table_vision", "slanext_vision")
IGNORED = ("num_pos_feats",)

_WRAPPED = ("sam_vision_model", "sam_hq_vision_model")  # when they stand alone


def spec(c: Config) -> Spec:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias")
    width = c.int("mlp_dim", default=None) or c.times("mlp_ratio", d, default=4)
    image, side = c.int("image_size"), c.int("patch_size")
    across = keys.sized("n_w", keys.divides(c, "patch_size", side, "image_size", image))
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias)
    one = Layer(mixer=mixer, ffn=Dense(width=width, bias=True))
    near = one.but(traits={"across": keys.sized("w", c.int("window_size"))})
    everywhere = keys.numbered(c, "global_attn_indexes")
    rest = Indices.below(keys.layer_count(c)).difference(everywhere)
    layers = keys.split(c, (rest, lambda: near), (everywhere, lambda: one.but(traits={"across": across})))
    switches = {name: c.bool(name) for name in ("use_abs_pos", "use_rel_pos")}
    out = c.int("output_channels")
    traits = {"across": across, "wrapped": c.family in _WRAPPED and not c.nested, **switches}
    return keys.encoding(c, layers, hidden=d, patches=keys.patches(c), out=out, traits=traits)


def blueprint(s: Spec) -> Block:
    d, of, out = s.hidden, s.traits, s.out or s.hidden

    def layer(one: Layer) -> Block:
        a, rows = one.attention, 2 * one.traits["across"] - 1
        table = Tensor((rows, a.head_dim)) if of["use_rel_pos"] else None
        own = block(rel_pos_h=table, rel_pos_w=table).children
        attention = Block({**fused_square_attention(d, a.qkv_bias).children, **own}, "attention")
        network = mlp(d, one.dense.width, up="lin1", down="lin2")
        return block(layer_norm1=layer_norm(d), attn=attention, layer_norm2=layer_norm(d), mlp=network)

    places = Tensor((1, of["across"], of["across"], d), component="embedding")
    neck = block(
        "projector",
        conv1=convolution(d, out, 1, bias=False),
        layer_norm1=layer_norm(out),
        conv2=convolution(out, out, 3, bias=False),
        layer_norm2=layer_norm(out),
    )
    body = block(
        pos_embed=places if of["use_abs_pos"] else None,
        patch_embed=block(projection=patch_convolution(s)),
        layers=stack(s.layers, layer),
        neck=neck,
    )
    return block(vision_encoder=body) if of["wrapped"] else body
