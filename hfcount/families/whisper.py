"""Whisper: an encoder of spectrograms and a decoder of texts, keys without biases (arXiv:2212.04356)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head, stack
from hfcount.parts.classic import mha
from hfcount.parts.seq2seq import bart_layer
from hfcount.spec import Layer, Layers, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("whisper",)

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM")


def spec(c: Config) -> Spec:
    sizes = {name: c.int(name) for name in ("num_mel_bins", "max_source_positions")}
    return keys.sequence_to_sequence(c, heads=_HEADS, positions=c.int("max_target_positions"), traits=sizes)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layers(parts: tuple[Layers, ...], crossed: bool) -> Block:
        def layer(one: Layer) -> Block:
            attention = Block({**mha(d, one.attention).children, "k_proj": Linear(d, d)}, "attention")
            across = {"encoder_attn": attention} if crossed else {}
            return Block({**bart_layer(d, one, crossed).children, "self_attn": attention, **across})

        return block(layers=stack(parts, layer), layer_norm=layer_norm(d))

    tables = block(embed_tokens=embedding(s.vocab, d), embed_positions=embedding(s.positions or 0, d))
    decoder = Block({**tables.children, **layers(s.layers, True).children})
    convolutions = block(
        conv1=block("embedding", weight=Tensor((d, s.traits["num_mel_bins"], 3)), bias=Tensor((d,))),
        conv2=block("embedding", weight=Tensor((d, d, 3)), bias=Tensor((d,))),
        embed_positions=embedding(s.traits["max_source_positions"], d),
    )
    encoder = None if s.head == "causal_lm" else Block({**convolutions.children, **layers(s.encoder, False).children})
    body = block(encoder=encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, "model.decoder.embed_tokens.weight"))
