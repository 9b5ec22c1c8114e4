mod words;
use dfdx::prelude::{AsArray, Backward, BuildModule, Cpu, OwnedTape};
use rand::{SeedableRng, rngs::StdRng};
use typed_transformer::{
    generate::greedy,
    models::another_annotated::Annotated,
    nn::Module,
    prelude::*,
    train::{Adam, Schedule, WarmupCosine, cross_entropy, update},
};
use words::*;
dims! { pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 5; pub NumLayers = 1; }
pub struct Rot13;
impl Arch for Rot13 {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Style = Annotated;
}
impl Seq2Seq for Rot13 {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = MaxSeqLen;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type EncoderLayers = NumLayers;
    type DecoderLayers = NumLayers;
}
type Model = LM<Rot13, f32, Cpu>;
const _: () = assert!(Model::NUM_PARAMS == 4_665);
fn main() {
    let env = |k: &str, d: f64| {
        std::env::var(k)
            .ok()
            .and_then(|s| s.parse().ok())
            .unwrap_or(d)
    };
    let steps = env("STEPS", 2000.) as usize;
    let b = env("BATCH", 50.) as usize;
    let s = WarmupCosine {
        peak: env("PEAK", 1e-2),
        last: env("LAST", 1e-4),
        warmup_steps: env("WARM", 100.) as usize,
        steps,
    };
    for seed in env("FROM", 0.) as u64..env("TO", 3.) as u64 {
        let mut rng = StdRng::seed_from_u64(seed);
        let device = Cpu::seed_from_u64(seed);
        let mut model = Model::build(&device);
        let mut adam = Adam::default();
        adam.beta2 = env("BETA2", 0.999);
        let t = std::time::Instant::now();
        let mut last = 0.0;
        let mut log = String::new();
        for step in 0..steps {
            let words: Vec<_> = (0..b).map(|_| random(&mut rng)).collect();
            let ciphers: Vec<_> = words.iter().map(|w| rot13(w)).collect();
            let source = batch(&words, SrcLen).unwrap();
            let labels = batch(&ciphers, TgtLen).unwrap();
            let out = model.forward(&source, &labels.shifted_right(START), OwnedTape::default());
            let loss = cross_entropy(out.logit_output, &labels, Average::EveryPosition);
            last = loss.array();
            if (step + 1) % 250 == 0 {
                log += &format!("{last:.3} ");
            }
            update(
                &mut model,
                loss.backward(),
                &mut adam,
                s.learning_rate(step),
                env("CLIP", 1.0),
            )
            .unwrap();
        }
        let dt = t.elapsed();
        let t = std::time::Instant::now();
        let words: Vec<_> = (0..1000).map(|_| random(&mut rng)).collect();
        let written = greedy(&model, &batch(&words, SrcLen).unwrap(), START, PAD, TgtLen);
        let ok = words
            .iter()
            .enumerate()
            .filter(|(i, w)| {
                let r: Vec<_> = written
                    .row(*i)
                    .unwrap()
                    .into_iter()
                    .take_while(|t| *t != PAD)
                    .collect();
                r == rot13(w)
            })
            .count();
        println!(
            "seed {seed} loss {last:.5} ok {ok} train {dt:.2?} decode {:.2?}  {log}",
            t.elapsed()
        );
    }
}
