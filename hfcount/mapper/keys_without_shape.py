"""Keys of many architectures that do not affect shapes: token ids, rotary positions, training, generation, and so on.

Such keys of one family alone are in IGNORED in its file.
"""

from typing import Any

_SHAPELESS = frozenset(
    """
    _attn_implementation_autoset _from_model_config add_cross_attention architectures attention_chunk_size
    attention_dropout attention_multiplier attention_softmax_in_fp32 auto_map auxiliary_loss bad_words_ids bbox_cost
    begin_suppress_tokens bias_dropout_fusion chunk_size chunk_size_feed_forward class_cost classifier_dropout
    compression_config cross_attention_hidden_size disable_custom_kernels diversity_penalty do_sample early_stopping
    embd_pdrop embedding_multiplier encoder_no_repeat_ngram_size ep_size exponential_decay_length_penalty factor
    forced_decoder_ids giou_cost gradient_checkpointing hidden_dropout id2label ignore_index initializer_range
    is_decoder is_encoder_decoder label2id layer_norm_eps layer_rope_theta layer_types length_penalty logit_scale
    logits_scaling mamba_chunk_size max_length max_position_embeddings max_window_layers min_length model_max_length
    n_group no_repeat_ngram_size norm_topk_prob num_beam_groups num_beams num_logits_to_keep num_return_sequences
    original_max_position_embeddings output_attentions output_hidden_states output_past output_router_logits
    output_scores partial_rotary_factor pretraining_tp quantization quantization_config query_pre_attn_scalar
    remove_invalid_values repetition_penalty rescale_prenorm_residual resid_pdrop residual_in_fp32
    residual_multiplier return_dict return_dict_in_generate rms_norm_eps rope_interleave rope_local_base_freq
    rope_parameters rope_scaling rope_theta rotary_emb_base router_aux_loss_coef router_jitter_noise
    scale_attn_weights seq_aux seq_length sliding_window sliding_window_pattern suppress_tokens task_specific_params
    temperature tf_legacy_loss tie_encoder_decoder time_step_limit top_k top_p topk_group torchscript typical_p
    unsloth_fixed use_associative_scan use_bfloat16 use_bidirectional_attention use_cache use_mamba_kernels
    use_mrope use_pretrained_backbone use_sliding_window
    """.split()
)

_ENDINGS = ("_token_id", "_token_index", "_start_id", "_end_id", "_newline_id", "_loss_coefficient")

_EVERY = ("moe_layer_freq",)  # every so many layers are of a kind: at 1 all are, as they are where nobody reads it


def may_bear(name: str, value: Any) -> bool:
    """Whether a key of that name and value may affect shapes: a whole number, true, or a list or object of anything.

    false, 0, and a list or an object of nothing else affect nothing.
    """
    if is_shapeless(name) or (name in _EVERY and value == 1):
        return False
    if isinstance(value, dict):
        return any(may_bear(key, item) for key, item in value.items())
    return isinstance(value, int | list) and bool(value)


def is_shapeless(name: str) -> bool:
    """Whether a key of that name does not affect shapes."""
    return name in _SHAPELESS or name.endswith(_ENDINGS)
