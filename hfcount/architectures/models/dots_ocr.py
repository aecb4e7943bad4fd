"""dots.ocr: Qwen2 with a vision tower of its own (https://github.com/rednote-hilab/dots.ocr)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, layer_norm, rms_norm, stack
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# modeling_dots_ocr.py of rednote-hilab/dots.ocr, modeling_dots_vision.py of rednote-hilab/dots.ocr
MODEL_TYPES = ("dots_ocr",)
IGNORED = ("attention_bias",)  # queries, keys and values always have biases


def spec(c: Config) -> Spec:
    text = families.read(c.as_part().varied("", {"architectures": None}), "qwen2")
    parts = {"vision": families.part(c, "vision_config", "dots_vit"), "text": text}
    return keys.decoder_spec(c, text.layers, heads=("ForCausalLM",), windows=text.windows, parts=parts)


def blueprint(s: Spec) -> Block:
    text = families.tree(s.part("text").replace(head=s.head, tied=s.tied))
    return altered(text, vision_tower=families.tower(s, "vision"))


# configuration_dots.py of rednote-hilab/dots.ocr.
_ABSENT = {
    "embed_dim": 1536,
    "hidden_size": 1536,
    "intermediate_size": 4224,
    "num_hidden_layers": 42,
    "num_attention_heads": 12,
    "num_channels": 3,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "use_bias": False,
    "post_norm": True,
}


class DotsVit(Sizes):
    post_norm: bool = flag()


def vision_spec(c: Config) -> Spec[DotsVit]:
    """dots.ocr's vision tower: gated networks, rotary positions, merged patches."""
    c = c.assuming(_ABSENT)
    bias = c.bool("use_bias")
    return keys.tower(
        c,
        hidden=c.int("embed_dim"),
        ffn=Dense(width=c.int("intermediate_size"), bias=bias),
        bias=bias,
        indivisible="built",
        patches=keys.patches(c, merge=c.int("spatial_merge_size")),
        out=keys.dim("d_o", c.int("hidden_size")),
    ).having(DotsVit.read(c))


def vision_blueprint(s: Spec[DotsVit]) -> Block:
    d, merged = s.hidden, s.seen.merged(s.hidden)

    def layer_block(layer: Layer) -> Block:
        width, bias = layer.dense.width, layer.dense.bias
        wide = Linear(d, width, bias)
        attention = fused_square_attention(d, bias, bias)
        network = block("mlp", fc1=wide, fc2=Linear(width, d, bias), fc3=wide)
        return block(attn=attention, norm1=rms_norm(d), mlp=network, norm2=rms_norm(d))

    merger = {"0": Linear(merged, merged, bias=True), "2": Linear(merged, s.output, bias=True)}
    return block(
        patch_embed=block(patchifier=block(proj=patch_convolution(s), norm=rms_norm(d))),
        blocks=stack(s.layers, layer_block),
        post_trunk_norm=rms_norm(d) if s.own.post_norm else None,
        merger=block("projector", ln_q=layer_norm(d), mlp=Block(merger)),
    )


PARTS = (
    families.Family(("dots_vit",), vision_spec, vision_blueprint, ignored=("init_merger_std", "temporal_patch_size")),
)
