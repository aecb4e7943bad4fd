"""AltCLIP's text tower: XLM-R, a norm, and a projection (arXiv:2211.06679)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.encoders import bert_embeddings, bert_layer
from hfcount.mapper import Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("altclip_text_model",)  # transformers 5.23: modeling_altclip.py


class AltclipTextModel(Sizes):
    project_dim: int


def spec(c: Config) -> Spec[AltclipTextModel]:
    out = keys.dim("d_p", c.int("project_dim"))
    return keys.encoder(c, decoding=False, heads=("Model",)).having(AltclipTextModel.read(c, project_dim=out))


def blueprint(s: Spec[AltclipTextModel]) -> Block:
    d = s.hidden
    layers = stack(s.layers, lambda layer: bert_layer(d, layer))
    return block(
        roberta=block(embeddings=bert_embeddings(s), encoder=block(layers=layers)),
        transformation=Linear(d, s.own.project_dim, True, "projector"),
        pre_LN=layer_norm(d),
    )
