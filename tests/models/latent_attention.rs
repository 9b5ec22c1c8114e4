//! `LatentAttention` computes what the attentions of DeepSeek-V2 and V3 in HuggingFace's `transformers` compute: outputs,
//! gradients, and steps with a cache.

use crate::hugging_face::{compare_both, reference};
use crate::numbers::device;
use crate::parity::{Fixture, as_f64, assert_close, compare_gradients};
use crate::recorded::OwnTape;
use dfdx::tensor::{AutoDevice, PutTape};
use std::marker::PhantomData;
use typed_transformer::nn::{CachedHeads, LatentArch, LatentAttention, LatentCache, LatentHeads};
use typed_transformer::ops::{mean, slice};
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;

dims! {
    Batch = 2; SeqLen = 9; MaxLen = 40; Part;
    EmbedDim = 24; NumHeads = 3; QueryLatentDim = 12; ShortLatentDim = 4; LatentDim = 10; PlainDim = 8; RotaryDim = 6; ValueDim = 4;
}

struct Config<Latent>(PhantomData<fn() -> Latent>);
impl<Latent: ConstDim> LatentArch for Config<Latent> {
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type QueryLatentDim = QueryLatentDim;
    type LatentDim = Latent;
    type PlainDim = PlainDim;
    type RotaryDim = RotaryDim;
    type ValueDim = ValueDim;
}

const NAMES: &str = "
    query_down = q_a_proj.weight
    query_norm = q_a_layernorm.weight
    query_up = q_b_proj.weight
    down = kv_a_proj_with_mqa.weight
    norm = kv_a_layernorm.weight
    up = kv_b_proj.weight
    output = o_proj.weight
";

fn agrees<Latent: ConstDim, E: Element>(name: &str)
where
    AutoDevice: Backend<E>,
{
    let reference = reference(name);
    let attention: LatentAttention<Config<Latent>, E, AutoDevice> =
        Fixture::read(&format!("hugging_face/{name}/model")).load(NAMES);
    let x = sequences::<E>(&reference, "input.x");

    let mask = mk_mask::<CausalMask, PadSourceKeys, _, _>(&PaddingMask::without_padding((Batch, SeqLen)));
    let attended = attention.forward(x.clone().put_tape(OwnTape::default()), 0, &mask, Ok).unwrap();
    assert_close("attended", &as_f64(&attended), reference.numbers("output.attended"), 1e-5);
    let names = NAMES.replace(" = ", " = grads.") + "\nignore input.*\nignore output.*\nignore loss";
    let loss = mean(attended.square()).unwrap();
    assert_close("loss", &as_f64(&loss), reference.numbers("loss"), 1e-5);
    compare_gradients(&attention, loss, &reference.load(&names));

    // With a cache, 5 positions and then one at a time.
    let mut cache = LatentCache::<Batch, MaxLen, Config<Latent>, E, AutoDevice>::new(&device(), Batch).unwrap();
    let steps = sequences::<E>(&reference, "output.steps");
    for range in [0..5, 5..6, 6..7, 7..8, 8..9] {
        let part = Part::new(range.len());
        let new = slice(x.clone(), axis::<SeqLen>(), range.start, part).unwrap();
        let mask = cache.mask(part);
        let step = attention.forward(new, cache.len(), &mask, |new| cache.update(new)).unwrap();
        let expected = slice(steps.clone(), axis::<SeqLen>(), range.start, part).unwrap();
        assert_close("step", &as_f64(&step), &as_f64(&expected), 1e-5);
    }
}

fn sequences<E: Element>(reference: &Fixture, key: &str) -> Tensor<(Batch, SeqLen, EmbedDim), E, AutoDevice>
where
    AutoDevice: Backend<E>,
{
    device().tensor((reference.elements(key), (Batch, SeqLen, EmbedDim)))
}

fn deepseek_v2_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    // A vector that is short beside the heads: the queries go to the latent vectors in training, too.
    agrees::<ShortLatentDim, E>("deepseek_v2");
}

fn deepseek_v3_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    agrees::<LatentDim, E>("deepseek_v3");
}

compare_both!(deepseek_v2_agrees, deepseek_v3_agrees);

/// The columns of a position in the cache do not depend on the number of heads.
#[test]
fn a_cache_holds_one_head() {
    type Held = LatentHeads<Config<LatentDim>>;
    let columns = <Held as CachedHeads>::QKDim::SIZE + <Held as CachedHeads>::VODim::SIZE;
    let mut cache = LatentCache::<Batch, MaxLen, Config<LatentDim>, f32, AutoDevice>::new(&device(), Batch).unwrap();
    cache.append::<SeqLen>(&device().zeros(), &device().zeros()).unwrap();
    let held = cache.keys().as_vec().len() + cache.values().as_vec().len();
    assert_eq!(held, Batch::SIZE * cache.keys().shape().1.size() * columns);
    assert_eq!(columns, 16);
}
