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

MOLMO2 = {
    r"(?<!image_vit\.)\btransformer\.ln_f\.": "language_model.norm.",
    r"(?<!image_vit\.)\btransformer\.blocks\.": "language_model.layers.",
    r"(?<!image_vit\.)\btransformer\.wte\.": "language_model.wte.",
    r"\bvision_backbone\.image_vit\.(?:transformer\.resblocks\.(?=\d))?": "vision_tower.",
    r"(?<=\bvision_tower\.)(?=\d)": "layers.",
    r"\bvision_backbone\.(?=image_p)": "multi_modal_projector.",
    **{rf"\b(attention|image_pooling_2d)\.w{one}\.": rf"\1.{one}_proj." for one in "qkvo"},
    r"\.attention\.": ".self_attn.",
    r"\.feed_forward\.w([12])\.": r".mlp.fc\1.",
    r"\.attention_norm\.": ".layer_norm1.",
    r"\.ffn_norm\.": ".layer_norm2.",
    r"\bimage_projector\.w1\.": "image_projector.gate_proj.",
    r"\bimage_projector\.w2\.": "image_projector.down_proj.",
    r"\bimage_projector\.w3\.": "image_projector.up_proj.",
    r"\.attn_norm\.": ".input_layernorm.",
    r"\.ff_norm\.": ".post_attention_layernorm.",
    r"\.attn_out\.": ".o_proj.",
    r"\.mlp\.ff_out\.": ".mlp.down_proj.",
}
"""Molmo 2's names in its release."""

INKLING_ATTENTION = {
    **{
        rf"\battn\.{old}\.": f"self_attn.{new}_proj."
        for old, new in {
            "wq_du": "q",
            "wk_dv": "k",
            "wv_dv": "v",
            "wr_du": "r",
            "wo_ud": "o",
            "gate_attn": "gate",
            "attn_sink_proj": "sink",
        }.items()
    },
    r"\battn\.(?!\d)": "self_attn.",
    r"\bmlp_norm\.": "post_attention_layernorm.",
    r"\battn_norm\.": "input_layernorm.",
    r"\bmlp\.experts\.w13_weight$": "mlp.experts.gate_up_proj",
    r"\bmlp\.experts\.w2_weight$": "mlp.experts.down_proj",
    r"\bmlp\.gate\.bias$": "mlp.gate.e_score_correction_bias",
}
"""Attention and experts of Inkling in its release."""

INKLING = {
    r"^model\.llm\.unembed\.": "lm_head.",
    r"\bllm\.embed_norm\.": "language_model.embed_tokens.embed_norm.",
    r"\bllm\.embed\.": "language_model.embed_tokens.",
    r"\bllm\.": "language_model.",
    r"^model\.audio\.": "model.audio_tower.",
    r"^model\.visual\.": "model.vision_tower.",
    r"\bvision_tower\.layers\.linear_(\d+)\.": r"vision_tower.encoder_layers.\1.projection.",
    r"\bvision_tower\.layers\.norm_(\d+)\.": r"vision_tower.encoder_layers.\1.layer_norm.",
    r"\baudio_tower\.encoder\.": "audio_tower.embed_audio_tokens.embed_audio_tokens.",
    r"\baudio_tower\.final_norm\.": "audio_tower.norm.",
    r"\bshared_w2_weight$": "down_proj",
    r"\bmlp\.w2_md\.": "mlp.down_proj.",
    **INKLING_ATTENTION,
    r"_sconv\.weight$": "_sconv.conv1d.weight",
}
"""Inkling's names in its release."""

INKLING2_TEXT = {
    r"^model\.llm\.unembed\.": "lm_head.",
    r"^model\.llm\.": "model.",
    r"\bembed_norm\.": "embed_tokens.embed_norm.",
    r"\bembed\.weight$": "embed_tokens.weight",
    **INKLING_ATTENTION,
    r"\battn_sconv\.": "post_attention_convolution.",
    r"\bmlp_sconv\.": "post_mlp_convolution.",
    r"_sconv\.static_w$": "_sconv.static_weight",
    r"_sconv\.weight_proj$": "_sconv.weight_proj.weight",
    r"(convolution|sconv)\.weight$": r"\1.conv1d.weight",
    r"\b([qkv])_input_norm\.": r"\1_input_layernorm.",
    r"\battn_res\.mlp_queries\.(\d+)$": r"layers.\1.mlp_input.query",
    r"\battn_res\.output_query$": "final_input.query",
}
"""Inkling 2's names in its release, alone."""

INKLING2 = {
    r"^model\.llm\.unembed\.": "lm_head.",
    r"^model\.llm\.": "model.language_model.",
    r"^model\.visual\.backbone\.": "model.vision_tower.",
    r"^model\.visual\.proj_in\.": "model.vision_tower.merger.linear_1.",
    r"^model\.visual\.proj_out\.": "model.vision_tower.merger.linear_2.",
    r"\bembeddings\.position_embedding$": "embeddings.position_embedding.weight",
    r"\bln_pre\.": "pre_layernorm.",
    r"\bln_1\.": "layernorm_before.",
    r"\bln_2\.": "layernorm_after.",
    r"\bls_([12])\.gamma$": r"lambda_\1",
    r"\bmlp\.c_fc\.": "mlp.fc1.",
    r"\bmlp\.c_proj\.": "mlp.fc2.",
}
"""Inkling 2's names in its release, with its tower."""

OCR_SAM = {
    r"\bblocks\.(\d+)\.norm([12])\.": r"layers.\1.layer_norm\2.",
    r"\bblocks\.": "layers.",
    r"\bpatch_embed\.proj\.": "patch_embed.projection.",
    r"\bneck\.0\.": "neck.conv1.",
    r"\bneck\.1\.": "neck.layer_norm1.",
    r"\bneck\.2\.": "neck.conv2.",
    r"\bneck\.3\.": "neck.layer_norm2.",
    r"\bnet_2\.": "proj.conv1.",
    r"\bnet_3\.": "proj.conv2.",
}
"""Names of SAM's tower in the releases of DeepSeek's models that read documents."""

OCR = {
    r"(?:^|(?<=^model\.))(?=(?:embed_tokens|layers|norm)\.)": "language_model.",
    r"\bsam_model\.": "vision_tower.sam_encoder.",
    r"\bqwen2_model\.model\.model\.": "vision_tower.vision_encoder.",
    r"\bqwen2_model\.(query_\d+)\.": r"vision_tower.\1_resolution.",
    r"\bvision_model\.": "vision_tower.vision_encoder.",
    r"\bprojector\.layers\.": "multi_modal_projector.",
    r"\bview_seperator$": "view_separator",
}
"""Names of DeepSeek's models that read documents, in their releases."""

RF_DETR = {
    r"^model\.(?:model\.)?(?!transformer\.enc_output)": "",
    r"\bbackbone\.0\.encoder\.encoder\.": "backbone.backbone.",
    r"\bbackbone\.0\.projector\.": "backbone.projector.",
    r"\bprojector\.stages\.0\.0\.m\.": "projector.projector_layer.bottlenecks.",
    r"\bprojector\.stages\.0\.0\.": "projector.projector_layer.",
    r"\bprojector\.stages\.0\.1\.": "projector.layer_norm.",
    r"\bcv([12])\.conv\.": r"conv\1.conv.",
    r"\bcv([12])\.bn\.": r"conv\1.norm.",
    r"\btransformer\.": "",
    r"(?<=decoder\.)norm\.": "layernorm.",
    r"(decoder\.layers\.\d+)\.norm1\.": r"\1.self_attn_layer_norm.",
    r"(decoder\.layers\.\d+)\.norm2\.": r"\1.cross_attn_layer_norm.",
    r"(decoder\.layers\.\d+)\.norm3\.": r"\1.layer_norm.",
    r"(decoder\.layers\.\d+)\.linear([12])\.": r"\1.mlp.fc\2.",
    r"\bself_attn\.out_proj\.": "self_attn.o_proj.",
    r"\brefpoint_embed\.": "reference_point_embed.",
    **{rf"\battention\.attention\.{name}\.": f"attention.{name[0]}_proj." for name in ("query", "key", "value")},
    r"\battention\.output\.dense\.": "attention.o_proj.",
    r"^segmentation_head\.bias$": "segmentation_bias",
    r"^segmentation_head\.": "",
    r"\bquery_features_block\.layers\.0\.": "query_features_block.mlp.fc1.",
    r"\bquery_features_block\.layers\.2\.": "query_features_block.mlp.fc2.",
    r"\bquery_features_block\.norm_in\.": "query_features_block.norm.",
    r"^(blocks\.\d+)\.norm\.": r"\1.layernorm.",
    r"^(blocks\.\d+)\.dwconv\.": r"\1.depthwise_conv.",
    r"^(blocks\.\d+)\.pwconv1\.": r"\1.pointwise_conv.",
}
"""RF-DETR's names in its release."""

TIPS_HEADS = {
    r"^vision_encoder\.": "backbone.",
    r"_neck\.reassemble_stage\.readout_projects\.(\d+)\.layers\.0\.": r"_head.reassemble.readout_projects.\1.",
    r"_neck\.reassemble_stage\.layers\.(\d+)\.projection\.": r"_head.reassemble.out_projections.\1.",
    r"_neck\.reassemble_stage\.layers\.(\d+)\.resize\.": r"_head.reassemble.resize_layers.\1.",
    r"_neck\.fusion_stage\.layers\.(\d+)\.projection\.": r"_head.fusion_blocks.\1.out_conv.",
    r"_neck\.fusion_stage\.layers\.(\d+)\.residual_layer1\.convolution": r"_head.fusion_blocks.\1.residual_unit.conv",
    r"_neck\.fusion_stage\.layers\.(\d+)\.residual_layer2\.convolution": r"_head.fusion_blocks.\1.main_unit.conv",
    r"_neck\.convs\.": "_head.convs.",
    r"_decoder\.project\.": "_head.project.",
    r"(depth|normals|segmentation)_decoder\.head\.": r"\1_head.\1_head.",
}
"""DPT's heads as TIPS v2 names them."""
