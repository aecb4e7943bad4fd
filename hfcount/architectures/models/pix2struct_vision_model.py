"""The vision tower of Pix2Struct and Kosmos-2.5, which reads patches of images of any shape (arXiv:2210.03347)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, rms_norm, stack
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

# transformers 5.23: modeling_pix2struct.py, modeling_kosmos2_5.py
MODEL_TYPES = ("pix2struct_vision_model", "kosmos_2_5_vision_model")
IGNORED = ("relative_attention_num_buckets", "relative_attention_max_distance")


class Pix2structVisionModel(Sizes):
    patch_embed_hidden_size: int = size("C_P")
    places: int


def spec(c: Config) -> Spec[Pix2structVisionModel]:
    first, heads = c.family == "pix2struct_vision_model", c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv" if first else "head_dim"))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("d_ff" if first else "intermediate_size")))
    sizes = Pix2structVisionModel.read(c, places=keys.dim("n_p", c.int("seq_len" if first else "max_num_patches")))
    layers = keys.uniform(layer, keys.layer_count(c))
    return keys.encoding(c, layers, hidden=c.int("hidden_size")).having(sizes)


def blueprint(s: Spec[Pix2structVisionModel]) -> Block:
    d, places = s.hidden, embedding(s.own.places, s.hidden)

    def layer_block(layer: Layer) -> Block:
        a, wide = layer.attention, Linear(d, layer.dense.width)
        into, out = Linear(d, a.heads * a.head_dim), Linear(a.heads * a.head_dim, d)
        return block(
            attention=block("attention", query=into, key=into, value=into, output=out),
            mlp=block("mlp", wi_0=wide, wi_1=wide, wo=Linear(layer.dense.width, d)),
            pre_mlp_layer_norm=rms_norm(d),
            pre_attention_layer_norm=rms_norm(d),
        )

    patch = Linear(s.own.patch_embed_hidden_size, d, True, "embedding")
    table = block(patch_projection=patch, row_embedder=places, column_embedder=places)
    return block(embeddings=table, encoder=block(layer=stack(s.layers, layer_block)), layernorm=rms_norm(d))
