"""FNet: BERT with Fourier transforms, which have no parameters, in place of attention (arXiv:2105.03824)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm, stack
from hfcount.architectures.layers.encoders import bert_embeddings, bert_heads, pooler
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block, buffer

MODEL_TYPES = ("fnet",)  # transformers 5.23: modeling_fnet.py
IGNORED = ("tpu_short_seq_length",)
_MATRICES = 4096  # the longest context of which the transform is a product with matrices
_MORE = ("ForPreTraining", "ForNextSentencePrediction")
_HEADS = (*(ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"), *_MORE)


class FNet(Sizes):
    """Sizes specific to FNet: `short` is the length of texts whose transform is a product with stored matrices."""

    short: int | None


def spec(c: Config) -> Spec[FNet]:
    d, types = c.int("hidden_size"), c.int("type_vocab_size")
    layer, rows = Layer(ffn=keys.dense(c, bias=True)), c.int("max_position_embeddings")
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, positions=rows, token_types=types)
    stored = c.bool("use_tpu_fourier_optimizations", default=False) and rows <= _MATRICES
    sizes = FNet.read(c, short=keys.dim("l_s", c.int("tpu_short_seq_length")) if stored else None)
    return model.replace(causal=False).having(sizes)


def blueprint(s: Spec[FNet]) -> Block:
    d, short = s.hidden, s.own.short
    matrices = block(dft_mat_hidden=buffer(d, d), dft_mat_seq=buffer(short, short)) if short else None

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            fourier=block(self=matrices, output=block(LayerNorm=layer_norm(d))),
            intermediate=block("mlp", dense=Linear(d, width, True)),
            output=block(dense=Linear(width, d, True, "mlp"), LayerNorm=layer_norm(d)),
        )

    tables = altered(bert_embeddings(s), projection=Linear(d, d, True, "embedding"))
    body = block(embeddings=tables, encoder=block(layer=stack(s.layers, layer_block)), pooler=pooler(s, heads=s.heads))
    return bert_heads(s, "fnet", body)
