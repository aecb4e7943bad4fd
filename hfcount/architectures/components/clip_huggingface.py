"""Text towers of open_clip built on transformers models, and a check shared by all its towers."""

from hfcount.architectures.layers import altered, embedding
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, block
from hfcount.text import printable

_ALONE = ("bert", "roberta", "xlm-roberta")
_ENCODERS = ("mt5", "m2m_100")  # of which the decoder is left out
_POOLERS = ("mean_pooler", "max_pooler", "cls_pooler", "cls_last_hidden_state_pooler")


class HuggingText(Record):
    """The pooling and projection around a transformers model in hf_model.py of open_clip 3.3.

    Args:
        pooled: whether the model has a pooler.
        proj: `linear`, `mlp`, or nothing.
    """

    pooled: bool
    proj: str

    @classmethod
    def read(cls, c: Config, out: int, text: Spec) -> "Spec[HuggingText]":
        """By hf_pooler_type and hf_proj_type, around the model `text` and for an output `out` wide.

        Raises:
            UnknownArchitecture: open_clip takes no model of that type.
            ConfigError: a key holds what open_clip does not know.
        """
        if text.family not in (*_ALONE, *_ENCODERS):
            message = f"{c.where}: open_clip 3.3 takes no text tower of model_type {printable(text.family, 60)}."
            raise UnknownArchitecture(message)
        pooler = c.choice("hf_pooler_type", _POOLERS, default="" if c.has("hf_pooler_type") else "mean_pooler")
        proj = c.str("hf_proj_type", default="" if c.has("hf_proj_type") else "mlp")
        if not proj and text.hidden != out:
            message = f"the text tower is {text.hidden:,} wide, embed_dim is {out:,}, and hf_proj_type is null."
            c.cannot_run("contradiction", message, "hf_proj_type", "Set it to linear or mlp.")
        model = Spec(
            family=c.family,
            vocab=text.vocab,
            hidden=text.hidden,
            layers=text.layers,
            causal=False,
            parts={"words": text.replace(head="base")},
        )
        return model.having(cls(pooled=pooler == "cls_pooler", proj=proj))

    def tensors(self, s: Spec, out: int, body: Block) -> Block:
        """Its tensors: transformer, of the `whole` model, and proj (d_o, d), or proj.0 and proj.2 by way of a width
        between both.
        """
        d, between = s.hidden, (s.hidden + out) // 2
        proj: Node | None = None
        if self.proj == "linear":
            proj = Linear(d, out, component="projector")
        elif self.proj == "mlp":
            proj = Block({"0": Linear(d, between), "2": Linear(between, out)}, "projector")
        if s.part("words").family not in _ENCODERS:
            return block(transformer=body if self.pooled else altered(body, pooler=None), proj=proj)
        encoder = body.children["encoder"]
        assert isinstance(encoder, Block)
        return block(transformer=altered(encoder, embed_tokens=embedding(s.vocab, d)), proj=proj)


def check_activation(c: Config, *towers: Config) -> None:
    """Refuses act_kwargs with quick_gelu, in towers that open_clip builds itself."""
    for tower in towers:
        elsewhere = (
            tower.given("timm_model_name") or tower.given("hf_model_name") or isinstance(tower.value("layers"), list)
        )
        if not elsewhere and tower.object("act_kwargs") and c.bool("quick_gelu", default=False):
            raise tower.error(
                "contradiction", "act_kwargs is given, and with quick_gelu nothing takes it.", "act_kwargs"
            )
