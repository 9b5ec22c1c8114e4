//! The program of *From a paper to a module* (`docs/llama.md`): a Llama block, step by step and from the crate's
//! modules. It prints the parameters of both and the shape of an output.
//!
//! `program.rs` is a file of its own because the doc tests of the page include it.

use typed_transformer::nn::Module;

include!("program.rs");

type AttentionModule = GroupedQueryAttention<EmbedDim, CausalMask, Llama, f32, Cpu>;
type FeedForwardModule = GatedFeedForward<EmbedDim, Llama, f32, Cpu>;

fn main() {
    println!("step by step: {} parameters", Block::<f32, Cpu>::NUM_PARAMS);
    println!("from modules: {} parameters", AttentionModule::NUM_PARAMS + FeedForwardModule::NUM_PARAMS);

    local_dims! { let len: SeqLen = 7; }
    let device = Cpu::seed_from_u64(0);
    let x: Tensor<(Const<1>, SeqLen, EmbedDim), f32, Cpu> = device.zeros_like(&(Const, len, EmbedDim));
    let output = Block::build(&device).forward(x, &PaddingMask::without_padding((Const, len)));
    println!("output: {:?}", output.shape());
}
