"""RoCBert: BERT that also reads how Chinese characters sound and look (doi:10.18653/v1/2022.acl-long.65)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding
from hfcount.parts.encoders import bert_base, bert_embeddings, bert_heads, bert_predictions, pooler
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("roc_bert",)  # transformers 5.23: modeling_roc_bert.py

_HEADS = ("ForCausalLM", *keys.ENCODER_HEADS, "ForPreTraining")
_SIZES = ("pronunciation_vocab_size", "pronunciation_embed_dim", "shape_vocab_size", "shape_embed_dim")


def spec(c: Config) -> Spec:
    switches = {name: c.bool(name, default=True) for name in ("concat_input", "enable_pronunciation", "enable_shape")}
    return keys.encoder(c, heads=_HEADS, traits={**{name: c.int(name) for name in _SIZES}, **switches})


def blueprint(s: Spec) -> Block:
    x = s.traits
    sound, look = x["pronunciation_embed_dim"], x["shape_embed_dim"]
    inputs = s.hidden + (sound if x["enable_pronunciation"] else 0) + (look if x["enable_shape"] else 0)
    tables = block(
        pronunciation_embed=embedding(x["pronunciation_vocab_size"], sound),
        shape_embed=embedding(x["shape_vocab_size"], look),
        map_inputs_layer=Linear(inputs, s.hidden, True, "embedding") if x["concat_input"] else None,
    )
    words = bert_predictions(s, "roc_bert.embeddings.word_embeddings.weight")
    body = bert_base(s, embeddings=bert_embeddings(s, more=tables), pooler=pooler(s))
    return bert_heads(s, "roc_bert", body, words, pretraining=block(cls=block(predictions=words)))
