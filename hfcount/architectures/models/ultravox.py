"""Ultravox: Whisper's encoder, whose frames are stacked and projected before any language model (its repository)."""

from collections.abc import Callable

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, rms_norm
from hfcount.architectures.layers.composite import rebased
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, count, derived, flag, size
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Undescribed, block
from hfcount.text import printable

# ultravox_model.py of fixie-ai/ultravox, and, for layers in the projector, ultravox.py of vllm-project/vllm 0.33.0
MODEL_TYPES = ("ultravox",)
CLASSES = ("UltravoxModel",)
IGNORED = ("audio_latency_block_size", "norm_init", "vocab_size")
_PARTS = ("text", "audio")


class Ultravox(Sizes):
    """Sizes specific to Ultravox: its projector, and the ids of models elsewhere that parts of it are loaded from."""

    width: int = size("d_p", "hidden_size", absent=4096)
    stack_factor: int = size("n_f", absent=8)
    halved: bool = derived(lambda c: c.str("projector_act", default="swiglu") == "swiglu")
    normed_within: bool = flag("projector_ln_mid", absent=False)
    deep: int = count("N_p", "num_projector_layers", absent=0, minimum=0)
    elsewhere: tuple[tuple[str, str], ...]


def spec(c: Config) -> Spec[Ultravox]:
    if c.bool("llm_only_training", default=False):
        raise UnknownArchitecture(f"{c.where}: {c.family} is not described without a tower (llm_only_training).")
    text, heard = _part(c, "text", "llama"), _part(c, "audio", "whisper")
    ids = {name: printable(c.str(f"{name}_model_id"), 80) for name in _PARTS if c.given(f"{name}_model_id")}
    sizes = Ultravox.read(c, elsewhere=tuple(ids.items()))
    if sizes.halved and sizes.width % 2:
        c.cannot_run("not-divisible", f"hidden_size {sizes.width:,} has to be even: SwiGLU halves it.", "hidden_size")
    if not (text or heard):
        raise UnknownArchitecture(f"{c.where}: the sizes of {c.family} are those of models elsewhere, by their ids.")
    if heard and heard.family != "whisper_encoder":
        raise UnknownArchitecture(f"{c.where}: {c.family} is described with Whisper's encoder alone.")
    heads = keys.named(Model="conditional_generation", ForConditionalGeneration="conditional_generation")
    why = f"its language model is loaded from {ids.get('text')}" if "text" in ids else ""
    towers = {"audio": heard} if heard else {}
    if text:
        model = keys.composite(c, text, towers, heads=heads, uncounted=why or text.uncounted)
        return model.replace(tied=text.tied).having(sizes)
    model = Spec(family=c.family, hidden=sizes.width, layers=(), parts=towers, uncounted=why, dtype=c.dtype())
    architecture, head = keys.head_of(c, heads)
    return model.replace(architecture=architecture, head=head, heads=(head,)).having(sizes)


def _part(c: Config, name: str, usual: str) -> Spec | None:
    """A part by its config, by default of the `usual` type; None if that is elsewhere, and an id names it."""
    lora = c.sub(f"{name}_model_lora_config")
    if lora and lora.int("r", default=0, minimum=0):
        raise UnknownArchitecture(f"{c.where}: {c.family} is not described with adapters that are not merged.")
    if c.given(f"{name}_model_id") and not c.sub(f"{name}_config"):
        return None
    kind = c.part(f"{name}_config").str("model_type", default=usual)
    return families.part(c, f"{name}_config", "whisper_encoder" if kind == "whisper" else kind)


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
    vision_width = None if heard is None else heard.hidden * of.stack_factor
    before = unknown("audio") if vision_width is None else rms_norm(vision_width)
    if not of.deep:
        after = unknown("text") if text is None else rms_norm(text.hidden)
        return block(
            "projector",
            ln_pre=before,
            linear_1=unknown("audio") if vision_width is None else Linear(vision_width, of.width),
            linear_2=unknown("text") if text is None else Linear(wide, text.hidden),
            ln_mid=rms_norm(wide) if of.normed_within else None,
            ln_post=None if of.normed_within else after,
        )
    if heard is None or vision_width is None:
        return block("projector", ln_pre=before, layers=before, embed_positions=before, linear_in=before)
    d = heard.hidden
    layers = tuple(part.replace(indices=Indices.below(of.deep)) for part in heard.layers[:1])
    tower = altered(families.tree(heard.replace(layers=layers)), conv1=None, conv2=None, layer_norm=None)
    further = block(
        ln_pre=before,
        linear_in=Linear(vision_width, d, True),
        ln_post=rms_norm(d),
        linear_out=unknown("text") if text is None else Linear(d, text.hidden, True),
    )
    return Block({**tower.children, **further.children}, "projector")
