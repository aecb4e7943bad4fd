"""VibeVoice: two tokenizers, a language model, and a head that diffuses the next sound's latent (arXiv:2508.19205)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import rms_norm, swiglu
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("vibevoice",)  # transformers 5.23: modeling_vibevoice.py
RETYPED = {"vibevoice": ("decoder_config", None, "vibepod")}  # as its own code writes it, for tensors of other names
IGNORED = ("vocab_size", "latent_size", "diffusion_max_period", "hidden_size")


class Vibevoice(Sizes):
    num_hidden_layers: int
    intermediate_size: int
    frequency_embedding_size: int
    mlp_bias: bool


def spec(c: Config) -> Spec[Vibevoice]:
    text, head = families.part(c, "text_config"), c.part("diffusion_head_config")
    towers = {"audio": families.part(c, "audio_config"), "meaning": families.part(c, "semantic_model_config")}
    sizes = Vibevoice.read(
        c,
        num_hidden_layers=keys.dim("N_d", head.int("num_hidden_layers", maximum=MAX_LAYERS)),
        intermediate_size=keys.dim("d_df", head.int("intermediate_size")),
        frequency_embedding_size=keys.dim("d_t", head.int("frequency_embedding_size")),
        mlp_bias=head.bool("mlp_bias"),
    )
    heads = ("ForConditionalGeneration", "Model")
    model = keys.composite(c, text, towers, heads=heads)
    return model.replace(tied=text.tied).having(sizes)  # the language model says it for the whole


def blueprint(s: Spec[Vibevoice]) -> Block:
    d, heard, meant = s.hidden, s.part("audio"), s.part("meaning")

    def connector(inputs: int) -> Block:
        return block("projector", linear_1=Linear(inputs, d, True), act=rms_norm(d), linear_2=Linear(d, d, True))

    return towers_in_model(
        s,
        families.base(s),
        latent_scaling_factor=Tensor((), component="other"),
        latent_bias_factor=Tensor((), component="other"),
        audio_tower=families.tower(s, "audio"),
        multi_modal_projector=connector(heard.hidden),
        semantic_tokenizer_encoder=Block(families.tree(meant).children, "audio"),
        semantic_connector=connector(meant.hidden),
        diffusion_head=_diffusion(s, heard.hidden),
    )


def _diffusion(s: Spec[Vibevoice], latent: int) -> Block:
    d, of = s.hidden, s.own
    network = swiglu(d, of.intermediate_size, of.mlp_bias)
    layer = block(ffn=network, norm=rms_norm(d), linear=Linear(d, 3 * d))
    return block(
        "other",
        noisy_images_proj=Linear(latent, d),
        cond_proj=Linear(d, d),
        timestep_proj=block(fc1=Linear(of.frequency_embedding_size, d), fc2=Linear(d, d)),
        layers=Repeat(Indices.below(of.num_hidden_layers), layer),
        final_layer=block(linear_1=Linear(d, 2 * d), linear_2=Linear(d, latent)),
    )
