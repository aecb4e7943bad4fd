"""Kimi K2.5's vision tower: ViT's layers with rotary positions and a learned table of places (arXiv:2602.02276)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.vision import patch_convolution, square_attention
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("kimi_k25_vision", "moonvit")  # transformers 5.23: modeling_kimi_k25.py
IGNORED = ("init_pos_emb_height", "init_pos_emb_time", "init_pos_emb_width", "pos_emb_time", "video_attn_type")
SPELLINGS = {
    r"(?<=vision_tower\.)encoder\.": "",
    r"\bblocks\.(\d+)\.wo\.": r"layers.\1.attn.proj.",
    r"\bblocks\.(\d+)\.mlp\.fc1\.": r"layers.\1.mlp.fc2.",
    r"\bblocks\.(\d+)\.mlp\.fc0\.": r"layers.\1.mlp.fc1.",
    r"\bblocks\.(\d+)\.norm1\.": r"layers.\1.norm2.",
    r"\bblocks\.(\d+)\.norm0\.": r"layers.\1.norm1.",
    r"(?<=vision_tower\.)blocks\.": "layers.",
    r"\bpos_emb\.weight$": "pos_emb.position_embeddings",
}
MERGED = {f"wqkv.{end}": tuple(f"attn.{letter}_proj.{end}" for letter in "qkv") for end in ("weight", "bias")}


class KimiK25Vision(Sizes):
    pos_emb_height: int
    pos_emb_width: int
    merged: int


def spec(c: Config) -> Spec[KimiK25Vision]:
    merge = c.ints("merge_kernel_size", default=(2, 2), least=1)
    sizes = KimiK25Vision.read(
        c,
        pos_emb_height=keys.dim("n_h", c.int("pos_emb_height", "init_pos_emb_height")),
        pos_emb_width=keys.dim("n_w", c.int("pos_emb_width", "init_pos_emb_width")),
        merged=merge[0] * merge[1] if len(merge) == 2 else merge[0] * merge[0],
    )
    return keys.tower(
        c,
        hidden=c.int("hidden_size", "vt_hidden_size"),
        ffn=Dense(width=c.int("intermediate_size", "vt_intermediate_size"), bias=True),
        heads=("num_attention_heads", "vt_num_attention_heads"),
        depth=("num_hidden_layers", "vt_num_hidden_layers"),
        indivisible="built",
        patches=Patches(side=c.int("patch_size"), channels=3),
    ).having(sizes)


def blueprint(s: Spec[KimiK25Vision]) -> Block:
    d, places = s.hidden, Tensor((s.own.pos_emb_height, s.own.pos_emb_width, s.hidden))
    released = bool(s.place)  # within the whole model the names are those of the release

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        if not released:
            attention = square_attention(d, out="proj")
            return block(norm1=layer_norm(d), norm2=layer_norm(d), attn=attention, mlp=mlp(d, width))
        return block(
            norm0=layer_norm(d),
            norm1=layer_norm(d),
            wqkv=Linear(d, 3 * d, bias=True, component="attention"),
            wo=Linear(d, d, bias=True, component="attention"),
            mlp=mlp(d, width, up="fc0", down="fc1"),
        )

    table = block("embedding", **({"weight": places} if released else {"position_embeddings": places}))
    patches, norm = block(proj=patch_convolution(s), pos_emb=table), layer_norm(d)
    if not released:
        return block(patch_embed=patches, layers=stack(s.layers, layer_block), final_layernorm=norm)
    return block(patch_embed=patches, encoder=block(blocks=stack(s.layers, layer_block), final_layernorm=norm))
