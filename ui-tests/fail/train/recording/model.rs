//! A recording of one model does not merge with that of another one.
//! Covers `Model` of `train::Recording`.
//! Right with `student` for `teacher` in line 13.
use typed_transformer::{nn::Linear, train::Recording, prelude::*};

dims! { VocabSize = 28; Wide = 64; Narrow = 8; }

type Teacher = Linear<Wide, VocabSize, f32, Cpu>;
type Student = Linear<Narrow, VocabSize, f32, Cpu>;
type Logits = Tensor<(VocabSize,), f32, Cpu, Recording<Student, f32, Cpu>>;

fn bias(teacher: &Teacher, student: &Student) -> Logits {
    student.bias.clone().put_tape(teacher.recording())
}

fn main() {}
