"""Names of first releases that transformers writes, and what it calls them: SPELLINGS of families/__init__.py.

Source: transformers 5.23, conversion_mapping.py.
"""

STEP_VISION = {
    r"\bconv1\.weight$": "embeddings.patch_embedding.weight",
    r"\bpositional_embedding$": "embeddings.position_embedding.weight",
    r"\btransformer\.resblocks\.": "layers.",
    r"\bln_pre\.": "pre_layernorm.",
    r"\bvit_downsampler": "downsampler",
    r"\bls_([12])\.gamma$": r"lambda_\1",
    r"\bmlp\.c_fc\.": "mlp.fc1.",
    r"\bmlp\.c_proj\.": "mlp.fc2.",
    r"\battn\.": "self_attn.",
    r"\bln_1\.": "layernorm_before.",
    r"\bln_2\.": "layernorm_after.",
}
"""Names of Step's vision tower in its release."""

HY_V4 = {
    r"\.hc_pre\.hc_": ".hc_",
    r"\.learnable_sink_param$": ".sinks",
    r"\.linear_gate\.": ".gate_proj.",
    r"\.hc_attn_layer\.hc_": ".attn_hc.",
    r"\.hc_mlp_layer\.hc_": ".ffn_hc.",
    r"\.hc_head_(fn|base|scale)$": r".hc_\1",
}
"""Hunyuan 4's names in its release."""
