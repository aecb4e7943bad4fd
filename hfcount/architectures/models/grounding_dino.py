"""Grounding DINO, also MM Grounding DINO: finds what a text names, whose words are the classes (arXiv:2303.05499)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.detection import (
    Levels,
    detecting,
    learned_places,
    named_attention,
    perceptron,
    sampling,
    tied_perceptron,
)
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import fc
from hfcount.architectures.layers.convolution import frozen
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, flag, size
from hfcount.spec import Lacking, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block

# transformers 5.23: modeling_grounding_dino.py, modeling_mm_grounding_dino.py
MODEL_TYPES = ("grounding-dino", "mm-grounding-dino")
IGNORED = ("max_text_len", "positional_embedding_temperature")

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")
_ROWS = 50  # of each learned table of positions


class GroundingDino(Sizes):
    levels: Levels
    num_queries: int = size("n_q")
    query_dim: int = size("n_d")
    encoder_n_points: int = size("n_s")
    decoder_n_points: int = size("n_z")
    learned: bool = derived(learned_places)
    two_stage: bool = flag(absent=True)
    two_stage_bbox_embed_share: bool = flag(absent=False)
    embedding_init_target: bool = flag(absent=True)
    tied: bool = flag("tie_word_embeddings", absent=True)
    decoder_bbox_embed_share: bool = flag(absent=True)
    decoder_cls_embed_share: bool = flag(absent=True)


def spec(c: Config) -> Spec[GroundingDino]:
    backbone, text = families.backbone(c), families.part(c, "text_config")
    if "token_classification" not in text.heads:
        raise UnknownArchitecture(f"{c.where}: text_config: {text.family} is no encoder of words.")
    sizes = GroundingDino.read(c, levels=Levels.read(c, backbone))
    c.int("decoder_layers", maximum=MAX_LAYERS)
    return detecting(c, _HEADS, backbone, sizes, parts={"words": text.replace(head="token_classification")})


def _encoder(s: Spec[GroundingDino]) -> tuple[Node, ...]:
    """Layers in which words and places see each other, the words themselves, and the places themselves."""
    inner, d, norm = s.part("encoder"), s.hidden, layer_norm(s.hidden)
    points = s.own.levels.count * s.own.encoder_n_points

    def layer_block(layer: Layer) -> Block:
        wide, half = layer.dense.width, layer.dense.width // 2
        into, out, scale = Linear(d, half, True), Linear(half, d, True), Tensor((d,))
        both = {f"{name}_proj": into for name in ("vision", "text", "values_vision", "values_text")}
        both |= {f"out_{name}_proj": out for name in ("vision", "text")}
        places = {"self_attn": sampling(d, points, layer.attention.heads), "self_attn_layer_norm": norm}
        return block(
            text_enhancer_layer=Block(
                {"self_attn": named_attention(d), **fc(d, half), "layer_norm_before": norm, "layer_norm_after": norm}
            ),
            fusion_layer=block(
                layer_norm_vision=norm,
                layer_norm_text=norm,
                attn=Block(both, "attention"),
                vision_param=scale,
                text_param=scale,
            ),
            deformable_layer=Block({**places, **fc(d, wide), "final_layer_norm": norm}),
        )

    return stack(inner.layers, layer_block)


def _shared(s: Spec[GroundingDino], name: str, block: Block, copy: Node, shared: bool) -> tuple[Block, Block]:
    """A prediction at each layer, under two names: those of the first layer alone are stored if all share it."""
    every = Indices.below(s.depth)
    rest = Indices(range(1, max(1, int(s.depth))), s.depth - 1)
    if not s.own.tied:
        return Block({name: Repeat(every, block)}), Block({name: Repeat(every, block)})
    if shared:
        stored: Node = (Repeat(Indices.below(1), block), Repeat(rest, copy))
        return Block({name: stored}), Block({name: Repeat(every, copy)})
    return Block({name: Repeat(every, block)}), Block({})


def blueprint(s: Spec[GroundingDino]) -> Block:
    d, sizes, norm, second = s.hidden, s.own, layer_norm(s.hidden), s.family == "mm-grounding-dino"
    box, bias = perceptron(d, d, d, 4), block("other", bias=Tensor(()))

    def layer_block(layer: Layer) -> Block:
        vision_width = sampling(d, sizes.levels.count * sizes.decoder_n_points, layer.attention.heads)
        parts = {"self_attn": named_attention(d), "encoder_attn_text": named_attention(d), "encoder_attn": vision_width}
        named = {name: made for key, part in parts.items() for name, made in ((key, part), (f"{key}_layer_norm", norm))}
        return Block({**named, **fc(d, layer.dense.width), "final_layer_norm": norm})

    boxes, copies = _shared(
        s, "bbox_embed", box, tied_perceptron("bbox_embed.0", d, d, d, 4), sizes.decoder_bbox_embed_share
    )
    if second:
        copy = Tied("class_embed.0.bias", (), name="bias")
        classes, others = _shared(s, "class_embed", bias, copy, sizes.decoder_cls_embed_share)
        boxes, copies = Block({**boxes.children, **classes.children}), Block({**copies.children, **others.children})
    decoder = block(
        layer_norm=norm,
        layers=stack(s.layers, layer_block),
        reference_points_head=perceptron(sizes.query_dim // 2 * d, d, d),
    )
    finding, table = s.head == "object_detection", embedding(_ROWS, d // 2)
    encoders = [child for name, child in families.tree(s.part("words")).children.items() if name != "classifier"]
    if len(encoders) != 1:
        raise Lacking("this text model has no encoder that holds all its tensors")
    body = block(
        backbone=block(
            conv_encoder=block(model=frozen(families.tree(s.part("backbone")))),
            position_embedding=block("embedding", row_embeddings=table, column_embeddings=table)
            if sizes.learned
            else None,
        ),
        input_proj_vision=sizes.levels.tensors(d),
        text_backbone=encoders[0],
        text_projection=Linear(s.part("words").hidden, d, True, "projector"),
        query_position_embeddings=embedding(sizes.num_queries, d)
        if sizes.embedding_init_target or not sizes.two_stage
        else None,
        encoder=block(layers=_encoder(s)),
        decoder=Block({**decoder.children, **(copies.children if finding else {})}),
        level_embed=Tensor((sizes.levels.count, d), component="embedding"),
        enc_output=Linear(d, d, True, "other") if sizes.two_stage else None,
        enc_output_norm=norm if sizes.two_stage else None,
        encoder_output_bbox_embed=box if sizes.two_stage and not sizes.two_stage_bbox_embed_share else None,
        encoder_output_class_embed=bias if sizes.two_stage and second else None,
        reference_points=None if sizes.two_stage else embedding(sizes.num_queries, 4),
    )
    return Block({"model": body, **boxes.children}) if finding else body
