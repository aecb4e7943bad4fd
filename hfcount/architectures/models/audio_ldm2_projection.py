"""What brings the texts of two encoders to the language model of AudioLDM 2 (arXiv:2308.05734)."""

from hfcount.architectures.layers import diffusion
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("AudioLDM2ProjectionModel",)  # diffusers 0.42.1: modeling_audioldm2.py


def _positions(c: Config) -> int | None:
    """The rows of the table of positions, which any value but null asks for."""
    learned = not c.is_null("use_learned_position_embedding")
    return diffusion.sized(c, "max_seq_length", "n_p") if learned else None


class AudioLDM2Projection(Sizes):
    text_encoder_dim: int = size("d_1")
    text_encoder_1_dim: int = size("d_2")
    width: int = size("d", "langauge_model_dim")  # as diffusers spells it
    positions: int | None = derived(_positions)


def spec(c: Config) -> Spec[AudioLDM2Projection]:
    sizes = AudioLDM2Projection.read(c)
    return diffusion.diffusing(c, sizes, sizes.width)


def blueprint(s: Spec[AudioLDM2Projection]) -> Block:
    d, of, end = s.hidden, s.own, Tensor((s.hidden,), component="embedding")
    places = None if of.positions is None else Tensor((1, of.text_encoder_1_dim, of.positions), component="embedding")
    return block(
        projection=Linear(of.text_encoder_dim, d, True, "projector"),
        projection_1=Linear(of.text_encoder_1_dim, d, True, "projector"),
        sos_embed=end,
        eos_embed=end,
        sos_embed_1=end,
        eos_embed_1=end,
        learnable_positional_embedding=places,
    )
