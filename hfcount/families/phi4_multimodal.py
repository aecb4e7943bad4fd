"""Phi-4-multimodal: Phi-4-mini with vision and audio towers inside its embedding (arXiv:2503.01743)."""

from hfcount import families, keys
from hfcount.families.phi4_multimodal_audio import Phi4MultimodalAudio
from hfcount.mapper import Config
from hfcount.parts import altered, base, fused_qkv, fused_swiglu, inv_freq, pre_norm, with_head
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("phi4_multimodal",)  # transformers 5.23: modeling_phi4_multimodal.py


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c), ffn=keys.dense(c))
    parts = {"vision": families.part(c, "vision_config"), "audio": families.part(c, "audio_config")}
    heads, windows = ("ForCausalLM", "Model"), keys.sliding_everywhere(c)
    return keys.decoder_spec(c, layer, heads=heads, windows=windows, parts=parts)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        a = one.attention
        return pre_norm(
            d,
            self_attn=block(
                "attention",
                qkv_proj=fused_qkv(d, a),
                o_proj=Linear(a.heads * a.head_dim, d),
                rotary_emb=inv_freq(a.head_dim),
            ),
            mlp=fused_swiglu(d, one.dense.width),
        )

    def projected(width: int, up: str, down: str) -> dict[str, Node]:
        return {up: Linear(width, d, True, "projector"), down: Linear(d, d, True, "projector")}

    seen, heard = s.parts["vision"].hidden, s.parts["audio"]
    image = Block(
        {
            "global_img_feature_extensor": Tensor((1, 1, seen)),
            "sub_img_feature_extensor": Tensor((1, 1, 1, seen)),
            "img_processor": families.tower(s, "vision"),
            **projected(seen, "img_projection_up", "img_projection_down"),
        }
    )
    sound: dict[str, Node] = {"encoder": families.tower(s, "audio")}
    for sense in ("speech", "vision_speech"):
        width = heard.hidden * heard.sizes(Phi4MultimodalAudio).downsample_rate
        sound |= projected(width, f"up_proj_for_{sense}", f"down_proj_for_{sense}")
    senses = Block({"image_embed": image, "audio_embed": Block(sound)}, repeats=0)
    return with_head(s, altered(base(s, layer), embed_tokens_extend=senses))
