"""TVP: words and frames of a video in one encoder, with prompts around both (arXiv:2303.04995)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import headed, positions
from hfcount.architectures.layers.convolution import conv
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("tvp",)  # transformers 5.23: modeling_tvp.py
IGNORED = ("frame_num", "num_frames", "out_features", "out_indices", "stage_names")

_HEADS = keys.named(ForVideoGrounding="grounding", Model="base")
_WORDS, _COLOURS = 10, 3  # of the prompts


class Tvp(Sizes):
    type_vocab_size: int = size("t")
    rows: int = size("n_r", "max_grid_row_position_embeddings")
    columns: int = size("n_c", "max_grid_col_position_embeddings")
    frames: int
    pad: int = size("p", "visual_prompt_size")
    side: int = size("S", "max_img_size")
    around: bool


def spec(c: Config) -> Spec[Tvp]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    kind = c.choice("visual_prompter_type", ("framepad", "framedownpad"), "framepad")
    c.choice("visual_prompter_apply", ("add", "replace", "remove"), "replace")
    sizes = Tvp.read(
        c,
        frames=keys.dim("f", c.int("num_frames" if kind == "framepad" else "frame_num", maximum=MAX_LAYERS)),
        around=kind == "framepad",
    )
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    parts = {"vision": families.part(c, "backbone_config")}
    model = keys.decoder_spec(c, layer, heads=_HEADS, hidden=d, positions=rows, parts=parts)
    return model.replace(causal=False, tied=False).having(sizes)


def blueprint(s: Spec[Tvp]) -> Block:
    d, of = s.hidden, s.own
    square = Linear(d, d, True)

    def layer_block(layer: Layer) -> Block:
        wide, back = Linear(d, layer.dense.width, True), Linear(layer.dense.width, d, True)
        attention = block("attention", query=square, key=square, value=square, dense=square, layer_norm=layer_norm(d))
        output = block("mlp", dense=back, layer_norm=layer_norm(d))
        return block(attention=attention, intermediate=block("mlp", dense=wide), output=output)

    pad, side = of.pad, of.side
    flat = Tensor((1, of.frames, _COLOURS, pad, side))
    upright = Tensor((1, of.frames, _COLOURS, side - 2 * pad, pad)) if of.around else None
    words = block(
        word_embeddings=embedding(s.vocab, d),
        position_embeddings=positions(s),
        token_type_embeddings=embedding(of.type_vocab_size, d),
        layer_norm=layer_norm(d),
    )
    embeddings = block(
        position_embeddings=positions(s),
        row_position_embeddings=embedding(of.rows, d),
        col_position_embeddings=embedding(of.columns, d),
        token_type_embeddings=embedding(1, d),
        layer_norm=layer_norm(d),
    )
    frames = s.part("vision")
    body = block(
        vision_model=block(
            backbone=families.tree(frames.replace(head="backbone")), grid_encoder_conv=conv(frames.hidden, d, 3)
        ),
        embeddings=words,
        visual_embeddings=embeddings,
        encoder=block(layer=stack(s.layers, layer_block)),
        pooler=block("other", dense=square),
        text_prompt=Tensor((1, _WORDS, d), component="embedding"),
        visual_prompter=block(
            "other", pad_up=flat if of.around else None, pad_down=flat, pad_left=upright, pad_right=upright
        ),
    )
    ends = block("other", layer_0=Linear(d, 2 * d, True), layer_1=Linear(2 * d, 2, True))
    return headed(s, "model", body, grounding=block(video_grounding_head=ends))
