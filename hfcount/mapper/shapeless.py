"""Keys that no shape depends on: token ids, positions without tables, training, generation, bookkeeping."""

_SHAPELESS = frozenset(
    """
    add_cross_attention attention_dropout auto_map bad_words_ids begin_suppress_tokens bos_token_id
    chunk_size_feed_forward classifier_dropout cross_attention_hidden_size decoder_start_token_id diversity_penalty
    do_sample early_stopping embd_pdrop encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty
    forced_bos_token_id forced_eos_token_id hidden_dropout initializer_range is_decoder is_encoder_decoder
    layer_norm_eps layer_types length_penalty max_length max_position_embeddings max_sequence_length
    max_window_layers min_length model_max_length no_repeat_ngram_size norm_topk_prob num_beam_groups num_beams
    num_return_sequences output_attentions output_hidden_states output_router_logits output_scores pad_token_id
    partial_rotary_factor pretraining_tp remove_invalid_values repetition_penalty resid_pdrop return_dict
    return_dict_in_generate rms_norm_eps rope_parameters rope_scaling rope_theta router_aux_loss_coef
    router_jitter_noise sep_token_id sliding_window suppress_tokens temperature tf_legacy_loss tie_encoder_decoder
    factor original_max_position_embeddings top_k top_p torchscript typical_p unsloth_fixed use_bfloat16 use_cache
    use_mrope use_sliding_window
    attention_chunk_size ep_size index_topk n_group rope_interleave seq_aux topk_group
    _sliding_window_pattern attention_multiplier embedding_multiplier eod_token_id keep_window_size
    layer_rope_theta logit_scale logits_scaling no_rope_layer_interval no_rope_layers
    query_pre_attn_scalar residual_multiplier sliding_window_pattern
    use_bidirectional_attention
    apply_query_key_layer_scaling architectures attention_softmax_in_fp32 bf16 bias_dropout_fusion flash_attn fp16 fp32
    masked_softmax_fusion original_rope rope_ratio rotary_emb_base scale_attn_weights seq_length training_seqlen
    use_dynamic_ntk use_flash_attn use_logn_attn
    chunk_size mamba_chunk_size moe_renormalize num_expert_group num_logits_to_keep residual_in_fp32
    rescale_prenorm_residual time_step_limit use_associative_scan use_mamba_kernels
    compress_rope_theta default_output_length dim_model_base dynamic_image_size fullatt_block_indexes
    hc_sinkhorn_iters ignore_index image_start_id initial_context_length max_dynamic_patch max_slice_nums
    min_dynamic_patch mm_tokens_per_image mm_use_im_start_end mup_denominator offset_alibi output_past
    pooling_kernel_size rope_local_base_freq scale_emb scale_resolution select_layer skip_bias_add slice_mode
    spatial_patch_size swa_rope_theta tokens_per_second use_parallel_residual use_thumbnail
    vision_soft_tokens_per_image window_size
    """.split()
)


def is_shapeless(name: str) -> bool:
    """Whether a key of that name bears on no shape."""
    return name in _SHAPELESS or name.endswith(("_token_id", "_token_index"))
