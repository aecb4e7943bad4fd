"""MiniCPM-V: SigLIP's tower and a resampler before MiniCPM, Llama or Qwen, as its version says (arXiv:2408.01800)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import printable

MODEL_TYPES = ("minicpmv",)  # modeling_minicpmv.py of openbmb/MiniCPM-V-2
IGNORED = tuple(
    "batch_vision_input dim_model_base max_slice_nums mm_use_im_start_end scale_emb scale_resolution slice_config "
    "slice_mode use_image_id".split()
)

_MODELS = {"2.0": "minicpm", "2.5": "llama", "2.6": "qwen2", "4.0": "llama", "4.5": "qwen3"}


class MiniCPMV(Sizes):
    """Sizes specific to MiniCPM-V: the queries of its resampler, and whether their places are stored."""

    places: bool
    query_num: int = size("n_q", absent=64)


def spec(c: Config) -> Spec[MiniCPMV]:
    version = _version(c)
    if version not in _MODELS:
        raise UnknownArchitecture(f"{c.where}: version {printable(version, 20)} of MiniCPM-V is not described.")
    text = families.read(c.as_part().varied("", {"architectures": None}), _MODELS[version])
    known = "minicpmv_vision" if version == "2.0" else "idefics2_vision"
    vision = families.read(c.as_part(), known) if version == "2.0" else families.part(c, "vision_config", known)
    if c.bool("drop_vision_last_layer", default=version == "2.0"):
        vision = vision.replace(layers=keys.uniform(vision.layers[0].layer, max(0, vision.depth - 1)))
    sizes = MiniCPMV.read(c, places=version == "2.0")
    heads = keys.named(MiniCPMV="causal_lm", MiniCPMV4_5="causal_lm")
    tied = c.bool("tie_word_embeddings", default=version == "2.0")
    parts = {"vision": vision, "text": text}
    return keys.decoder_spec(c, text.layers, heads=heads, parts=parts).replace(tied=tied).having(sizes)


def _version(c: Config) -> str:
    """The version that the config says; the first ones do not, and differ in their width."""
    given = c.value("version")
    if c.given("version"):
        return str(float(given)) if isinstance(given, int | float) else c.str("version")
    return "2.5" if c.sub("vision_config") else "2.0"


def blueprint(s: Spec[MiniCPMV]) -> Block:
    d, vision_width = s.hidden, s.part("vision").hidden
    queries = Tensor((s.own.query_num, d))
    attention = block(in_proj_weight=Tensor((3 * d, d)), in_proj_bias=Tensor((3 * d,)), out_proj=Linear(d, d, True))
    resampler = block(
        "projector",
        query=queries,
        pos_embed=queries if s.own.places else None,
        proj=Tensor((d, d)),
        kv_proj=Linear(vision_width, d),
        attn=attention,
        ln_q=layer_norm(d),
        ln_kv=layer_norm(d),
        ln_post=layer_norm(d),
    )
    text = families.tree(s.part("text").replace(head="causal_lm", tied=s.tied))
    return block(llm=rebased(text, "llm"), vpm=families.tower(s, "vision"), resampler=resampler)


def vision_spec(c: Config) -> Spec:
    """The vision tower of MiniCPM-V 2: SigLIP's as timm names it (arXiv:2303.15343)."""
    # The config names a tower of timm, vit_so400m_patch14_siglip_384: its sizes, and those of its 27 by 27 places.
    named = c.str("vision_encoder", default="")
    if not named.startswith("vit_so400m_patch14_siglip_384"):
        raise c.error(
            "not-described", "vision_encoder names a tower that is not described.", "vision_encoder", observed=named
        )
    layer = Layer(mixer=GQA(heads=16, kv_heads=16, head_dim=72), ffn=Dense(width=4304, bias=True))
    patches = Patches(side=14, channels=3)
    return keys.encoding(c, keys.uniform(layer, 27), hidden=1152, patches=patches, positions=27 * 27)


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return block(
            norm1=layer_norm(d),
            attn=fused_square_attention(d),
            norm2=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
        )

    return block(
        patch_embed=block(proj=patch_convolution(s)),
        pos_embed=Tensor((1, s.positions or 0, d), component="embedding"),
        blocks=stack(s.layers, layer_block),
        norm=layer_norm(d),
    )


PARTS = (families.Family(("minicpmv_vision",), vision_spec, vision_blueprint),)
