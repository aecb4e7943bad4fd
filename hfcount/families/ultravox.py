"""Ultravox: Whisper's encoder, whose frames are stacked and projected before any language model (its repository)."""

from collections.abc import Callable

from hfcount import families, keys
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.parts import rms_norm
from hfcount.parts.composite import rebased
from hfcount.spec import Sizes, Spec, count, derived, flag, size
from hfcount.text import printable
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Node, Repeat, Undescribed, block

# ultravox_model.py of fixie-ai/ultravox, and, for layers in the projector, ultravox.py of vLLM 0.33.0
MODEL_TYPES = ("ultravox",)
CLASSES = ("UltravoxModel",)
IGNORED = ("audio_latency_block_size", "llm_only_training", "norm_init", "vocab_size")

_MODELS = {"text": "llama", "audio": "whisper"}
"""What a part is by default."""


class Ultravox(Sizes):
    """What Ultravox alone has: its projector, and the ids of models elsewhere that parts of it are loaded from."""

    width: int = size("d_p", "hidden_size", absent=4096)
    stack_factor: int = size("n_f", absent=8)
    halved: bool = derived(lambda c: c.str("projector_act", default="swiglu") == "swiglu")
    normed_within: bool = flag("projector_ln_mid", absent=False)
    deep: int = count("N_p", "num_projector_layers", absent=0, minimum=0)
    elsewhere: tuple[tuple[str, str], ...]


def spec(c: Config) -> Spec[Ultravox]:
    elsewhere, parts = dict[str, str](), dict[str, Spec]()
    for name, usual in _MODELS.items():
        lora = c.sub(f"{name}_model_lora_config")
        if lora and lora.int("r", default=0, minimum=0):
            raise UnknownArchitecture(f"{c.where}: {c.family} is not described with adapters that are not merged.")
        if c.given(f"{name}_model_id"):
            elsewhere[name] = printable(c.str(f"{name}_model_id"), 80)
        if c.sub(f"{name}_config") or name not in elsewhere:
            kind = c.part(f"{name}_config").str("model_type", default=usual)
            parts[name] = families.part(c, f"{name}_config", "whisper_encoder" if kind == "whisper" else kind)
    own = Ultravox.read(c, elsewhere=tuple(elsewhere.items()))
    if own.halved and own.width % 2:
        c.cannot_run(
            "not-divisible", f"hidden_size {own.width:,} has to be even, since SwiGLU halves it.", "hidden_size"
        )
    if not parts:
        raise UnknownArchitecture(f"{c.where}: the sizes of {c.family} are those of models elsewhere, by their ids.")
    if "audio" in parts and parts["audio"].family != "whisper_encoder":
        raise UnknownArchitecture(f"{c.where}: {c.family} is described with Whisper's encoder alone.")
    heads = keys.named(Model="conditional_generation", ForConditionalGeneration="conditional_generation")
    why = f"its language model is loaded from {elsewhere['text']}" if "text" in elsewhere else ""
    if "text" in parts:
        text, towers = parts["text"], {name: one for name, one in parts.items() if name != "text"}
        whole = keys.composite(c, text, towers, heads=heads, uncounted=why or text.uncounted)
        return whole.replace(tied=text.tied).having(own)
    whole = Spec(family=c.family, hidden=own.width, layers=(), parts=parts, uncounted=why, dtype=c.dtype())
    architecture, head = keys.head_of(c, heads)
    return whole.replace(architecture=architecture, head=head, heads=(head,)).having(own)


def blueprint(s: Spec[Ultravox]) -> Block:
    elsewhere = dict(s.own.elsewhere)

    def unknown(name: str) -> Undescribed:
        return Undescribed(f"it is made for {elsewhere[name]}, whose config is not here")

    def part(name: str, tree: Callable[[], Node]) -> Node:
        return Undescribed(f"it is loaded from {elsewhere[name]}") if name in elsewhere else tree()

    return block(
        audio_tower=part("audio", lambda: families.tower(s, "audio")),
        multi_modal_projector=_projector(s, unknown),
        language_model=part(
            "text", lambda: rebased(families.tree(s.part("text").replace(head="causal_lm")), "language_model")
        ),
    )


def _projector(s: Spec[Ultravox], unknown: Callable[[str], Undescribed]) -> Block:
    """What stacks frames and projects them: two matrices and norms or, with layers, such as the tower has."""
    of, text, heard = s.own, s.parts.get("text"), s.parts.get("audio")
    wide = of.width // 2 if of.halved else of.width
    seen = None if heard is None else heard.hidden * of.stack_factor
    before = unknown("audio") if seen is None else rms_norm(seen)
    if not of.deep:
        after = unknown("text") if text is None else rms_norm(text.hidden)
        return block(
            "projector",
            ln_pre=before,
            linear_1=unknown("audio") if seen is None else Linear(seen, of.width),
            linear_2=unknown("text") if text is None else Linear(wide, text.hidden),
            ln_mid=rms_norm(wide) if of.normed_within else None,
            ln_post=None if of.normed_within else after,
        )
    if heard is None or seen is None:
        return block("projector", ln_pre=before, layers=before, embed_positions=before, linear_in=before)
    tower, d = families.tree(heard).children, heard.hidden
    (layers,) = tower["layers"] if isinstance(tower["layers"], tuple) else (tower["layers"],)
    assert isinstance(layers, Repeat), "Whisper's layers are alike"
    return block(
        "projector",
        ln_pre=before,
        linear_in=Linear(seen, d, True),
        embed_positions=tower["embed_positions"],
        layers=Repeat(Indices.below(of.deep), layers.body),
        ln_post=rms_norm(d),
        linear_out=unknown("text") if text is None else Linear(d, text.hidden, True),
    )
