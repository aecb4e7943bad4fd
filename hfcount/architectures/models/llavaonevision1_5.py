"""LLaVA-OneVision 1.5: RICE's tower, whose patches are merged, before Qwen3's layers (arXiv:2509.23661)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import fused_square_attention
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import shown

# transformers_impl/llavaonevision1_5 of EvolvingLMMs-Lab/LLaVA-OneVision-2
MODEL_TYPES = ("llavaonevision1_5",)
CLASSES = ("LLaVAOneVision1_5_ForConditionalGeneration",)
SPELLINGS = {r"^visual\.": "model.visual.", r"^model\.(?!language_model\.|visual\.)": "model.language_model."}
IGNORED = ("vocab_size",)

_TEXT = {
    "vocab_size": 151936,
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "attention_bias": False,
    "tie_word_embeddings": False,
}


def spec(c: Config) -> Spec:
    c.part("text_config", defaults=_TEXT)
    text = families.part(c, "text_config", always="qwen3")
    if c.given("tie_word_embeddings") and (tied := c.bool("tie_word_embeddings")) != text.tied:
        raise UnknownArchitecture(
            f"{c.where}: tie_word_embeddings is {shown(tied)}, and {shown(text.tied)} in text_config; versions of"
            " transformers do not read the same one. Write the same in both."
        )
    vision = families.part(c, "vision_config", always="rice_vit")
    if vision.output != text.hidden:
        message = f"text_hidden_size of vision_config is {vision.output:,}, and hidden_size of text_config"
        c.cannot_run("contradiction", f"{message} {text.hidden:,}.", "vision_config", "Correct one of them.")
    heads = keys.named(("ForConditionalGeneration", "Model"))
    return keys.composite(c, text, {"vision": vision}, heads=heads).replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))


_ABSENT = {
    "depth": 24,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_heads": 16,
    "in_channels": 3,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "text_hidden_size": 2560,
}


def vision_spec(c: Config) -> Spec:
    """RICE's tower: rotary positions, and a token of the class with a place of its own (arXiv:2507.20025)."""
    c = c.assuming(_ABSENT)
    patches = Patches(
        side=c.int("patch_size"), channels=c.int("in_channels"), merge=keys.dim("m", c.int("spatial_merge_size"))
    )
    ffn, out = Dense(width=c.int("intermediate_size"), bias=True), c.int("text_hidden_size")
    return keys.tower(c, ffn=ffn, heads=("num_heads",), depth=("depth",), patches=patches, out=out)


def vision_blueprint(s: Spec) -> Block:
    d, out, patch = s.hidden, s.output, s.seen
    merged, norm = patch.merged(d), layer_norm(d)

    def layer_block(layer: Layer) -> Block:
        return block(norm1=norm, norm2=norm, attn=fused_square_attention(d), mlp=mlp(d, layer.dense.width))

    half = s.layers[0].layer.attention.head_dim // 2
    projector = Block({"0": Linear(merged, merged, True), "2": Linear(merged, out, True)})
    return block(
        class_embedding=Tensor((d,), component="embedding"),
        class_pos_emb=Tensor((1, half), component="embedding"),
        patch_embed=block(proj=block("embedding", weight=Tensor((d, patch.channels, patch.side, patch.side)))),
        pre_layernorm=norm,
        blocks=stack(s.layers, layer_block),
        merger=block("projector", ln_q=norm, mlp=projector),
    )


PARTS = (families.Family(("rice_vit",), vision_spec, vision_blueprint, ignored=("embed_dim", "temporal_patch_size")),)
