"""Hunyuan's vision tower under the names of its release.

Source: transformers 5.23, conversion_mapping.py.
"""

RELEASED = {
    r"mlp\.dense_h_to_4h\.": "mlp.fc1.",
    r"mlp\.dense_4h_to_h\.": "mlp.fc2.",
    r"^vit\.layers\.(\d+)\.input_layernorm\.": r"vit.layers.\1.layer_norm1.",
    r"^vit\.layers\.(\d+)\.post_attention_layernorm\.": r"vit.layers.\1.layer_norm2.",
    r"perceive\.proj\.0\.": "perceive.proj_conv.",
    r"perceive\.proj\.2\.": "perceive.proj_out.",
    r"perceive\.": "patch_merger.",
    r"^model\.(?!language_model\.|vit\.|vision_tower\.)": "model.language_model.",
    r"^(model\.)?vit\.": "model.vision_tower.",
}
