"""Cause: what is stored is a draft, under the class of the model that it proposes tokens for."""

from collections.abc import Iterator

from hfcount.verifier.causes.case import Case, Cause, listed, sentence

_OWN = ("d2t", "t2d")
"""Tables between the words of an EAGLE-3 draft and those of its target."""

_ENTRANCE = ("fc", "hidden_norm")
"""Modules that join the target's states with the embedding; EAGLE's first drafts have `fc` alone."""

_LAYER = "midlayer"  # what EAGLE-3 calls its one layer, where it is no list of them
_FIRST = {"model_type": "eagle", "architectures": ["LlamaForCausalLMEagle"]}
_CLASS = {"model_type": "llama_eagle3", "architectures": ["LlamaForCausalLMEagle3"]}


def drafted(case: Case) -> Iterator[Cause]:
    """Names that only a draft of EAGLE-3 has, among those that nobody described.

    Source: cnets.py of SafeAILab/EAGLE; llama3_eagle.py of sgl-project/SpecForge (2026-08).
    """
    parts = {part for row, _ in case.difference.unexpected for part in "".join(row.text)[1:].split(".")}
    marks = [name for name in (*_OWN, *_ENTRANCE, _LAYER) if name in parts]
    if not {*_OWN, _LAYER}.intersection(marks) or not {*_ENTRANCE}.intersection(marks):
        yield from _first_drafted(case)
        return
    text = (
        f"{listed(marks)} are names of an EAGLE-3 draft (a small model for speculative decoding), but architectures"
        " names the class of its target model"
    )
    rows = next(
        (row.shape[0] for row, _ in case.difference.unexpected if row.text[-1].endswith("d2t") and row.shape), 0
    )
    changes = {**_CLASS, "draft_vocab_size": rows} if rows else dict(_CLASS)
    advice = "name the draft's own class in architectures, such as LlamaForCausalLMEagle3"
    if rows:
        advice += f", and set draft_vocab_size to {rows}"
    advice += "; hfcount --target compares it with its target"
    yield Cause(
        case.open, sentence(text), sentence(advice), changes if case.agrees(changes) else {}, key="architectures"
    )


def _first_drafted(case: Case) -> Iterator[Cause]:
    """A draft of EAGLE's first two versions: `fc` reads a token beside the state before, and no norm is the last.

    Source: eagle/model/cnets1.py of SafeAILab/EAGLE at commit 2174a790.
    """
    width = int(case.blueprint.spec.hidden)
    others = {"".join(row.text)[1:]: row.shape for row, _ in case.difference.unexpected}
    ends = any(leaf.component == "norm" and int(leaf.count) == 1 for leaf, _ in case.difference.missing)
    if not ends or not others.keys() <= {"fc.weight", "fc.bias"} or others.get("fc.weight") != (width, 2 * width):
        return
    text = (
        f"fc.weight [{width:,}, {2 * width:,}] joins the embedding of a token with the hidden state before it, as in an"
        " EAGLE draft (a small model for speculative decoding), but architectures names the class of its target model"
    )
    advice = (
        "name the draft's own class in architectures, such as LlamaForCausalLMEagle; hfcount --target compares it with"
        " its target"
    )
    changes = _FIRST if case.agrees(_FIRST) else {}
    yield Cause(case.open, sentence(text), sentence(advice), changes, key="architectures")
