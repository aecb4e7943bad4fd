"""Moondream 2: attention and network side by side, a tower, and a part that points (https://github.com/vikhyat/moondream)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.classic import fused_attention
from hfcount.architectures.layers.vision import fused_square_attention, patch_projection
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("moondream1",)  # hf_moondream.py of vikhyatk/moondream2, vision.py of vikhyatk/moondream2
CLASSES = ("HfMoondream",)
IGNORED = ("max_context", "max_crops", "overlap_margin", "prefix_attn", "tokenizer")


# config.py of vikhyatk/moondream2, whose config.json gives no sizes.
_TEXT = {"dim": 2048, "ff_dim": 8192, "n_layers": 24, "vocab_size": 51200, "n_heads": 32, "n_kv_heads": 32}
_REGION = {
    "dim": 2048,
    "coord_feat_dim": 256,
    "coord_out_dim": 1024,
    "size_feat_dim": 512,
    "size_out_dim": 2048,
    "inner_dim": 8192,
}


class Moondream1(Sizes):
    """What Moondream's part that points has: the features and outputs of coordinates and of sizes."""

    dim: int = size("d_r")
    coord_feat_dim: int = size("d_c")
    coord_out_dim: int = size("d_co")
    size_feat_dim: int = size("d_s")
    size_out_dim: int = size("d_so")
    inner_dim: int = size("d_i")


def spec(c: Config) -> Spec[Moondream1]:
    known = keys.named(HfMoondream="causal_lm")
    keys.head_of(c, known)
    inner = c.part("config")
    text, region = inner.part("text", defaults=_TEXT), inner.part("region", defaults=_REGION)
    if text.given("group_size") or region.given("group_size"):
        raise UnknownArchitecture(f"{c.where}: moondream1 is described without groups of quantised weights alone.")
    d, heads, kv_heads = text.int("dim"), text.int("n_heads"), text.int("n_kv_heads")
    mixer = keys.multi_head(text, d, heads).replace(kv_heads=kv_heads)
    keys.divides(text, "n_kv_heads", kv_heads, "n_heads", heads, built=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=text.int("ff_dim"), bias=True))
    layers = keys.uniform(layer, text.int("n_layers", maximum=MAX_LAYERS))
    pointing = Moondream1.read(region)
    vision = families.part(inner, "vision", "moondream1_vision")
    rows = text.int("vocab_size")
    model = keys.decoder_spec(c, layers, hidden=d, vocab=rows, heads=known, parts={"vision": vision})
    return model.replace(tied=False).having(pointing)


def blueprint(s: Spec[Moondream1]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        attention = fused_attention(d, layer.attention, "qkv", "proj")
        return block(ln=layer_norm(d), attn=attention, mlp=mlp(d, layer.dense.width))

    def pointed(name: str, parts: int, width: int, out: int) -> dict[str, Block | Linear | Tensor]:
        decoder = block(fc1=Linear(of.dim, of.inner_dim, True), fc2=Linear(of.inner_dim, out, True))
        features = Tensor((parts, width // 2))
        coder: dict[str, Block | Linear | Tensor] = {
            "encoder": Linear(width, of.dim, True),
            "decoder": decoder,
            "features": features,
        }
        return {f"{name}_{part}": node for part, node in coder.items()}

    text = block(
        blocks=stack(s.layers, layer_block),
        post_ln=layer_norm(d),
        lm_head=Linear(d, s.vocab, True, "lm_head"),
        wte=Tensor((s.vocab, d), component="embedding"),
    )
    coordinates = pointed("coord", 1, of.coord_feat_dim, of.coord_out_dim)
    region = Block({**coordinates, **pointed("size", 2, of.size_feat_dim, of.size_out_dim)}, "other", 0)
    return block(model=block(vision=families.tower(s, "vision"), text=text, region=region))


# config.py of vikhyatk/moondream2, whose config.json gives no sizes.
_ABSENT = {
    "enc_dim": 1152,
    "enc_patch_size": 14,
    "enc_n_layers": 27,
    "enc_ff_dim": 4304,
    "enc_n_heads": 16,
    "proj_out_dim": 2048,
    "crop_size": 378,
    "in_channels": 3,
    "proj_inner_dim": 8192,
}


class Moondream1Vision(Sizes):
    proj_inner_dim: int = size("d_i")


def vision_spec(c: Config) -> Spec[Moondream1Vision]:
    """Moondream 2's vision tower: SigLIP's layers, over an image and its parts."""
    c = c.assuming(_ABSENT)
    side, image = c.int("enc_patch_size"), c.int("crop_size")
    across = keys.dim("n_w", keys.divides(c, "enc_patch_size", side, "crop_size", image, built=True))
    if not across:
        raise c.error(
            "out-of-range", "enc_patch_size exceeds crop_size, so there is no patch.", "enc_patch_size", "Correct one."
        )
    return keys.tower(
        c,
        hidden=c.int("enc_dim"),
        ffn=Dense(width=c.int("enc_ff_dim"), bias=True),
        heads=("enc_n_heads",),
        depth=("enc_n_layers",),
        indivisible="built",
        patches=Patches(side=side, channels=c.int("in_channels")),
        positions=across * across,
        out=keys.dim("d_o", c.int("proj_out_dim")),
    ).having(Moondream1Vision.read(c))


def vision_blueprint(s: Spec[Moondream1Vision]) -> Block:
    d, inner = s.hidden, s.own.proj_inner_dim

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width)
        return block(ln1=layer_norm(d), attn=fused_square_attention(d), ln2=layer_norm(d), mlp=network)

    return block(
        patch_emb=patch_projection(s, bias=True),
        blocks=stack(s.layers, layer_block),
        post_ln=layer_norm(d),
        proj_mlp=block("projector", fc1=Linear(2 * d, inner, True), fc2=Linear(inner, s.output, True)),
        pos_emb=Tensor((1, s.positions or 0, d), component="embedding"),
    )


PARTS = (
    families.Family(("moondream1_vision",), vision_spec, vision_blueprint, ignored=("max_crops", "overlap_margin")),
)
