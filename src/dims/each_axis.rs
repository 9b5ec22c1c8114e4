/// Calls the macro `$declare` for each axis of the shapes of 1 to 6 axes, as `2: (A I) (B J) [C] F G`: the position of
/// the axis, the axes before it, the axis, and those after it. An axis before it has a second letter, which may stand
/// for an axis of another shape.
macro_rules! for_each_axis {
    ($declare:ident) => {
        $declare!(0: [A]);
        $declare!(0: [A] B);
        $declare!(1: (A I) [B]);
        $declare!(0: [A] B C);
        $declare!(1: (A I) [B] C);
        $declare!(2: (A I) (B J) [C]);
        $declare!(0: [A] B C F);
        $declare!(1: (A I) [B] C F);
        $declare!(2: (A I) (B J) [C] F);
        $declare!(3: (A I) (B J) (C K) [F]);
        $declare!(0: [A] B C F G);
        $declare!(1: (A I) [B] C F G);
        $declare!(2: (A I) (B J) [C] F G);
        $declare!(3: (A I) (B J) (C K) [F] G);
        $declare!(4: (A I) (B J) (C K) (F L) [G]);
        $declare!(0: [A] B C F G H);
        $declare!(1: (A I) [B] C F G H);
        $declare!(2: (A I) (B J) [C] F G H);
        $declare!(3: (A I) (B J) (C K) [F] G H);
        $declare!(4: (A I) (B J) (C K) (F L) [G] H);
        $declare!(5: (A I) (B J) (C K) (F L) (G M) [H]);
    };
}
pub(crate) use for_each_axis;

/// Calls the macro `$declare` for these axes, for all but the first, and so on, down to none.
macro_rules! for_each_shape {
    ($declare:ident:) => {
        $declare!();
    };
    ($declare:ident: $first:tt $($rest:tt)*) => {
        $declare!($first $($rest)*);
        for_each_shape!($declare: $($rest)*);
    };
}
pub(crate) use for_each_shape;
