//! A model that is `Pretrained` has a type: nothing else says which model a folder holds.
//! Right with `Model` for `_` in line 11.
use typed_transformer::{models::published::gpt2, weights::{LoadError, Pretrained}};

type Model = gpt2::Model;

trait Folder {
    fn open<Any: Pretrained>(&self) -> Result<Any, LoadError>;
}
fn open(folder: &impl Folder) -> Result<(), LoadError> {
    let _model: _ = folder.open()?;
    Ok(())
}

fn main() {}
