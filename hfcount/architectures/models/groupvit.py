"""GroupViT: CLIP whose vision tower groups patches, for segmentation by text alone (arXiv:2202.11094)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.composite import paired
from hfcount.architectures.layers.convolution import batch_norm
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import clip_layer, patch_convolution, square_attention
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Layers, Record, Spec
from hfcount.spec.tree.dims import scaled
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("groupvit",)  # transformers 5.23: modeling_groupvit.py
IGNORED = ("output_segmentation",)


class Groupvit(Sizes):
    projection_intermediate_dim: int = size("d_p")


def spec(c: Config) -> Spec[Groupvit]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    sizes = Groupvit.read(c)
    out = c.int("projection_dim")
    return keys.composite(c, text, towers, heads=("Model",), out=out).replace(tied=False).having(sizes)


def blueprint(s: Spec[Groupvit]) -> Block:
    wide, vision_width = s.own.projection_intermediate_dim, s.part("vision").hidden

    def projection(inputs: int) -> Block:
        first, last = Linear(inputs, wide, True), Linear(wide, s.output, True)
        steps: dict[str, Node] = {"0": first, "1": batch_norm(wide), "3": last}
        return Block(steps, "projector")

    body = paired(s, families.base(s), families.tower(s, "vision"))
    return altered(body, visual_projection=projection(vision_width), text_projection=projection(s.hidden))


class Group(Record):
    """How many tokens a stage adds, and to how many groups its patches are joined."""

    tokens: int
    groups: int


class GroupvitVisionModel(Record):
    """Sizes specific to GroupViT's vision tower: the widths of the networks that mix, and the groups of each stage."""

    assign_tokens: int
    assign_channels: int
    groups: tuple[Group, ...]


def vision_spec(c: Config) -> Spec[GroupvitVisionModel]:
    """GroupViT's vision tower: stages after which patches join the group that they are nearest to."""
    d, depths = c.int("hidden_size"), c.ints("depths")
    tokens, groups = c.ints("num_group_tokens"), c.ints("num_output_groups")
    if not depths or min(len(tokens), len(groups)) < len(depths):
        text = (
            f"depths has {len(depths):,} entries, num_group_tokens {len(tokens):,}, num_output_groups {len(groups):,}."
        )
        raise c.error("list-length", text, "depths", "Correct one of them.")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    ratios = c.entries("assign_mlp_ratio")
    if len(ratios) != 2 or not all(type(ratio) in (int, float) and 0 <= ratio <= _MOST for ratio in ratios):
        text = "assign_mlp_ratio must be two numbers, of tokens and of channels."
        raise c.error("list-length", text, "assign_mlp_ratio", observed=str(ratios)[:60])
    wide, broad = (scaled(ratio, c.source("assign_mlp_ratio", f"[{place}]"), d) for place, ratio in enumerate(ratios))
    joined = tuple(
        Group(tokens=keys.dim(f"g{number + 1}", tokens[number]), groups=keys.dim(f"o{number + 1}", groups[number]))
        for number in range(len(depths))
    )
    sizes = GroupvitVisionModel(assign_tokens=wide, assign_channels=broad, groups=joined)
    layers = [Layers(indices=Indices.below(depth), layer=layer) for depth in depths]
    return keys.encoding(c, layers, hidden=d, positions=keys.squares(c), patches=keys.patches(c)).having(sizes)


_MOST = 2**16


def vision_blueprint(s: Spec[GroupvitVisionModel]) -> Block:
    d, of, norm = s.hidden, s.own, layer_norm(s.hidden)

    def mixing(inputs: int, wide: int, outputs: int) -> Block:
        return block("mlp", fc1=Linear(inputs, wide, True), fc2=Linear(wide, outputs, True))

    def joining(tokens: int, groups: int, layer: Layer) -> Block:
        attention = square_attention(d, out="out_proj")
        assign = block(attn=attention, norm2=norm, mlp=mlp(d, layer.dense.width), norm_post=norm)
        return block(
            norm_tokens=norm,
            mlp_inter=mixing(tokens, of.assign_tokens, groups),
            norm_post_tokens=norm,
            norm_x=norm,
            pre_assign_attn=assign,
            assign=square_attention(d, out="proj"),
            norm_new_x=norm,
            mlp_channels=mixing(d, of.assign_channels, d),
        )

    stages, before = dict[str, Block](), 0
    for number, (part, group) in enumerate(zip(s.layers, of.groups, strict=True)):
        tokens, groups = group.tokens, group.groups
        projector: dict[str, Node] = {"0": norm, "1": mixing(before, d // 2, tokens)}
        stages[str(number)] = block(
            group_token=Tensor((1, tokens, d), component="embedding") if tokens else None,
            layers=stack((part,), lambda layer: clip_layer(d, layer)),
            downsample=joining(tokens, groups, part.layer) if tokens else None,
            group_projector=Block(projector) if tokens and before else None,
        )
        before = groups
    table = block(
        "embedding",
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)),
        layernorm=norm,
    )
    body = block(embeddings=table, encoder=block(stages=Block(stages)), layernorm=norm)
    return body if s.place else block(vision_model=body)


PARTS = (families.Family(("groupvit_vision_model",), vision_spec, vision_blueprint, ignored=("num_hidden_layers",)),)
