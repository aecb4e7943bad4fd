"""EXAONE 4.5: a vision transformer before EXAONE 4 (https://huggingface.co/LGAI-EXAONE)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.drafts import series
from hfcount.architectures.layers import fused_qkv, rms_norm, stack, swiglu, with_draft
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_exaone4_5.py
# and, for the layers that predict further tokens, exaone4_5_mtp.py of vllm-project/vllm 0.33
MODEL_TYPES = ("exaone4_5",)
PREDICTORS = ("Exaone4_5_MTP",)


def spec(c: Config) -> Spec:
    inner, towers = c.part("text_config"), {"vision": families.part(c, "vision_config")}
    early = inner.str("model_type", default="") == "exaone4_5_text"
    text = families.part(c, "text_config", "exaone4" if early else "")
    tied = c.bool("tie_word_embeddings", default=False)
    count = c.int("num_nextn_predict_layers", default=0, minimum=0, maximum=MAX_LAYERS)
    ahead = keys.ahead(inner, keys.uniform(text.layers[0].layer, count) if count else ())
    parts = {**towers, **{name: part.replace(family=c.family) for name, part in ahead.items()}}
    return keys.composite(c, text, parts, heads=("ForConditionalGeneration", "Model")).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    text = families.base(s)
    (layer,) = series(text)

    def model(proper: Spec) -> Block:
        return towers_in_model(proper, text, visual=families.tower(proper, "vision"))

    return with_draft(s, model, lambda _: layer)


def vision_spec(c: Config) -> Spec:
    """EXAONE 4.5's vision tower: Qwen2.5-VL's, whose heads share keys and values."""
    d, heads = c.int("hidden_size"), c.int("num_heads", maximum=MAX_LAYERS)
    mixer = keys.multi_head(c, d, heads, indivisible="built").replace(kv_heads=c.int("num_key_value_heads"))
    layers = keys.uniform(Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), c.int("depth", maximum=MAX_LAYERS))
    frames, merge = c.int("temporal_patch_size"), c.int("spatial_merge_size")
    patches = keys.patches(c, "in_channels", frames=frames, merge=merge)
    return keys.encoding(c, layers, hidden=d, patches=patches, out=c.int("out_hidden_size"))


def vision_blueprint(s: Spec) -> Block:
    d, merged = s.hidden, s.seen.merged(s.hidden)

    def layer_block(layer: Layer) -> Block:
        attention = block("attention", qkv=fused_qkv(d, layer.attention), proj=Linear(d, d, True))
        network = swiglu(d, layer.dense.width, bias=True)
        return block(norm1=rms_norm(d), norm2=rms_norm(d), attn=attention, mlp=network)

    merger = Block({"0": Linear(merged, merged, True), "2": Linear(merged, s.output, True)})
    return block(
        patch_embed=block(proj=patch_convolution(s, bias=False)),
        blocks=stack(s.layers, layer_block),
        merger=block("projector", ln_q=rms_norm(d), mlp=merger),
    )


PARTS = (
    families.Family(
        ("exaone4_5_vision",), vision_spec, vision_blueprint, ignored=("fullatt_block_indexes", "window_size")
    ),
)
