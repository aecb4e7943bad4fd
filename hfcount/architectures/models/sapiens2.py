"""Sapiens 2: a ViT of people with registers, normalised queries and keys, shared keys in its middle (Meta, 2026)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import rms_norm, stack
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag, size
from hfcount.spec import GQA, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("sapiens2",)  # transformers 5.23: modeling_sapiens2.py
IGNORED = tuple(
    "image_size out_indices reshape_hidden_states semantic_loss_ignore_index flip_pairs head_config".split()
)
SPELLINGS = {
    r"^cls_token$": "embeddings.cls_token",
    r"^storage_tokens$": "embeddings.register_tokens",
    r"^patch_embed\.projection\.": "embeddings.patch_embeddings.",
    r"^blocks\.": "model.layer.",
    r"\.attn\.proj\.": ".attention.o_proj.",
    r"\.attn\.w([qkv])\.": r".attention.\1_proj.",
    r"\.attn\.([qk])_norm\.": r".attention.\1_norm.",
    r"\.attn\.gamma\.weight$": ".layer_scale1.lambda1",
    r"\.ffn\.w3\.": ".mlp.down_proj.",
    r"\.ln([12])\.": r".norm\1.",
    r"^ln1\.": "norm.",
}
MERGED = {f"ffn.w12.{end}": (f"mlp.gate_proj.{end}", f"mlp.up_proj.{end}") for end in ("weight", "bias")}

_HEADS = keys.named(("Model",), Backbone="backbone")


class Sapiens2(Sizes):
    query_bias: bool = flag(absent=True)
    key_bias: bool = flag(absent=True)
    value_bias: bool = flag(absent=True)
    proj_bias: bool = flag(absent=True)
    mlp_bias: bool = flag(absent=True)
    use_gated_mlp: bool = flag(absent=True)
    use_mask_token: bool = flag(absent=False)
    num_register_tokens: int = size("n_r", minimum=0)


def spec(c: Config) -> Spec[Sapiens2]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    normed = c.bool("use_qk_norm", default=True)

    def layer(shared: int) -> Layer:
        return Layer(
            mixer=GQA(heads=heads, kv_heads=shared, head_dim=d // heads, qk_norm=normed), ffn=keys.dense(c, bias=True)
        )

    count, given = keys.layer_count(c), c.ints("num_key_value_heads_per_layer")
    if given:
        numbers = sorted(set(given))
        places = keys.listing(c, "num_key_value_heads_per_layer", given, *numbers)
        layers = [Layers(indices=part, layer=layer(n)) for part, n in zip(places, numbers, strict=True)]
    else:
        first, last = (
            min(count, c.int(f"num_{end}_full_attention_layers", minimum=0, maximum=MAX_LAYERS))
            for end in ("first", "last")
        )
        middle = Indices.span(first, max(first, count - last))
        few = c.int("num_key_value_attention_heads")
        ends = (Indices.below(count).difference(middle), lambda: layer(heads))
        layers = keys.split(ends, (middle, lambda: layer(few)))
    sizes = Sapiens2.read(c)
    return keys.imaging(c, layers, _HEADS, hidden=d, patches=keys.patches(c)).having(sizes)


def blueprint(s: Spec[Sapiens2]) -> Block:
    d, of, norm = s.hidden, s.own, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        a, wide, bias = layer.attention, layer.dense.width, of.mlp_bias
        shared, head_norm = a.kv_heads * a.head_dim, rms_norm(a.head_dim) if a.qk_norm else None
        attention = block(
            "attention",
            wq=Linear(d, d, of.query_bias),
            wk=Linear(d, shared, of.key_bias),
            wv=Linear(d, shared, of.value_bias),
            q_norm=head_norm,
            k_norm=head_norm,
            proj=Linear(d, d, of.proj_bias),
            gamma=block(weight=Tensor((d,))),
        )
        network = block("mlp", w12=Linear(d, 2 * wide if of.use_gated_mlp else wide, bias), w3=Linear(wide, d, bias))
        return block(ln1=norm, attn=attention, ln2=norm, ffn=network)

    token = Tensor((1, 1, d), component="embedding")
    return block(
        cls_token=token,
        embeddings=block(mask_token=token) if of.use_mask_token else None,
        storage_tokens=Tensor((1, of.num_register_tokens, d), component="embedding"),
        patch_embed=block(projection=patch_convolution(s)),
        blocks=stack(s.layers, layer_block),
        ln1=norm,
    )
