"""ViLT: words and patches of an image in one encoder (arXiv:2102.03334)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.encoders import bert_embeddings
from hfcount.architectures.layers.vision import patch_convolution, vit_layer
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, Tied, block

MODEL_TYPES = ("vilt",)  # transformers 5.23: modeling_vilt.py
IGNORED = ("max_image_length", "num_images")

_COMMON = ("ForMaskedLM", "Model", "ForQuestionAnswering", "ForTokenClassification")
_HEADS = keys.named(
    _COMMON, ForImageAndTextRetrieval="retrieval", ForImagesAndTextClassification="image_classification"
)


class Vilt(Sizes):
    """Sizes specific to ViLT; `num_images` are those that a head compares."""

    modality_type_vocab_size: int = size("t_m")
    patches: int = derived(keys.squares)
    num_images: int = 1


def spec(c: Config) -> Spec[Vilt]:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), qkv_bias=bias)
    layer, rows = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), c.int("max_position_embeddings")
    types, sizes = c.int("type_vocab_size"), Vilt.read(c)
    model = keys.decoder_spec(c, layer, heads=_HEADS, hidden=d, positions=rows, token_types=types)
    if model.head == "image_classification":
        sizes = sizes.replace(num_images=keys.dim("i", c.int("num_images", maximum=MAX_LAYERS)))
    # Whatever the config says, the head is tied.
    return model.replace(causal=False, tied=True, patches=keys.patches(c)).having(sizes)


def blueprint(s: Spec[Vilt]) -> Block:
    d, of = s.hidden, s.own
    table = "vilt.embeddings.text_embeddings.word_embeddings.weight"
    embeddings = block(
        "embedding",
        text_embeddings=bert_embeddings(s),
        cls_token=Tensor((1, 1, d)),
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, of.patches + 1, d)),
        token_type_embeddings=embedding(of.modality_type_vocab_size, d),
    )
    body = block(
        embeddings=embeddings,
        encoder=block(layer=stack(s.layers, lambda layer: vit_layer(d, layer))),
        layernorm=layer_norm(d),
        pooler=None if s.head == "token_classification" else block("other", dense=Linear(d, d, True)),
    )

    def judging(inputs: int, wide: int) -> Block:
        steps: dict[str, Node] = {"0": Linear(inputs, wide, True), "1": layer_norm(wide), "3": classifier(s, wide)}
        return block(classifier=Block(steps, "other"))

    images = of.num_images * d
    words = block(
        "lm_head",
        transform=block(dense=Linear(d, d, True), LayerNorm=layer_norm(d)),
        decoder=Tied(table, (s.vocab, d), bias=True),
    )
    return headed(
        s,
        "vilt",
        body,
        masked_lm=block(mlm_score=words),
        question_answering=judging(d, 2 * d),
        token_classification=block(classifier=classifier(s)),
        retrieval=block(rank_output=Linear(d, 1, True, "other")),
        image_classification=judging(images, images),
    )
