"""GIT: a decoder like BERT that sees patches of images, or of the frames of a video, as tokens (arXiv:2205.14100)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm
from hfcount.architectures.layers.classic import generative
from hfcount.architectures.layers.encoders import bert_base, bert_embeddings
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("git",)  # transformers 5.23: modeling_git.py


class Git(Sizes):
    frames: int


def spec(c: Config) -> Spec[Git]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True))
    frames = 0 if c.is_null("num_image_with_embedding") else c.int("num_image_with_embedding", maximum=MAX_LAYERS)
    parts = {"vision": families.part(c, "vision_config")}
    sizes = Git.read(c, frames=keys.dim("f", frames))
    heads = ("ForCausalLM", "Model")
    return keys.decoder_spec(c, layer, heads=heads, hidden=d, positions=rows, parts=parts).having(sizes)


def blueprint(s: Spec[Git]) -> Block:
    d, vision_width, frames = s.hidden, s.part("vision").hidden, s.own.frames
    projection = Block({"0": Linear(vision_width, d, True), "1": layer_norm(d)})
    places = Repeat(Indices.below(frames), Tensor((1, 1, vision_width), component="embedding"))
    body = bert_base(
        s,
        embeddings=bert_embeddings(s),
        image_encoder=families.tower(s, "vision"),
        visual_projection=block("projector", visual_projection=projection),
        img_temporal_embedding=places if frames else None,
    )
    return generative(s, "git", body, "embeddings.word_embeddings", head="output", bias=True)
