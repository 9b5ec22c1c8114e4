/// The place of the norm in a block. `f` is a sublayer: an attention or a feed-forward layer.
///
/// ```
/// use typed_transformer::nn::NormPlacement;
/// assert!(NormPlacement::Pre.has_final_norm() && !NormPlacement::Post.has_final_norm());
/// assert!(NormPlacement::PostShared.per_block());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlacement {
    /// After each sublayer: `norm(x + f(x))` (*Attention Is All You Need*, 3.1).
    Post,
    /// Before each sublayer, `x + f(norm(x))`, and after the last block
    /// ([Radford et al., 2019](https://openai.com/index/better-language-models/), 2.3).
    Pre,
    /// Like [`Post`](Self::Post), with one norm for all sublayers of a block (*Learning the Transformer*).
    PostShared,
}

impl NormPlacement {
    /// Whether each sublayer has a norm of its own.
    pub const fn per_sublayer(self) -> bool {
        !self.per_block()
    }

    /// Whether each block has a norm that its sublayers share.
    pub const fn per_block(self) -> bool {
        matches!(self, Self::PostShared)
    }

    /// Whether there is a norm after the last block.
    pub const fn has_final_norm(self) -> bool {
        matches!(self, Self::Pre)
    }
}
