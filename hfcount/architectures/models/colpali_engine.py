"""Retrievers of pages in the layout of colpali-engine: a vision language model, and a projection of each token."""

from typing import NamedTuple

from hfcount.architectures import families, keys
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear

# modeling_colqwen2_5.py of illuin-tech/colpali 0.3.18, and the modeling files of its other classes
# and, for those that end in Model, colqwen3.py of vllm-project/vllm 0.33
MODEL_TYPES = ("colpali_engine",)
CLASSES = (
    "ColQwen2",
    "ColQwen2_5",
    "ColQwen3",
    "ColQwen3_5",
    "ColIdefics3",
    "ColModernVBert",
    "ColGemma3",
    "ColPali",
    "BiGemma3",
    "BiIdefics3",
    "BiModernVBert",
    "BiPali",
    "BiPaliProj",
    "BiQwen2",
    "BiQwen2_5",
    "BiQwen3",
    "BiQwen3_5",
    "OpsColQwen3Model",
    "Qwen3VLNemotronEmbedModel",
)
SPELLINGS = {
    r"^base_model\.model\.": "",
    r"^language_model\.model\.": "language_model.",
    # PaliGemma within another model, as its first release names it.
    r"^model\.language_model\.model\.": "model.model.language_model.",
    r"^model\.language_model\.lm_head\.": "model.lm_head.",
    r"^model\.(vision_tower|multi_modal_projector)\.": r"model.model.\1.",
    r"(?<=vision_tower\.)vision_model\.": "",
}


class Around(NamedTuple):
    """What a class is built around: a type, below a name if it has one, and the name and width of its projection.

    `whole` is whether the model below keeps its head.
    """

    kind: str
    below: str = ""
    projection: str = "custom_text_proj"
    width: int | None = 128
    whole: bool = False


_AROUND = {
    "ColQwen2": Around("qwen2_vl"),
    "ColQwen2_5": Around("qwen2_5_vl"),
    "ColQwen3": Around("qwen3_vl", width=320),
    "ColQwen3_5": Around("qwen3_5"),
    "ColIdefics3": Around("idefics3", "model", "linear"),
    "ColModernVBert": Around("modernvbert", "model"),
    "ColGemma3": Around("gemma3"),
    "ColPali": Around("paligemma", "model", whole=True),
    "BiGemma3": Around("gemma3", width=None),
    "BiIdefics3": Around("idefics3", "model", width=None),
    "BiModernVBert": Around("modernvbert", "model", width=None),
    "BiPali": Around("paligemma", "model", width=None, whole=True),
    "BiPaliProj": Around("paligemma", "model", width=1024, whole=True),
    "BiQwen2": Around("qwen2_vl", width=None),
    "BiQwen2_5": Around("qwen2_5_vl", width=None),
    "BiQwen3": Around("qwen3_vl", width=None),
    "BiQwen3_5": Around("qwen3_5", width=None),
    "OpsColQwen3Model": Around("qwen3_vl", width=None),
    "Qwen3VLNemotronEmbedModel": Around("qwen3_vl", "model", width=None),
}
_WIDTHS = ("embed_dim", "dims", "dim", "projection_dim", "colbert_dim")


class ColpaliEngine(Sizes):
    below: str
    projection: str
    width: int | None
    bias: bool


def spec(c: Config) -> Spec[ColpaliEngine]:
    named = next(iter(c.strs("architectures")), "")
    kind, below, projection, width, complete = _AROUND.get(named, _AROUND["ColQwen2_5"])
    base, family = c.varied("", {"architectures": None}), c.family
    base.kind = kind
    inner = families.read(base, kind)
    inner = inner if complete else inner.replace(head="base")
    c.family = family
    inner = inner.replace(parts={name: part for name, part in inner.parts.items() if name != "mtp"})
    if named == "ColQwen3_5":
        width = c.int("dim", default=width)
    if named.endswith("Model"):
        width = next((given for key in _WIDTHS if (given := c.int(key, default=None))), None)
    outer = inner.replace(family=family, architecture=named, parts={"text": inner}, head="base", heads=("base",))
    outer = outer.replace(tied=inner.tied and complete)
    wide, bias = None if width is None else keys.dim("d_o", width), not named.endswith("Model")
    return outer.having(ColpaliEngine(below=below, projection=projection, width=wide, bias=bias))


def _bare(inner: Block) -> Block:
    """A model whose language model has no head beside it, and no name of its own below `language_model`."""
    text = inner.children.get("language_model")
    bare = text.children.get("model") if isinstance(text, Block) and len(text.children) == 1 else None
    return altered(inner, language_model=bare) if bare else inner


def blueprint(s: Spec[ColpaliEngine]) -> Block:
    of, inner = s.own, families.tree(s.part("text"))
    model = Block({of.below: rebased(inner, of.below)}) if of.below else _bare(inner)
    if of.width is None:
        return model
    return altered(model, **{of.projection: Linear(s.hidden, of.width, of.bias, "projector")})
