//! A teacher is not updated by the gradients of its student.
//! Covers `Model` of `train::GradientsOf`.
//! Right with `student` for `teacher` in line 15.
use typed_transformer::{nn::Linear, train::{Adam, update}, prelude::*};

dims! { Batch; Len; VocabSize = 28; Wide = 64; Narrow = 8; }

type Teacher = Linear<Wide, VocabSize, f32, Cpu>;
type Student = Linear<Narrow, VocabSize, f32, Cpu>;
type Logits<Tape> = Tensor<(Batch, Len, VocabSize), f32, Cpu, Tape>;

fn learn(teacher: &mut Teacher, student: &mut Student, logits: Logits<NoneTape>, labels: &LabelIds<Batch, Len, VocabSize>) {
    let logits = logits.put_tape(student.recording());
    let gradients = cross_entropy(logits, labels, Reduction::MeanAll).unwrap().backward().unwrap();
    update(teacher, gradients, &mut Adam::default(), 1e-3, 1.0).unwrap();
}

fn main() {}
