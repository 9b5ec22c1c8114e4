//! A pass of one model does not add to the gradients of another one.
//! Right with `student` for `teacher` in line 12.
use typed_transformer::{nn::Linear, prelude::*, train::{GradientsOf, Recording}};

dims! { VocabSize = 28; Wide = 64; Narrow = 8; }

type Teacher = Linear<Wide, VocabSize, f32, Cpu>;
type Student = Linear<Narrow, VocabSize, f32, Cpu>;

fn next_part(teacher: &Teacher, student: &Student) {
    let _ = (teacher, student);
    let _tape: Recording<Student, f32, Cpu> = GradientsOf::zeros(teacher).into_recording();
}

fn main() {}
