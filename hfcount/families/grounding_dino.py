"""Grounding DINO, also MM Grounding DINO: finds what a text names, whose words are the classes (arXiv:2303.05499)."""

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.keys.detection import channels, chosen, detecting
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, layer_norm, stack
from hfcount.parts.classic import fc
from hfcount.parts.convolution import frozen
from hfcount.parts.detection import leveled, perceptron, sampling, tied_perceptron
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied, block

# transformers 5.23: modeling_grounding_dino.py, modeling_mm_grounding_dino.py
MODEL_TYPES = ("grounding-dino", "mm-grounding-dino")
IGNORED = ("max_text_len", "positional_embedding_temperature")

_HEADS = keys.named(ForObjectDetection="object_detection", Model="base")
_ROWS = 50  # of each learned table of positions
_SWITCHES = ("two_stage", "embedding_init_target", "decoder_bbox_embed_share", "decoder_cls_embed_share")


def spec(c: Config) -> Spec:
    backbone, text = families.backbone(c), families.part(c, "text_config")
    if "token_classification" not in text.heads:
        raise UnknownArchitecture(f"{c.where}: text_config: {text.family} is no encoder of words.")
    widths = channels(chosen(c.part("backbone_config")), backbone)
    points = {side: c.int(f"{side}_n_points") for side in ("encoder", "decoder")}
    traits: dict[str, int] = {
        "num_queries": keys.sized("n_q", c.int("num_queries")),
        "num_feature_levels": keys.sized("n_l", c.int("num_feature_levels", maximum=64)),
        "query_dim": keys.sized("n_d", c.int("query_dim")),
        "learned": c.str("position_embedding_type", default="sine") == "learned",
        "shared": c.bool("two_stage_bbox_embed_share", default=False),
        "tied": c.bool("tie_word_embeddings", default=True),
        "encoder_n_points": keys.sized("n_s", points["encoder"]),
        "decoder_n_points": keys.sized("n_z", points["decoder"]),
        **{name: c.bool(name, default=True) for name in _SWITCHES},
        "levels": len(widths),
        **{f"level.{place}": width for place, width in enumerate(widths)},
    }
    c.int("decoder_layers", maximum=MAX_LAYERS)
    return detecting(c, _HEADS, backbone, traits=traits, parts={"words": text.but(head="token_classification")})


def _attention(d: int) -> Block:
    square = Linear(d, d, True)
    return block("attention", query=square, key=square, value=square, out_proj=square)


def _encoder(s: Spec) -> tuple[Node, ...]:
    """Layers in which words and places see each other, the words themselves, and the places themselves."""
    inner, d, norm = s.parts["encoder"], s.hidden, layer_norm(s.hidden)
    points = s.traits["num_feature_levels"] * s.traits["encoder_n_points"]

    def layer(one: Layer) -> Block:
        wide, half = one.dense.width, one.dense.width // 2
        into, out, scale = Linear(d, half, True), Linear(half, d, True), Tensor((d,))
        both = {f"{name}_proj": into for name in ("vision", "text", "values_vision", "values_text")}
        both |= {f"out_{name}_proj": out for name in ("vision", "text")}
        places = {"self_attn": sampling(d, points, one.attention.heads), "self_attn_layer_norm": norm}
        return block(
            text_enhancer_layer=Block(
                {"self_attn": _attention(d), **fc(d, half), "layer_norm_before": norm, "layer_norm_after": norm}
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

    return stack(inner.layers, layer)


def _shared(s: Spec, name: str, one: Block, copy: Node, switch: str) -> tuple[Block, Block]:
    """A prediction at each layer, under two names: those of the first layer alone are stored if all share it."""
    every = Indices.below(s.depth)
    rest = Indices(range(1, max(1, int(s.depth))), s.depth - 1)
    if not s.traits["tied"]:
        return Block({name: Repeat(every, one)}), Block({name: Repeat(every, one)})
    if s.traits[switch]:
        stored: Node = (Repeat(Indices.below(1), one), Repeat(rest, copy))
        return Block({name: stored}), Block({name: Repeat(every, copy)})
    return Block({name: Repeat(every, one)}), Block({})


def blueprint(s: Spec) -> Block:
    d, of, norm, second = s.hidden, s.traits, layer_norm(s.hidden), s.family == "mm-grounding-dino"
    levels, box = of["num_feature_levels"], perceptron(d, d, d, 4)
    widths = [of[f"level.{place}"] for place in range(of["levels"])]
    bias = block("other", bias=Tensor(()))

    def layer(one: Layer) -> Block:
        seen = sampling(d, levels * of["decoder_n_points"], one.attention.heads)
        parts = {"self_attn": _attention(d), "encoder_attn_text": _attention(d), "encoder_attn": seen}
        named = {name: made for key, part in parts.items() for name, made in ((key, part), (f"{key}_layer_norm", norm))}
        return Block({**named, **fc(d, one.dense.width), "final_layer_norm": norm})

    boxes, copies = _shared(
        s, "bbox_embed", box, tied_perceptron("bbox_embed.0", d, d, d, 4), "decoder_bbox_embed_share"
    )
    if second:
        classes, others = _shared(
            s, "class_embed", bias, Tied("class_embed.0.bias", (), name="bias"), "decoder_cls_embed_share"
        )
        boxes, copies = Block({**boxes.children, **classes.children}), Block({**copies.children, **others.children})
    decoder = block(
        layer_norm=norm,
        layers=stack(s.layers, layer),
        reference_points_head=perceptron(of["query_dim"] // 2 * d, d, d),
    )
    finding, table = s.head == "object_detection", embedding(_ROWS, d // 2)
    (words,) = [one for name, one in families.tree(s.parts["words"]).children.items() if name != "classifier"]
    own = of["two_stage"] and not of["shared"]
    body = block(
        backbone=block(
            conv_encoder=block(model=frozen(families.tree(s.parts["backbone"]))),
            position_embedding=block("embedding", row_embeddings=table, column_embeddings=table)
            if of["learned"]
            else None,
        ),
        input_proj_vision=leveled(widths, d, int(levels)),
        text_backbone=words,
        text_projection=Linear(s.parts["words"].hidden, d, True, "projector"),
        query_position_embeddings=(
            embedding(of["num_queries"], d) if of["embedding_init_target"] or not of["two_stage"] else None
        ),
        encoder=block(layers=_encoder(s)),
        decoder=Block({**decoder.children, **(copies.children if finding else {})}),
        level_embed=Tensor((levels, d), component="embedding"),
        enc_output=Linear(d, d, True, "other") if of["two_stage"] else None,
        enc_output_norm=norm if of["two_stage"] else None,
        encoder_output_bbox_embed=box if own else None,
        encoder_output_class_embed=bias if of["two_stage"] and second else None,
        reference_points=None if of["two_stage"] else embedding(of["num_queries"], 4),
    )
    return Block({"model": body, **boxes.children}) if finding else body
