"""I-BERT: RoBERTa with what computing in whole numbers needs beside each weight (arXiv:2101.01321)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm
from hfcount.architectures.layers.encoders import bert_base, pooler, roberta_heads
from hfcount.mapper import Config
from hfcount.spec import Lacking, Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block, buffer

MODEL_TYPES = ("ibert",)  # transformers 5.23: modeling_ibert.py, quant_modules.py
IGNORED = ("quant_mode", "force_dequant")

_HEADS = [ending for ending in keys.ENCODER_HEADS if ending != "ForCausalLM"]


def spec(c: Config) -> Spec:
    return keys.encoder(c, heads=_HEADS, decoding=False)


def blueprint(s: Spec) -> Block:
    d, one_number = s.hidden, buffer(1)
    scale = block(x_min=one_number, x_max=one_number, act_scaling_factor=one_number)
    norm = altered(layer_norm(d), shift=one_number, activation=scale)

    def table(rows: int) -> Block:
        return altered(embedding(rows, d), weight_scaling_factor=one_number, weight_integer=buffer(rows, d))

    def linear(inputs: int, outputs: int) -> Block:
        return block(
            weight=Tensor((outputs, inputs)),
            bias=Tensor((outputs,)),
            weight_integer=buffer(outputs, inputs),
            bias_integer=buffer(outputs),
            fc_scaling_factor=buffer(outputs),
        )

    def layer_block(layer: Layer) -> Block:
        names, width = ("query", "key", "value"), layer.dense.width
        attention = {name: linear(d, d) for name in names} | {
            f"{name}_activation": scale for name in (*names, "output")
        }
        added = block(ln_input_act=scale, LayerNorm=norm, output_activation=scale).children
        return block(
            attention=block(
                self=Block({**attention, "softmax": block(act=scale)}, "attention"),
                output=Block({"dense": altered(linear(d, d)), **added}),
            ),
            intermediate=block("mlp", dense=linear(d, width), output_activation=scale),
            output=Block({"dense": linear(width, d), **added}),
            pre_intermediate_act=scale,
            pre_output_act=scale,
        )

    if s.positions is None or s.token_types is None:
        raise Lacking("this model lacks a table of positions or of token types")
    embeddings = block(
        word_embeddings=table(s.vocab),
        position_embeddings=table(s.positions),
        token_type_embeddings=table(s.token_types),
        embeddings_act1=scale,
        embeddings_act2=scale,
        LayerNorm=norm,
        output_activation=scale,
    )
    return roberta_heads(
        s, "ibert", bert_base(s, layer_block, embeddings, pooler=pooler(s, ("base", "multiple_choice")))
    )
