"""FP8 of Mistral's own layout: a scale for each weight and, where they are static, one for its inputs."""

from hfcount.quantization.layout import Unmodelled
from hfcount.quantization.scheme import TOWER, Choice, ExclusionScheme, Module, Scheme
from hfcount.quantization.schemes.fp8 import Fp8
from hfcount.quantization.settings import Settings, word

_DTYPES = ("F32", "BF16", "F16")


class Consolidated(ExclusionScheme):
    """Packs the layers of the language model and the projection of a draft only."""

    def choose(self, module: Module) -> Choice:
        return super().choose(module) if module.name.startswith(("layers.", "eagle_linear")) else TOWER


def read(settings: Settings) -> Scheme:
    """The scheme of `quantization` in params.json, as vLLM reads it (transformers_utils/configs/mistral.py).

    Raises:
        Unmodelled: it is another one than FP8 by tensor.
    """
    form, inputs = word(settings, "qformat_weight"), word(settings, "qscheme_act", default="tensor")
    if form != "fp8_e4m3" or inputs not in ("tensor", "no_scales"):
        raise Unmodelled(f"qformat_weight {form or 'absent'}, qscheme_act {inputs}")
    layout = Fp8(None, inputs == "tensor", ".qscale_weight", _DTYPES, ".qscale_act")
    return Consolidated("fp8", layout, None)
