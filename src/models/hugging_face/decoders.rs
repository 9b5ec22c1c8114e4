//! The models that are decoders.

use super::{number_or_default, or_absent_if};
use crate::models::gemma3::{Gemma3, Gemma3Config};
use crate::models::gpt2::{Gpt2, Gpt2Config};
use crate::models::llama::{Llama, LlamaConfig, Norms};
use crate::models::mixtral::{Mixtral, MixtralConfig};
use crate::nn::Precision;
use crate::ops::{Real, Rotary};
use crate::weights::{ConfigField, Pretrained};
use dfdx::{shapes::ConstDim as _, tensor_ops::Device};

#[diagnostic::do_not_recommend]
impl<Config: Gpt2Config, E: Real, D: Device<E>, P: Precision> Pretrained for Gpt2<Config, E, D, P> {
    const NAMES: &'static str = "
        token_embedder = transformer.wte.weight or lm_head.weight
        position_embedder = transformer.wpe.weight
        layers.{n}.attention_norm.{p} = transformer.h.{n}.ln_1.{p}
        layers.{n}.attention.query.weight = transformer.h.{n}.attn.c_attn.weight [in out -> out in] part 1 of 3
        layers.{n}.attention.key.weight = transformer.h.{n}.attn.c_attn.weight [in out -> out in] part 2 of 3
        layers.{n}.attention.value.weight = transformer.h.{n}.attn.c_attn.weight [in out -> out in] part 3 of 3
        layers.{n}.attention.query.bias = transformer.h.{n}.attn.c_attn.bias part 1 of 3
        layers.{n}.attention.key.bias = transformer.h.{n}.attn.c_attn.bias part 2 of 3
        layers.{n}.attention.value.bias = transformer.h.{n}.attn.c_attn.bias part 3 of 3
        layers.{n}.attention.output.weight = transformer.h.{n}.attn.c_proj.weight [in out -> out in]
        layers.{n}.attention.output.bias = transformer.h.{n}.attn.c_proj.bias
        layers.{n}.feed_forward_norm.{p} = transformer.h.{n}.ln_2.{p}
        layers.{n}.feed_forward.hidden.weight = transformer.h.{n}.mlp.c_fc.weight [in out -> out in]
        layers.{n}.feed_forward.hidden.bias = transformer.h.{n}.mlp.c_fc.bias
        layers.{n}.feed_forward.output.weight = transformer.h.{n}.mlp.c_proj.weight [in out -> out in]
        layers.{n}.feed_forward.output.bias = transformer.h.{n}.mlp.c_proj.bias
        norm.{p} = transformer.ln_f.{p}
        copy lm_head.weight of transformer.wte.weight
        ignore *.attn.bias
        ignore *.attn.masked_bias
        ignore score.*
        ignore classifier.*
        ignore qa_outputs.*
        ignore multiple_choice_head.*
    ";
    const PREFIX: &'static str = "transformer.";

    fn config() -> Vec<ConfigField> {
        let hidden = ConfigField::dim::<Config::HiddenDim>("n_inner");
        vec![
            ConfigField::text("model_type", &["gpt2"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("n_positions"),
            ConfigField::dim::<Config::EmbedDim>("n_embd"),
            ConfigField::dim::<Config::NumHeads>("n_head").also_called("num_attention_heads"),
            or_absent_if(Config::HiddenDim::SIZE == 4 * Config::EmbedDim::SIZE, hidden),
            ConfigField::dim::<Config::NumLayers>("n_layer"),
            number_or_default("layer_norm_epsilon", Config::NORM_EPSILON, 1e-5),
            ConfigField::text("activation_function", &["gelu_new", "gelu_pytorch_tanh"]).or_absent(),
            ConfigField::flag("scale_attn_weights", true).or_absent(),
            ConfigField::flag("scale_attn_by_inverse_layer_idx", false).or_absent(),
            ConfigField::flag("is_causal", true).or_absent(),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ]
    }
}

/// The names of decoders like Llama: `$table` for the embeddings, what all of them have, and `$own`, the names of one
/// model. A rule for a parameter that a model lacks has no effect.
macro_rules! names_like_llama {
    ($table:literal, $own:literal) => {
        concat!(
            "token_embedder = ",
            $table,
            "
            layers.{n}.attention.query = model.layers.{n}.self_attn.q_proj.weight
            layers.{n}.attention.key = model.layers.{n}.self_attn.k_proj.weight
            layers.{n}.attention.value = model.layers.{n}.self_attn.v_proj.weight
            layers.{n}.attention.output = model.layers.{n}.self_attn.o_proj.weight
            layers.{n}.attention.query_norm = model.layers.{n}.self_attn.q_norm.weight
            layers.{n}.attention.key_norm = model.layers.{n}.self_attn.k_norm.weight
            layers.{n}.feed_forward.gate = model.layers.{n}.mlp.gate_proj.weight
            layers.{n}.feed_forward.hidden = model.layers.{n}.mlp.up_proj.weight
            layers.{n}.feed_forward.output = model.layers.{n}.mlp.down_proj.weight
            norm = model.norm.weight
            logit = lm_head.weight
            copy lm_head.weight of model.embed_tokens.weight
            ignore *.rotary_emb.inv_freq
            ignore score.*
            ignore qa_outputs.*
        ",
            $own
        )
    };
}

/// The names of Llama and Qwen3, and of OLMo 2, whose norms stand after the sublayers.
macro_rules! names_of_llama {
    ($table:literal) => {
        match Config::NORMS {
            Norms::Before | Norms::BeforeAndInHeads => names_like_llama!(
                $table,
                "
                layers.{n}.attention_norm = model.layers.{n}.input_layernorm.weight
                layers.{n}.feed_forward_norm = model.layers.{n}.post_attention_layernorm.weight
            "
            ),
            Norms::After => names_like_llama!(
                $table,
                "
                layers.{n}.attention.joint_query_norm = model.layers.{n}.self_attn.q_norm.weight
                layers.{n}.attention.joint_key_norm = model.layers.{n}.self_attn.k_norm.weight
                layers.{n}.attention_norm = model.layers.{n}.post_attention_layernorm.weight
                layers.{n}.feed_forward_norm = model.layers.{n}.post_feedforward_layernorm.weight
            "
            ),
        }
    };
}

#[diagnostic::do_not_recommend]
impl<Config: LlamaConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Llama<Config, E, D, P> {
    // A file may hold a tied weight under either name.
    const NAMES: &'static str = match Config::TIED_LOGITS {
        true => names_of_llama!("model.embed_tokens.weight or lm_head.weight"),
        false => names_of_llama!("model.embed_tokens.weight"),
    };
    const PREFIX: &'static str = "model.";

    fn config() -> Vec<ConfigField> {
        let (model_type, key_value_heads, head_dim, epsilon): (&[_], _, _, _) = match Config::NORMS {
            Norms::Before => (&["llama", "mistral"], Config::NumHeads::SIZE, None, 1e-6),
            Norms::BeforeAndInHeads => (&["qwen3"], 32, Some(128), 1e-6),
            Norms::After => (&["olmo2"], Config::NumHeads::SIZE, None, 1e-5),
        };
        let mut fields = llama_fields::<Config>(key_value_heads, 10_000.0, head_dim, epsilon);
        fields.push(ConfigField::text("model_type", model_type));
        fields.push(ConfigField::flag("attention_bias", false).or_absent());
        match Config::NORMS {
            Norms::Before => {
                fields.push(ConfigField::flag("mlp_bias", false).or_absent());
                // To `transformers`, a Mistral without this field has a window of 4096, and one without
                // `num_key_value_heads` has 8.
                fields.push(ConfigField::no_window_in::<Config::MaxSeqLen>("mistral", "sliding_window"));
            }
            Norms::BeforeAndInHeads => {
                fields.push(ConfigField::flag("use_sliding_window", false).or_absent());
                let types = vec!["full_attention"; Config::NumLayers::SIZE];
                fields.push(ConfigField::list("layer_types", types).or_absent());
            }
            Norms::After => {}
        }
        fields
    }
}

/// The fields that Llama, Qwen3, OLMo 2 and Mixtral have in common. The parameters are the defaults of `transformers`
/// for missing fields. A `default_head_dim` of `None` is the width divided by the number of heads.
fn llama_fields<Config: LlamaConfig>(
    default_key_value_heads: usize,
    default_rope_theta: f64,
    default_head_dim: Option<usize>,
    default_norm_epsilon: f64,
) -> Vec<ConfigField> {
    let is_head_dim = match default_head_dim {
        Some(size) => Config::HeadDim::SIZE == size,
        None => Config::NumHeads::SIZE * Config::HeadDim::SIZE == Config::EmbedDim::SIZE,
    };
    let heads = ConfigField::dim::<Config::NumKeyValueHeads>("num_key_value_heads");
    let theta = number_or_default("rope_theta", Config::ROTARY.base, default_rope_theta);
    let mut fields = vec![
        ConfigField::dim::<Config::VocabSize>("vocab_size"),
        ConfigField::dim::<Config::MaxSeqLen>("max_position_embeddings").or_more(),
        ConfigField::dim::<Config::EmbedDim>("hidden_size"),
        ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
        ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
        ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
        or_absent_if(Config::NumKeyValueHeads::SIZE == default_key_value_heads, heads),
        or_absent_if(is_head_dim, ConfigField::dim::<Config::HeadDim>("head_dim")),
        number_or_default("rms_norm_eps", Config::NORM_EPSILON, default_norm_epsilon),
        ConfigField::text("hidden_act", &["silu", "swish"]).or_absent(),
        ConfigField::flag("is_causal", true).or_absent(),
        theta.also_called("rope_parameters.rope_theta"),
        or_absent_if(!Config::TIED_LOGITS, ConfigField::flag("tie_word_embeddings", Config::TIED_LOGITS)),
    ];
    fields.extend(scaling_fields(Config::ROTARY));
    fields
}

/// The fields of the scaling of rotary positions.
fn scaling_fields(rotary: Rotary) -> Vec<ConfigField> {
    let Some(scaling) = rotary.scaling else {
        let rope_type = |name| ConfigField::text(name, &["default"]).or_absent();
        return vec![
            rope_type("rope_scaling.rope_type").also_called("rope_parameters.rope_type"),
            // Until transformers 4.43 `rope_type` was called `type`.
            rope_type("rope_scaling.type").also_called("rope_parameters.type"),
        ];
    };
    let field = |names: [&'static str; 2], number| ConfigField::number(names[0], number).also_called(names[1]);
    vec![
        ConfigField::text("rope_scaling.rope_type", &["llama3"])
            .also_called("rope_parameters.rope_type")
            .or_absent_beside("rope_scaling.type"),
        ConfigField::text("rope_scaling.type", &["llama3"]).also_called("rope_parameters.type").or_absent(),
        field(["rope_scaling.factor", "rope_parameters.factor"], scaling.factor),
        field(["rope_scaling.low_freq_factor", "rope_parameters.low_freq_factor"], scaling.low_frequency_factor),
        field(["rope_scaling.high_freq_factor", "rope_parameters.high_freq_factor"], scaling.high_frequency_factor),
        field(
            ["rope_scaling.original_max_position_embeddings", "rope_parameters.original_max_position_embeddings"],
            scaling.original_len as f64,
        ),
        // This field counts in place of that of the same name inside of `rope_scaling`.
        ConfigField::number("original_max_position_embeddings", scaling.original_len as f64).or_absent(),
    ]
}

#[diagnostic::do_not_recommend]
impl<Config: MixtralConfig, E: Real, D: Device<E>, P: Precision> Pretrained for Mixtral<Config, E, D, P> {
    const NAMES: &'static str = names_like_llama!(
        "model.embed_tokens.weight",
        "
        layers.{n}.attention_norm = model.layers.{n}.input_layernorm.weight
        layers.{n}.experts_norm = model.layers.{n}.post_attention_layernorm.weight
        layers.{n}.mixture.router = model.layers.{n}.block_sparse_moe.gate.weight
        layers.{n}.mixture.experts.{m}.gate = model.layers.{n}.block_sparse_moe.experts.{m}.w1.weight
        layers.{n}.mixture.experts.{m}.hidden = model.layers.{n}.block_sparse_moe.experts.{m}.w3.weight
        layers.{n}.mixture.experts.{m}.output = model.layers.{n}.block_sparse_moe.experts.{m}.w2.weight
    "
    );
    const PREFIX: &'static str = "model.";

    fn config() -> Vec<ConfigField> {
        let mut fields = llama_fields::<Config>(8, 1_000_000.0, None, 1e-5);
        fields.push(ConfigField::text("model_type", &["mixtral"]));
        fields.push(ConfigField::dim::<Config::NumExperts>("num_local_experts"));
        fields.push(ConfigField::dim::<Config::ExpertsPerToken>("num_experts_per_tok"));
        fields.push(ConfigField::absent("sliding_window"));
        fields
    }
}

#[diagnostic::do_not_recommend]
impl<Config: Gemma3Config, E: Real, D: Device<E>, P: Precision> Pretrained for Gemma3<Config, E, D, P> {
    const NAMES: &'static str = names_like_llama!(
        "model.embed_tokens.weight or lm_head.weight",
        "
        layers.{n}.attention_norm = model.layers.{n}.input_layernorm.weight
        layers.{n}.attended_norm = model.layers.{n}.post_attention_layernorm.weight
        layers.{n}.feed_forward_norm = model.layers.{n}.pre_feedforward_layernorm.weight
        layers.{n}.transformed_norm = model.layers.{n}.post_feedforward_layernorm.weight
    "
    );
    const PREFIX: &'static str = "model.";

    fn config() -> Vec<ConfigField> {
        let layer_type = |layer| if Config::is_global(layer) { "full_attention" } else { "sliding_attention" };
        let types = ConfigField::list("layer_types", (0..Config::NumLayers::SIZE).map(layer_type));
        let global = number_or_default("rope_theta", Config::GLOBAL_ROTARY.base, 1_000_000.0);
        let local = number_or_default("rope_local_base_freq", Config::LOCAL_ROTARY.base, 10_000.0);
        let default = |name| ConfigField::text(name, &["default"]).or_absent();
        vec![
            ConfigField::text("model_type", &["gemma3_text"]),
            ConfigField::dim::<Config::VocabSize>("vocab_size"),
            ConfigField::dim::<Config::MaxSeqLen>("max_position_embeddings").or_more(),
            ConfigField::dim::<Config::EmbedDim>("hidden_size"),
            ConfigField::dim::<Config::HiddenDim>("intermediate_size"),
            ConfigField::dim::<Config::NumLayers>("num_hidden_layers"),
            ConfigField::dim::<Config::NumHeads>("num_attention_heads"),
            ConfigField::dim::<Config::NumKeyValueHeads>("num_key_value_heads"),
            ConfigField::dim::<Config::HeadDim>("head_dim"),
            ConfigField::dim::<Config::WindowLen>("sliding_window"),
            // Files until transformers 4.52 have a number in place of the list.
            or_absent_if(Config::LAYERS_PER_GLOBAL == 6, types).or_absent_beside("sliding_window_pattern"),
            ConfigField::number("sliding_window_pattern", Config::LAYERS_PER_GLOBAL as f64).or_absent(),
            number_or_default("query_pre_attn_scalar", Config::QUERY_PRE_ATTN_SCALAR, 256.0),
            number_or_default("rms_norm_eps", Config::NORM_EPSILON, 1e-6),
            ConfigField::text("hidden_activation", &["gelu_pytorch_tanh"]).or_absent(),
            global.also_called("rope_parameters.full_attention.rope_theta"),
            local.also_called("rope_parameters.sliding_attention.rope_theta"),
            default("rope_parameters.full_attention.rope_type"),
            default("rope_parameters.sliding_attention.rope_type"),
            ConfigField::absent("rope_scaling"),
            ConfigField::absent("attn_logit_softcapping"),
            ConfigField::absent("final_logit_softcapping"),
            ConfigField::flag("use_bidirectional_attention", false).or_absent(),
            ConfigField::flag("is_causal", true).or_absent(),
            ConfigField::flag("attention_bias", false).or_absent(),
            ConfigField::flag("tie_word_embeddings", true).or_absent(),
        ]
    }
}
