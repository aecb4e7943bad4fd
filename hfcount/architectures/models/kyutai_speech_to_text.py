"""Kyutai's recogniser: Moshi's language model over words and the codes of Mimi (https://huggingface.co/kyutai)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, lm_head, pre_norm, rms_norm, stack
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("kyutai_speech_to_text",)  # transformers 5.23: modeling_kyutai_speech_to_text.py
IGNORED = ("frame_size",)


class KyutaiSpeechToText(Sizes):
    num_codebooks: int = count("n_q")
    codebook_vocab_size: int = size("|V_a|")


def spec(c: Config) -> Spec[KyutaiSpeechToText]:
    both = c.int("ffn_dim", minimum=2)
    if both % 2:
        raise c.error(
            "not-divisible", f"ffn_dim is {both:,}, but must be even: half of it gates the other half.", "ffn_dim"
        )
    keys.divides(c, "num_attention_heads", c.int("num_attention_heads"), "hidden_size", c.int("hidden_size"))
    layer = Layer(mixer=keys.attention(c), ffn=Dense(width=both // 2))
    sizes = KyutaiSpeechToText.read(c)
    heads = ("ForConditionalGeneration", "Model")
    _, head = keys.head_of(c, keys.named(heads))
    parts = {} if head == "base" else {"audio": families.part(c, "codec_config")}  # the bare model has no codec
    windows = keys.sliding_everywhere(c, default=375)
    return keys.decoder_spec(c, layer, heads=heads, parts=parts, windows=windows).having(sizes)


def blueprint(s: Spec[KyutaiSpeechToText]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        queries, kept = a.heads * a.head_dim, block(linear=Linear(d, a.kv_heads * a.head_dim))
        into, out = block(linear=Linear(d, queries)), block(linear=Linear(queries, d))
        attention = block("attention", q_proj=into, k_proj=kept, v_proj=kept, o_proj=out)
        return pre_norm(d, self_attn=attention, mlp=block("mlp", fc1=Linear(d, 2 * width), fc2=Linear(width, d)))

    rows = s.vocab + of.num_codebooks * of.codebook_vocab_size + 1
    table = block(embed_tokens=embedding(rows, d))
    body = block(embed_tokens=table, layers=stack(s.layers, layer_block), norm=rms_norm(d))
    if s.head == "base":
        return body
    head = lm_head(s, "model.embed_tokens.embed_tokens.weight")
    return block(model=body, lm_head=head, codec_model=families.tower(s, "audio"))
