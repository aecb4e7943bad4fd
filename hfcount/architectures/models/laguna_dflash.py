"""Laguna's DFlash: Laguna's layers, which draft a block from norms of several layers' states (arXiv:2602.06036)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.drafts import Draft, Needs, numbers
from hfcount.architectures.layers import altered, rms_norm
from hfcount.mapper import Config
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# laguna_dflash.py of vllm-project/vllm 0.33; dflash.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("laguna_dflash",)
CLASSES = ("DFlashLagunaForCausalLM",)
IGNORED = ("block_size", "dflash_config")
SPELLINGS = {r"^model\.": ""}


class LagunaDflash(Draft):
    layers: tuple[int, ...]
    seen: int

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=s.hidden, layers=self.layers, masked=True)


def spec(c: Config) -> Spec[LagunaDflash]:
    listed = numbers(c.sub("dflash_config"), "target_layer_ids")
    if not listed:
        raise c.malformed(
            "no dflash_config.target_layer_ids, which says whose states it reads.", "dflash_config", "HF101"
        )
    family, named = c.family, next(iter(c.strs("architectures")), "")
    base = c.varied("", {"architectures": None})
    base.kind = "laguna"
    inner = families.read(base, "laguna").replace(head="base")
    c.family = family
    known = c.int("draft_vocab_size", default=None)
    if known is not None and known != inner.vocab:
        message = f"draft_vocab_size is {known:,}, and it shares its target's head of {inner.vocab:,} words."
        raise c.error("contradiction", message, "draft_vocab_size", "Correct it.", expected=int(inner.vocab))
    sizes = LagunaDflash.read(c, layers=listed, seen=keys.dim("n_s", len(listed)))
    outer = inner.replace(family=family, architecture=named, parts={"text": inner}, heads=("causal_lm",))
    return outer.replace(head="causal_lm", tied=False).having(sizes)


def blueprint(s: Spec[LagunaDflash]) -> Block:
    d, seen = s.hidden, s.own.seen
    return altered(
        families.tree(s.part("text")),
        embed_tokens=block("embedding", weight=Tensor((s.vocab, d), presence="spare")),
        aux_hidden_norms=Repeat(Indices.below(seen), rms_norm(d)),
        fc=Linear(seen * d, d, component="projector"),
        hidden_norm=rms_norm(d),
        lm_head=Linear(d, s.vocab, component="lm_head", presence="spare"),
    )
