"""ChatGLM2, ChatGLM3 and GLM-4 as first published: fused attention with few key/value heads (arXiv:2406.12793)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, fused_qkv, fused_swiglu, layer_norm, rms_norm, stack
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tied, Undescribed, block, buffer

MODEL_TYPES = ("chatglm",)  # modeling_chatglm.py of THUDM/chatglm3-6b
IGNORED = ("apply_query_key_layer_scaling", "original_rope", "rope_ratio")


def spec(c: Config) -> Spec:
    heads, bias = c.int("num_attention_heads"), c.bool("add_bias_linear", default=False)
    grouped = c.bool("multi_query_attention", default=False)
    mixer = GQA(
        heads=heads,
        kv_heads=c.int("multi_query_group_num", default=1) if grouped else heads,
        head_dim=c.int("kv_channels", default=128),
        qkv_bias=bias or c.bool("add_qkv_bias", default=False),
        out_bias=bias,
    )
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_hidden_size"), bias=bias))
    layers = keys.alike(layer, keys.layer_count(c, "num_layers"))
    traits = {
        "rmsnorm": int(c.bool("rmsnorm", default=True)),
        "post_layer_norm": int(c.bool("post_layer_norm", default=True)),
        "vision": int(c.sub("vision_config") is not None),
    }
    classes = ("ForConditionalGeneration", "Model", "ForSequenceClassification")
    return keys.decoder_spec(c, layers, heads=classes, vocab=c.int("padded_vocab_size"), traits=traits)


def blueprint(s: Spec) -> Block:
    d = s.hidden
    norm = rms_norm(d) if s.traits["rmsnorm"] else layer_norm(d)

    def layer(one: Layer) -> Block:
        a, ffn = one.attention, one.dense
        out = Linear(a.heads * a.head_dim, d, a.out_bias)
        attention = block("attention", query_key_value=fused_qkv(d, a), dense=out)
        network = fused_swiglu(d, ffn.width, ffn.bias).children
        return block(
            input_layernorm=norm,
            self_attention=attention,
            post_attention_layernorm=norm,
            mlp=block("mlp", dense_h_to_4h=network["gate_up_proj"], dense_4h_to_h=network["down_proj"]),
        )

    # Half of a head turns with the position, and the frequencies are stored.
    turning = s.layers[0].layer.attention.head_dim // 4
    body = block(
        embedding=block(word_embeddings=embedding(s.vocab, d)),
        rotary_pos_emb=block(inv_freq=buffer(turning)),
        encoder=block(layers=stack(s.layers, layer), final_layernorm=norm if s.traits["post_layer_norm"] else None),
        output_layer=Linear(d, s.vocab, component="lm_head"),
        vision=Undescribed("GLM-4V's tower is not described") if s.traits["vision"] else None,
    )
    classifier = Linear(d, s.labels, bias=True, component="other") if s.head == "sequence_classification" else None
    # Some trainers give the head a second name, which then has no storage of its own.
    second = None if s.head == "base" else Tied("transformer.output_layer.weight", (s.vocab, d), "lm_head")
    return block(transformer=body, classifier_head=classifier, lm_head=second)
