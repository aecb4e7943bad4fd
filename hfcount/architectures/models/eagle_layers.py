"""EAGLE's drafts whose layers are whole ones of their target's type, and so is the norm behind (arXiv:2401.15077)."""

from typing import NamedTuple

from hfcount.architectures import families
from hfcount.architectures.components.drafts import Draft, Needs, Vocabulary
from hfcount.architectures.layers import rms_norm
from hfcount.architectures.layers.conversions import MISTRAL
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# cohere_eagle.py of vllm-project/vllm 0.33, and deepseek_eagle.py, llama4_eagle.py, mistral_eagle.py and
# mistral_large_3_eagle.py there; the last two of sgl-project/sglang 0.5.23
MODEL_TYPES = ("eagle_layers",)
CLASSES = (
    "EagleCohereForCausalLM",
    "EagleDeepSeekMTPModel",
    "EagleLlama4ForCausalLM",
    "EagleMistralForCausalLM",
    "EagleMistralLarge3ForCausalLM",
    "MistralForCausalLMEagle",
    "MistralLarge3ForCausalLMEagle",
)
SPELLINGS = {r"^model\.": "", r"^eagle_linear\.": "fc.", **MISTRAL}
IGNORED = ("model",)


class _Of(NamedTuple):
    """Whose layers a class has, whether its projection has a bias, and whether what it reads is normed."""

    kind: str
    bias: bool = False
    normed: bool = False


_MISTRAL = _Of("mistral")
_OF = {
    "EagleCohereForCausalLM": _Of("cohere2", bias=True),
    "EagleDeepSeekMTPModel": _Of("deepseek_v3", normed=True),
    "EagleLlama4ForCausalLM": _Of("llama4_text"),
    "EagleMistralForCausalLM": _MISTRAL,
    "EagleMistralLarge3ForCausalLM": _Of("deepseek_v3"),
    "MistralForCausalLMEagle": _MISTRAL,
    "MistralLarge3ForCausalLMEagle": _Of("deepseek_v3"),
}


class EagleLayers(Draft):
    bias: bool
    normed: bool
    known: int

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=s.hidden)


def spec(c: Config) -> Spec[EagleLayers]:
    named = next(iter(c.strs("architectures")), "")
    of = _OF.get(named, _MISTRAL)
    family, base = c.family, (c.part("model") if c.given("model") else c).varied("", {"architectures": None})
    base.kind = of.kind
    inner = families.read(base, of.kind).without("mtp").replace(head="base")
    c.family = family
    known = Vocabulary.read(c, inner.vocab).size
    sizes = EagleLayers.read(c, bias=of.bias, normed=of.normed, known=known)
    outer = inner.replace(family=family, architecture=named, parts={"text": inner}, heads=("causal_lm",))
    return outer.replace(head="causal_lm", tied=False).having(sizes)


def blueprint(s: Spec[EagleLayers]) -> Block:
    d, of, layers = s.hidden, s.own, families.tree(s.part("text"))
    norm = rms_norm(d) if of.normed else None
    table = block("embedding", weight=Tensor((s.vocab, d), presence="spare"))
    return altered(
        layers,
        embed_tokens=table,
        fc=Linear(2 * d, d, of.bias, "projector"),
        enorm=norm,
        hnorm=norm,
        lm_head=Linear(d, of.known, component="lm_head", presence="spare"),
    )
