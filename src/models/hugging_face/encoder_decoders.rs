//! The models that are encoder-decoders.

use super::{dim_or_default, number_or_default, or_absent_if};
use crate::models::t5::{T5, T5Config};
use crate::models::whisper::{Whisper, WhisperConfig};
use crate::nn::Precision;
use crate::ops::Real;
use crate::weights::{ConfigField, Pretrained};
use dfdx::{shapes::ConstDim as _, tensor_ops::Device};

#[diagnostic::do_not_recommend]
impl<Config: T5Config, E: Real, D: Device<E>, P: Precision> Pretrained for T5<Config, E, D, P> {
    const NAMES: &'static str = "
        token_embedder = shared.weight or decoder.embed_tokens.weight
        {side}_position_bias = {side}.block.0.layer.0.SelfAttention.relative_attention_bias.weight
        {side}_norm = {side}.final_layer_norm.weight
        {side}.{n}.self_attention.norm = {side}.block.{n}.layer.0.layer_norm.weight
        {side}.{n}.self_attention.query = {side}.block.{n}.layer.0.SelfAttention.q.weight
        {side}.{n}.self_attention.key = {side}.block.{n}.layer.0.SelfAttention.k.weight
        {side}.{n}.self_attention.value = {side}.block.{n}.layer.0.SelfAttention.v.weight
        {side}.{n}.self_attention.output = {side}.block.{n}.layer.0.SelfAttention.o.weight
        decoder.{n}.cross_attention.norm = decoder.block.{n}.layer.1.layer_norm.weight
        decoder.{n}.cross_attention.query = decoder.block.{n}.layer.1.EncDecAttention.q.weight
        decoder.{n}.cross_attention.key = decoder.block.{n}.layer.1.EncDecAttention.k.weight
        decoder.{n}.cross_attention.value = decoder.block.{n}.layer.1.EncDecAttention.v.weight
        decoder.{n}.cross_attention.output = decoder.block.{n}.layer.1.EncDecAttention.o.weight
        encoder.{n}.feed_forward.norm = encoder.block.{n}.layer.1.layer_norm.weight
        encoder.{n}.feed_forward.hidden = encoder.block.{n}.layer.1.DenseReluDense.wi.weight
        encoder.{n}.feed_forward.output = encoder.block.{n}.layer.1.DenseReluDense.wo.weight
        decoder.{n}.feed_forward.norm = decoder.block.{n}.layer.2.layer_norm.weight
        decoder.{n}.feed_forward.hidden = decoder.block.{n}.layer.2.DenseReluDense.wi.weight
        decoder.{n}.feed_forward.output = decoder.block.{n}.layer.2.DenseReluDense.wo.weight
        copy {side}.embed_tokens.weight of shared.weight
        copy lm_head.weight of shared.weight
        ignore decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight
        ignore qa_outputs.*
    ";

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["t5"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::EmbedDim>("d_model"),
            ConfigField::dim::<Config::NumHeads>("num_heads"),
            ConfigField::dim::<Config::HeadDim>("d_kv"),
            ConfigField::dim::<Config::HiddenDim>("d_ff"),
            ConfigField::dim::<Config::NumEncoderLayers>("num_layers"),
            or_absent_if(
                Config::NumDecoderLayers::SIZE == Config::NumEncoderLayers::SIZE,
                ConfigField::dim::<Config::NumDecoderLayers>("num_decoder_layers"),
            ),
            dim_or_default::<Config::NumBuckets>("relative_attention_num_buckets", 32),
            number_or_default("relative_attention_max_distance", Config::MAX_DISTANCE as f64, 128.0),
            number_or_default("layer_norm_epsilon", Config::NORM_EPSILON, 1e-6),
            ConfigField::text("feed_forward_proj", &["relu"]).or_absent(),
            ConfigField::text("dense_act_fn", &["relu"]).or_absent(),
            ConfigField::flag("is_gated_act", false).or_absent(),
            // `transformers` would give this value to the encoder and to the decoder, which differ in it.
            ConfigField::absent("is_causal"),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
            ConfigField::flag("scale_decoder_outputs", true).or_absent(),
        ]
    }
}

#[diagnostic::do_not_recommend]
impl<Config: WhisperConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Whisper<Config, E, D, P> {
    const NAMES: &'static str = "
        first_convolution.{p} = model.encoder.conv1.{p}
        second_convolution.{p} = model.encoder.conv2.{p}
        token_embedder = model.decoder.embed_tokens.weight
        position_embedder = model.decoder.embed_positions.weight
        {side}_norm.{p} = model.{side}.layer_norm.{p}
        {side}.{n}.self_attention.norm.{p} = model.{side}.layers.{n}.self_attn_layer_norm.{p}
        {side}.{n}.self_attention.query.{p} = model.{side}.layers.{n}.self_attn.q_proj.{p}
        {side}.{n}.self_attention.key = model.{side}.layers.{n}.self_attn.k_proj.weight
        {side}.{n}.self_attention.value.{p} = model.{side}.layers.{n}.self_attn.v_proj.{p}
        {side}.{n}.self_attention.output.{p} = model.{side}.layers.{n}.self_attn.out_proj.{p}
        {side}.{n}.cross_attention.norm.{p} = model.{side}.layers.{n}.encoder_attn_layer_norm.{p}
        {side}.{n}.cross_attention.query.{p} = model.{side}.layers.{n}.encoder_attn.q_proj.{p}
        {side}.{n}.cross_attention.key = model.{side}.layers.{n}.encoder_attn.k_proj.weight
        {side}.{n}.cross_attention.value.{p} = model.{side}.layers.{n}.encoder_attn.v_proj.{p}
        {side}.{n}.cross_attention.output.{p} = model.{side}.layers.{n}.encoder_attn.out_proj.{p}
        {side}.{n}.feed_forward.norm.{p} = model.{side}.layers.{n}.final_layer_norm.{p}
        {side}.{n}.feed_forward.hidden.{p} = model.{side}.layers.{n}.fc1.{p}
        {side}.{n}.feed_forward.output.{p} = model.{side}.layers.{n}.fc2.{p}
        ignore model.encoder.embed_positions.weight
        copy proj_out.weight of model.decoder.embed_tokens.weight
    ";
    const PREFIX: &'static str = "model.";

    fn config() -> Vec<ConfigField> {
        vec![
            ConfigField::text("model_type", &["whisper"]),
            ConfigField::dim::<Config::NumMelBins>("num_mel_bins"),
            ConfigField::dim::<Config::SrcLen>("max_source_positions"),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxTgtLen>("max_target_positions"),
            ConfigField::dim::<Config::EmbedDim>("d_model"),
            ConfigField::dim::<Config::NumHeads>("encoder_attention_heads").also_called("num_attention_heads"),
            // `transformers` reads `num_key_value_heads` as `encoder_attention_heads` too.
            ConfigField::dim::<Config::NumHeads>("num_key_value_heads").or_absent(),
            ConfigField::dim::<Config::NumHeads>("decoder_attention_heads"),
            ConfigField::dim::<Config::HiddenDim>("encoder_ffn_dim"),
            ConfigField::dim::<Config::HiddenDim>("decoder_ffn_dim"),
            ConfigField::dim::<Config::NumEncoderLayers>("encoder_layers"),
            ConfigField::dim::<Config::NumDecoderLayers>("decoder_layers"),
            ConfigField::text("activation_function", &["gelu"]).or_absent(),
            ConfigField::flag("scale_embedding", false).or_absent(),
            // `transformers` would give this value to the encoder and to the decoder, which differ in it.
            ConfigField::absent("is_causal"),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ]
    }
}
