"""Prompts and prefixes that are put before the input: what PEFT completes in their settings, and their shapes.

Source: peft 0.21.2, utils/other.py (`_prepare_prompt_learning_config`), tuners/prefix_tuning/model.py.
"""

from collections.abc import Iterable
from dataclasses import replace

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.methods import Shape
from hfcount.checkpoints.adapter.settings import Settings
from hfcount.spec import GQA
from hfcount.text import plural

_PREFIX = "PREFIX_TUNING"


def completed(settings: Settings, base: Blueprint) -> Settings:
    """The settings with the sizes of the base that PEFT takes in place of null, or whatever was said."""
    spec, given = base.spec, settings.values
    values = {**given}
    if given.get("num_layers") is None:
        values["num_layers"] = int(spec.depth)
    if given.get("token_dim") is None:
        values["token_dim"] = int(spec.hidden)
    grouped = _attention(base) if settings.method == _PREFIX else ()
    # A config that groups heads says how many, and the width of a head, which then are all that counts.
    if len(grouped) == 1 and grouped[0].kv_heads != grouped[0].heads:
        values["token_dim"] = int(grouped[0].kv_heads) * int(grouped[0].head_dim)
    return replace(settings, values=values)


def _attention(base: Blueprint) -> tuple[GQA, ...]:
    """The kinds of attention in the layers, by their heads."""
    kinds = {}
    for stack in (base.spec, *base.spec.parts.values()):
        for layer in stack.layers:
            if isinstance(mixer := layer.layer.mixer, GQA):
                kinds[mixer.heads, mixer.kv_heads, mixer.head_dim] = mixer
    return tuple(kinds.values())


def prompt_shape(settings: Settings) -> Shape:
    """The shape of `prompt_embeddings`, in elements, by completed settings."""
    tokens, width = settings.number("num_virtual_tokens", 0, least=0), settings.number("token_dim", 0, least=0)
    if settings.method == _PREFIX:
        return tokens, 2 * settings.number("num_layers", 0, least=0) * width
    return tokens * settings.number("num_transformer_submodules", 1), width


def of_another_base(settings: Settings, base: Blueprint) -> str:
    """Why a prompt of completed settings is not for this base; empty if it is."""
    stacks = [base.spec, *base.spec.parts.values()]
    widths = {int(stack.hidden) for stack in stacks}
    if settings.method == _PREFIX:
        depths, layers = {int(stack.depth) for stack in stacks}, settings.number("num_layers", 0, least=0)
        if layers not in depths:
            return f"adapter_config.json says {plural(layers, 'layer')}, but the base has {_numbers(depths)}"
        widths |= {
            int(count) * int(mixer.head_dim) for mixer in _attention(base) for count in (mixer.heads, mixer.kv_heads)
        }
    if (width := settings.number("token_dim", 0, least=0)) not in widths:
        return f"the prompt is {width:,} wide, but the base needs {_numbers(widths)}"
    return ""


def _numbers(numbers: Iterable[int]) -> str:
    return " or ".join(f"{number:,}" for number in sorted(numbers))
