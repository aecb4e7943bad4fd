"""Retrievers of pages in the layout of colpali-engine: a vision language model, and a projection of each token."""

from typing import NamedTuple

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts.layers import altered
from hfcount.spec import Sizes, Spec
from hfcount.tree.nodes import Block, Linear

MODEL_TYPES = ("colpali_engine",)  # colpali-engine 0.3.18: modeling files of models/*/col* and models/*/bi*
CLASSES = (
    "ColQwen2",
    "ColQwen2_5",
    "ColQwen3",
    "ColQwen3_5",
    "ColIdefics3",
    "ColModernVBert",
    "BiQwen2",
    "BiQwen2_5",
    "BiQwen3",
    "BiQwen3_5",
)
SPELLINGS = {r"^base_model\.model\.": ""}


class Around(NamedTuple):
    """What a class is built around: a type, below a name if it has one, and the name and width of its projection."""

    kind: str
    below: str = ""
    projection: str = "custom_text_proj"
    width: int | None = 128


_AROUND = {
    "ColQwen2": Around("qwen2_vl"),
    "ColQwen2_5": Around("qwen2_5_vl"),
    "ColQwen3": Around("qwen3_vl", width=320),
    "ColQwen3_5": Around("qwen3_5"),
    "ColIdefics3": Around("idefics3", "model", "linear"),
    "ColModernVBert": Around("modernvbert", "model"),
    "BiQwen2": Around("qwen2_vl", width=None),
    "BiQwen2_5": Around("qwen2_5_vl", width=None),
    "BiQwen3": Around("qwen3_vl", width=None),
    "BiQwen3_5": Around("qwen3_5", width=None),
}


class ColpaliEngine(Sizes):
    below: str
    projection: str
    width: int | None


def spec(c: Config) -> Spec[ColpaliEngine]:
    named = next(iter(c.strs("architectures")), "")
    kind, below, projection, width = _AROUND.get(named, _AROUND["ColQwen2_5"])
    own, family = c.varied("", {"architectures": None}), c.family
    own.kind = kind
    inner = families.read(own, kind).replace(head="base")
    c.family = family
    inner = inner.replace(parts={name: one for name, one in inner.parts.items() if name != "mtp"})
    if named == "ColQwen3_5":
        width = c.int("dim", default=width)
    outer = inner.replace(family=family, architecture=named, parts={"text": inner}, heads=("base",), tied=False)
    return outer.having(
        ColpaliEngine(below=below, projection=projection, width=None if width is None else keys.dim("d_o", width))
    )


def blueprint(s: Spec[ColpaliEngine]) -> Block:
    of, base = s.own, families.base(s)
    model = Block({of.below: base}) if of.below else base
    if of.width is None:
        return model
    return altered(model, **{of.projection: Linear(s.hidden, of.width, True, "projector")})
