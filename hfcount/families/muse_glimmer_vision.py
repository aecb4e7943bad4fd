"""Muse Glimmer's and Muse Spark's vision tower: flattened patches of several frames, a learned table of places."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import square_attention
from hfcount.spec import Layer, Patches, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("muse_glimmer_vision", "muse_spark_vision")  # transformers 5.23: modeling_muse_glimmer.py
IGNORED = ("merge_size",)


def spec(c: Config) -> Spec:
    seen = Patches(side=c.int("patch_size"), channels=3, frames=c.int("patch_temporal"))
    rows = c.int("pos_emb_height") * c.int("pos_emb_width")
    return keys.tower(c, patches=seen, positions=rows, indivisible="built")


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            norm1=layer_norm(d),
            norm2=layer_norm(d),
            attn=square_attention(d, out="proj"),
            mlp=mlp(d, one.dense.width),
        )

    table = Linear((s.seen.frames or 1) * s.seen.pixels, d, component="embedding")
    return block(
        patch_embedder=block(patch_embedding=table, position_embedding_table=positions(s)),
        ln_pre=layer_norm(d),
        layers=stack(s.layers, layer),
        ln_post=layer_norm(d),
    )
