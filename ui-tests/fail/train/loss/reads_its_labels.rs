//! A decoder does not read its own labels.
//! Right with `inputs` for `labels` in line 16.
use typed_transformer::prelude::*;

dims! { Letters = 28; Sounds = 44; MaxLen = 12; SrcLen = 5; TgtLen = 7; Batch; }

trait Speech: Seq2Seq<SrcVocab = Letters, TgtVocab = Sounds, MaxSrcLen = MaxLen, MaxTgtLen = MaxLen> {}

fn loss<M: Speech>(
    model: &LM<M, f32, Cpu>,
    source: &TokenIds<Batch, SrcLen, Letters>,
    target: TokenIds<Batch, TgtLen, Sounds>,
    start: Fin<Sounds>,
) -> Result<f32, OpError> {
    let (inputs, labels) = target.teacher_forcing(start);
    let output = model.forward(source, &labels, model.recording())?;
    let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanAll)?;
    Ok(loss.array())
}

fn main() {}
