"""Moondream 2's vision tower: SigLIP's layers, over an image and its parts (https://github.com/vikhyat/moondream)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.vision import fused_square_attention, patch_projection
from hfcount.spec import Dense, Layer, Patches, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("moondream1_vision",)  # vision.py of vikhyatk/moondream2
IGNORED = ("max_crops", "overlap_margin")

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
    """What this architecture alone has."""

    proj_inner_dim: int = size("d_i")


def spec(c: Config) -> Spec[Moondream1Vision]:
    c = c.assuming(_ABSENT)
    side, image = c.int("enc_patch_size"), c.int("crop_size")
    across = keys.dim("n_w", keys.divides(c, "enc_patch_size", side, "crop_size", image, built=True))
    if not across:
        raise c.error("enc_patch_size exceeds crop_size, so there is no patch.", "enc_patch_size", "Correct one.")
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


def blueprint(s: Spec[Moondream1Vision]) -> Block:
    d, inner = s.hidden, s.own.proj_inner_dim

    def layer(one: Layer) -> Block:
        network = mlp(d, one.dense.width)
        return block(ln1=layer_norm(d), attn=fused_square_attention(d), ln2=layer_norm(d), mlp=network)

    return block(
        patch_emb=patch_projection(s, bias=True),
        blocks=stack(s.layers, layer),
        post_ln=layer_norm(d),
        proj_mlp=block("projector", fc1=Linear(2 * d, inner, True), fc2=Linear(inner, s.output, True)),
        pos_emb=Tensor((1, s.positions or 0, d), component="embedding"),
    )
