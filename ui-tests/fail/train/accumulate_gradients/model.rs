//! A pass of one model does not add to the gradients of another one.
//! Covers `Model` of `train::accumulate_gradients`.
//! Right with `student` for `teacher` in line 13.
use typed_transformer::{nn::Linear, train::{GradientsOf, Recording, accumulate_gradients}, prelude::*};

dims! { VocabSize = 28; Wide = 64; Narrow = 8; }

type Teacher = Linear<Wide, VocabSize, f32, Cpu>;
type Student = Linear<Narrow, VocabSize, f32, Cpu>;

fn next_part(teacher: &Teacher, student: &Student) -> Recording<Student, f32, Cpu> {
    let _ = (teacher, student);
    accumulate_gradients(GradientsOf::zeros(teacher))
}

fn main() {}
