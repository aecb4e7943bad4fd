"""Fun-ASR-Nano: SAN-M's encoder and a small transformer before a language model (arXiv:2509.12508)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, pre_norm
from hfcount.parts.composite import towers_in_model
from hfcount.parts.vision import square_attention
from hfcount.spec import Sizes, Spec, count
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, block

MODEL_TYPES = ("fun_asr_nano",)  # transformers 5.23: modeling_fun_asr_nano.py


class Adaptor(Sizes):
    """A small transformer between the tower and the language model."""

    hidden_size: int = count("d_p")
    intermediate_size: int = count("d_pf")
    num_hidden_layers: int = count("N_p")
    projector_hidden_size: int = count("d_q")


def spec(c: Config) -> Spec[Adaptor]:
    text, towers = families.part(c, "text_config"), {"audio": families.part(c, "audio_config")}
    config = c.part("adaptor_config")
    own = Adaptor.read(config)
    config.int("num_attention_heads", default=1)  # its heads share the width
    return keys.composite(c, text, towers, tied=True, heads=("ForConditionalGeneration", "Model")).having(own)


def blueprint(s: Spec[Adaptor]) -> Block:
    of, heard = s.own, s.parts["audio"].hidden
    d, wide = of.hidden_size, of.projector_hidden_size
    layer = pre_norm(d, layer_norm, self_attn=square_attention(d), mlp=mlp(d, of.intermediate_size))
    projector = block(
        "projector",
        linear_1=Linear(heard, wide, True),
        linear_2=Linear(wide, d, True),
        layers=Repeat(Indices.below(of.num_hidden_layers), layer),
    )
    return towers_in_model(s, families.base(s), audio_tower=families.tower(s, "audio"), multi_modal_projector=projector)
