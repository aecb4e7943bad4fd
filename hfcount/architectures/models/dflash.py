"""DFlash and what is built on it, DFlare, DFlash 2, Domino, DSpark, XPress: drafts of a block (arXiv:2602.06036)."""

from hfcount.architectures import keys
from hfcount.architectures.components.draft_heads import (
    Correction,
    FlatRefinement,
    Markov,
    Refinement,
    Selection,
    selection,
)
from hfcount.architectures.components.drafts import SAID, Draft, Needs, Vocabulary, layers_of, numbers, of_speculators
from hfcount.architectures.layers import gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.architectures.layers.stacks import altered
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# dflash.py of sgl-project/SpecForge (2026-08), domino.py and dspark.py there; dflash/core.py, dflash2/core.py,
# dspark/core.py and xpress/core.py of vllm-project/speculators 0.9.0; qwen3_dflash.py, qwen3_dspark.py and
# qwen3_xpress.py of vllm-project/vllm 0.33; qwen_dflash.py and qwen_dflare.py of Tencent/AngelSlim (2026-11)
MODEL_TYPES = (
    "dflash",
    "dflash2",
    "domino",
    "dspark",
    "speculators_dflash",
    "speculators_dflash2",
    "speculators_dspark",
    "speculators_xpress",
)
CLASSES = (
    "DFlashDraftModel",
    "DFlash2DraftModel",
    "DominoDraftModel",
    "DSparkDraftModel",
    "XPressDraftModel",
    "DFlashSpeculator",
    "DSparkSpeculator",
    "XPressSpeculator",
    "Qwen3DSparkModel",
    "Qwen3OmniDSparkModel",
    "Qwen3XPressModel",
    "DFlashQwen3XPressModel",
    "QwenDFlashDraftModel",
    "QwenDFlareDraftModel",
)
SPELLINGS = {r"^logit_head\.": ""}
IGNORED = (
    *SAID,
    "block_size",
    "dflash_config",
    "sample_from_anchor",
    "sliding_window_non_causal",
    "selector_top_k",
    "num_jacobi_passes",
    "emb_dim",
    "pure_draft_prefix_len",
    "shift_label",
    "is_causal",
    "num_anchors",
    "loss_decay_gamma",
    "attention_backend",
    "causal",
    "use_swa",
    "swa_window_size",
)
_IDS, _FLAT = "aux_hidden_state_layer_ids", "target_layer_ids"
_KINDS = {
    "DFlash2DraftModel": "dflash2",
    "QwenDFlareDraftModel": "dflare",
    "DominoDraftModel": "domino",
    "DSparkDraftModel": "dspark",
    "Qwen3DSparkModel": "dspark",
    "Qwen3OmniDSparkModel": "dspark",
    "Qwen3XPressModel": "xpress",
    "DFlashQwen3XPressModel": "xpress",
}

Head = Markov | Correction | Selection | Refinement | FlatRefinement | None


class DFlash(Draft):
    layers: tuple[int, ...]
    depth: int | None
    last: int
    seen: int
    target_hidden_size: int
    vocabulary: Vocabulary
    head: Head
    fused: bool  # whether each layer weighs the target's states, and projects them by itself

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        width = self.target_hidden_size
        return Needs(width=width, layers=self.layers, last=self.last, depth=self.depth, masked=True)


def spec(c: Config) -> Spec[DFlash]:
    text, flat = layers_of(c), not of_speculators(c)
    draft = (c.sub("dflash_config") or c) if flat else c
    layer = Layer(
        mixer=keys.attention(
            text,
            bias=text.bool("attention_bias", default=False),
            qk_norm=True,
            sinks=flat and _sinks(c, draft),
        ),
        ffn=keys.dense(text),
    )
    d, vocab, depth = text.int("hidden_size"), text.int("vocab_size"), keys.layer_count(text)
    listed = (numbers(draft, _FLAT) or numbers(c, _FLAT)) if flat else numbers(c, _IDS)
    if not (flat or listed):
        raise c.malformed(f"no {_IDS}, which says how many states it reads.", _IDS, "HF101")
    of_target = c.int("num_target_layers", default=None) if flat else None
    vocabulary = Vocabulary.read(c, vocab, absent=None if flat else 32000)
    kind = _kind(c, draft)
    if kind == "dflash2" and vocabulary.reduced:
        message = f"draft_vocab_size is {vocabulary.size:,}, and DFlash 2 knows all {vocab:,} words of its target."
        raise c.error("contradiction", message, "draft_vocab_size", "Correct it.", expected=int(vocab))
    sizes = DFlash.read(
        c,
        layers=listed,
        depth=None if of_target is None else int(of_target),
        last=-1 if flat else 0,
        seen=keys.dim("n_s", len(listed) or int(depth)),  # without a list it reads as many layers as it has
        target_hidden_size=keys.dim("d_t", c.int("target_hidden_size", default=None) or d),
        vocabulary=vocabulary,
        head=_head(kind, draft, d, flat),
        fused=kind == "dflare",
    )
    endings = ("DraftModel", "Speculator", "DSparkModel", "XPressModel")
    heads = keys.named(dict.fromkeys(endings, "causal_lm"))
    model = keys.decoder_spec(
        text, layer, whole=c, vocab=vocab, hidden=d, heads=heads, windows=keys.sliding(text, default=None)
    )
    return model.replace(tied=False).having(sizes)


def _sinks(c: Config, draft: Config) -> bool:
    return draft.bool("attention_sink_bias", default=c.bool("add_swa_attention_sink_bias", default=False))


def _kind(c: Config, draft: Config) -> str:
    """Which of the drafts it is: by its type, else by its class, else by projector_type."""
    named = c.family.removeprefix("speculators_")
    if named != "dflash" or of_speculators(c):
        return named
    by_class = _KINDS.get(next(iter(c.strs("architectures")), ""), "")
    if by_class == "dflare":  # which AngelSlim tells by the class alone
        return by_class
    projectors = ("dflash", "dflash2", "domino", "dspark", "xpress")
    projector = draft.choice("projector_type", projectors, default=by_class or "dflash")
    return by_class or projector


def _head(kind: str, draft: Config, d: int, flat: bool) -> Head:
    match kind:
        case "dspark":
            return Markov.read_from(draft, d, flat)
        case "domino":
            return Correction.read(draft)
        case "dflash2":
            return selection(draft, d)
        case "xpress":
            return FlatRefinement.read(draft) if flat else Refinement.read(draft)
        case _:
            return None


def blueprint(s: Spec[DFlash]) -> Block:
    d, of = s.hidden, s.own
    words, head = of.vocabulary, of.head
    convolution = head.convolution(d) if isinstance(head, Selection) else None

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        attention = gqa(d, a, sinks="attention_sink_bias")
        if of.fused:
            seen = Linear(d, a.kv_heads * a.head_dim, a.qkv_bias)
            attention = altered(attention, k_proj_target=seen, v_proj_target=seen)
        body = pre_norm(d, self_attn=attention, mlp=swiglu(d, layer.dense.width))
        return altered(body, attention_conv=convolution, mlp_conv=convolution)

    weights = Tensor((s.depth, of.seen), component="projector")
    common = block(
        **words.tensors(d, own_head=False).children,
        layer_fusion_weights=weights if of.fused else None,
        fc=None if of.fused else Linear(of.seen * of.target_hidden_size, d, component="projector"),
        hidden_norm=rms_norm(d),
        layers=stack(s.layers, layer_block),
        norm=rms_norm(d),
    )
    if isinstance(head, Markov | Refinement | FlatRefinement):
        return altered(common, **head.tensors(d, s.vocab, words.size).children)
    return altered(common, **head.tensors(d, s.vocab).children) if head else common
