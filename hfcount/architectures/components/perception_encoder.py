"""Perception Encoders as timm builds and names them (arXiv:2504.13181).

Source: timm 1.0, models/eva.py.
"""

from collections.abc import Mapping

from hfcount.architectures.components.timm.names import COLOURS, DROPPED, arguments, switch
from hfcount.architectures.keys import dim, imaging, multi_head, sides, uniform
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.model import Heads
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, Layer, Patches, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import printable

PERCEPTION_ENCODERS: Mapping[str, tuple[int, int, int]] = {
    "vit_pe_core_tiny_patch16_384": (192, 3, 12),
    "vit_pe_core_small_patch16_384": (384, 6, 12),
    "vit_pe_core_base_patch16_224": (768, 12, 12),
    "vit_pe_core_large_patch14_336": (1024, 16, 24),
    "vit_pe_core_gigantic_patch14_448": (1536, 16, 50),
    "vit_pe_lang_large_patch14_448": (1024, 16, 23),
    "vit_pe_lang_gigantic_patch14_448": (1536, 16, 47),
    "vit_pe_spatial_tiny_patch16_512": (192, 3, 12),
    "vit_pe_spatial_small_patch16_512": (384, 6, 12),
    "vit_pe_spatial_base_patch16_512": (768, 12, 12),
    "vit_pe_spatial_large_patch14_448": (1024, 16, 24),
    "vit_pe_spatial_gigantic_patch14_448": (1536, 16, 50),
}
"""The width, heads and layers of Perception Encoders; their names end in the side of a patch and of an image."""

_GIGANTIC = 8960 / 1536  # how much wider than the model its networks are
_BUILDS = frozenset(
    """
    img_size patch_size in_chans global_pool embed_dim depth num_heads mlp_ratio qkv_bias init_values class_token
    num_reg_tokens no_embed_class use_abs_pos_emb use_pre_transformer_norm use_post_transformer_norm use_fc_norm
    attn_pool_num_heads attn_pool_mlp_ratio
    """.split()
)
_SHAPELESS = frozenset(
    """
    pos_drop_rate patch_drop_rate attn_drop_rate rope_grid_offset
    rope_grid_indexing rope_temperature rope_rotate_half ref_feat_shape dynamic_img_size dynamic_img_pad head_init_scale
    """.split()
)
_SCALED = tuple(f"vit_pe_{name}_patch14_448" for name in ("lang_large", "lang_gigantic", "spatial_gigantic"))


class PerceptionEncoder(Record):
    """A ViT with rotary positions, and norms and pooling by choice; `pooled` is the width of the pool's network."""

    class_token: bool
    num_reg_tokens: int
    norm_pre: bool
    norm: bool
    fc_norm: bool
    gammas: bool
    qkv_bias: bool
    pooled: int | None

    def tensors(self, s: Spec, head: Linear | None) -> Block:
        """Its tensors, for the layers, the width, the positions and the patches of `s`.

        cls_token, reg_token, pos_embed, patch_embed.proj, norm_pre, blocks, norm, attn_pool, fc_norm, head.
        """
        d, norm = s.hidden, layer_norm(s.hidden)
        gamma = Tensor((d,), component="other") if self.gammas else None

        def layer_block(layer: Layer) -> Block:
            attention = fused_square_attention(d, self.qkv_bias)
            network = mlp(d, layer.dense.width)
            return block(norm1=norm, attn=attention, gamma_1=gamma, norm2=norm, mlp=network, gamma_2=gamma)

        def tokens(count: int) -> Tensor | None:
            return Tensor((1, count, d), component="embedding") if count else None

        return block(
            cls_token=tokens(int(self.class_token)),
            reg_token=tokens(self.num_reg_tokens),
            pos_embed=tokens(s.positions or 0),
            patch_embed=block(proj=patch_convolution(s, bias=not self.norm_pre)),
            norm_pre=norm if self.norm_pre else None,
            blocks=stack(s.layers, layer_block),
            norm=norm if self.norm else None,
            attn_pool=None if self.pooled is None else _pooling(d, self.pooled),
            fc_norm=norm if self.fc_norm else None,
            head=head,
        )


def _pooling(d: int, wide: int) -> Block:
    square = Linear(d, d, True)
    return block(
        latent=Tensor((1, 1, d), component="attention"),
        **block("attention", q=square, kv=Linear(d, 2 * d, True), proj=square).children,
        norm=layer_norm(d),
        mlp=mlp(d, wide),
    )


def perception_encoder(c: Config, name: str, known: Heads) -> Spec[PerceptionEncoder]:
    """A Perception Encoder by its name; `known` are the heads that its classes have.

    Raises:
        UnknownArchitecture: model_args name what is not described.
        ConfigError: they contradict themselves.
    """
    width, heads, depth = PERCEPTION_ENCODERS[name]
    args = arguments(c, name, _BUILDS, _SHAPELESS | DROPPED)
    core, gigantic = "_core_" in name, "_gigantic_" in name
    *_, patch, image = name.split("_")
    d, usual = args.int("embed_dim", default=width), int(patch.removeprefix("patch"))
    side, across = sides(args, "patch_size") if args.given("patch_size") else (dim("P", usual), usual)
    if side != across:
        raise UnknownArchitecture(f"{args.where}: oblong patches, as patch_size has them, are not described.")
    wide = args.times("mlp_ratio", d, default=_GIGANTIC if gigantic else 4)
    pool = _pool(args, "map" if core else "avg")
    first = switch(args, "class_token", not gigantic)
    if pool == "token" and not first:
        raise args.error(
            "contradiction", "global_pool is token, and class_token is false.", "global_pool", "Correct one of them."
        )
    more = args.int("num_reg_tokens", default=0, minimum=0)
    shape = sides(args, "img_size") if args.given("img_size") else (int(image), int(image))
    if min(shape) < side:
        args.cannot_run(
            "out-of-range", f"patch_size {side:,} exceeds img_size {min(shape):,}, so there is no patch.", "img_size"
        )
    fine = switch(args, "use_fc_norm", core and pool == "avg")
    sizes = PerceptionEncoder(
        class_token=first,
        num_reg_tokens=more,
        norm_pre=switch(args, "use_pre_transformer_norm", True),
        norm=switch(args, "use_post_transformer_norm", core and not fine),
        fc_norm=fine,
        gammas=args.number("init_values", default=0.1 if name in _SCALED else None, zero=True) is not None,
        qkv_bias=switch(args, "qkv_bias", True),
        pooled=None,
    )
    heads = args.int("num_heads", default=heads)
    if pool == "map":
        sizes = sizes.replace(pooled=_pooled(args, core, heads, d, wide))
    mixer = multi_head(args, d, heads, qkv_bias=sizes.qkv_bias)
    ffn = Dense(width=wide, bias=True)
    layers = uniform(Layer(mixer=mixer, ffn=ffn), args.int("depth", default=depth, maximum=MAX_LAYERS))
    places = shape[0] // side * (shape[1] // side)
    places += 0 if switch(args, "no_embed_class", False) else more + first
    positions = places if switch(args, "use_abs_pos_emb", True) else None
    patches = Patches(side=side, channels=args.int("in_chans", default=COLOURS))
    return imaging(c, layers, known, hidden=d, positions=positions, patches=patches).having(sizes)


def _pool(args: Config, usual: str) -> str:
    pool = args.str("global_pool", default=usual)
    if pool not in ("", "avg", "avgmax", "max", "token", "map"):
        raise args.error(
            "unknown-kind", f"global_pool is {printable(pool, 40)}, which is no way to pool.", "global_pool"
        )
    return pool


def _pooled(args: Config, core: bool, heads: int, d: int, wide: int) -> int:
    """The width of the network of the pool."""
    few = args.int("attn_pool_num_heads", default=8 if core else heads, minimum=0) or heads
    multi_head(args, d, few)  # which must share the width, too
    ratio = args.number("attn_pool_mlp_ratio", default=4 if core else 0, zero=True)
    return dim("d_pf", args.times("attn_pool_mlp_ratio", d, default=4) if ratio else wide)
