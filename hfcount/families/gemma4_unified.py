"""Gemma 4 without towers: patches and frames of sound are projected into the model at once (card of gemma-4-12B-it)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm
from hfcount.parts.composite import joined
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("gemma4_unified",)  # transformers 5.23: modeling_gemma4_unified.py


def spec(c: Config) -> Spec:
    text, traits = families.part(c, "text_config"), dict[str, int]()
    if seen := c.sub("vision_config"):
        side = seen.int("model_patch_size", default=None) or seen.int("patch_size") * seen.int("pooling_kernel_size")
        traits["pixels"] = 3 * side * side
        traits["mm_embed_dim"] = keys.sized("d_e", seen.int("mm_embed_dim"))
        traits["mm_posemb_size"] = keys.sized("n_e", seen.int("mm_posemb_size"))
        traits["seen"] = keys.sized("d_s", seen.int("output_proj_dims"))
    if heard := c.sub("audio_config"):
        traits["heard"] = keys.sized("d_a", heard.int("audio_embed_dim"))
    heads = ("ForConditionalGeneration", "Model")
    return keys.around(c, text, {}, tied=True, heads=heads, traits=traits)


def blueprint(s: Spec) -> Block:
    of, senses = s.traits, dict[str, Node]()

    def projected(width: int) -> Block:
        return block(embedding_projection=Linear(width, s.hidden))

    if "seen" in of:
        wide = of["mm_embed_dim"]
        senses["embed_vision"] = block(
            "vision",
            patch_ln1=layer_norm(of["pixels"]),
            patch_dense=Linear(of["pixels"], wide, True),
            patch_ln2=layer_norm(wide),
            pos_embedding=Tensor((of["mm_posemb_size"], 2, wide)),
            pos_norm=layer_norm(wide),
            multimodal_embedder=projected(of["seen"]),
        )
    if "heard" in of:
        senses["embed_audio"] = Block(projected(of["heard"]).children, "audio")
    return joined(s, families.base(s), **senses)
