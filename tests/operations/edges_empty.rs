//! Every operation on a batch of 0 and on sequences of length 0, with kernels and without.

use dfdx::{shapes::Unit, tensor::TensorFromVec};
use typed_transformer::dims::Windows;
use typed_transformer::nn::{Bf16, Layers, WithPrecision};
use typed_transformer::ops::*;
use typed_transformer::prelude::*;
use typed_transformer::ranks::Ranks;
use typed_transformer::tokens::Indices;
use typed_transformer::train::{Recording, Sgd, update};

typed_transformer::ranks! { World; }
dims! {
    Batch; Len <= MaxLen; Other; MaxLen = 8; Two = 2; Last = 2; EmbedDim: Sum<Two, Last>; HiddenDim = 3; Zero = 0;
    NumHeads = 2; HeadDim = 2; Height = 4; PatchHeight = 2; NumBuckets = 4; Classes = 3; Kernel = 2; Stride = 1;
    Padding = 1;
}
type Side = Product<NumHeads, HeadDim>;
type Taped<Dims, E> = Tensor<Dims, E, Cpu, Recording<(), E, Cpu>>;
/// The number of elements of a result, or its error.
type Outcome = Result<usize, OpError>;

fn zeros_of<Dims: Shape, E: Real>(shape: Dims) -> Tensor<Dims, E, Cpu>
where
    Cpu: Backend<E>,
{
    Cpu::default().tensor_from_vec(vec![E::zero(); shape.num_elements()], shape)
}

fn taped<Dims: Shape, E: Real>(shape: Dims) -> Taped<Dims, E>
where
    Cpu: Backend<E>,
{
    zeros_of(shape).put_tape(Recording::default())
}

fn outcome<Dims: Shape, E: Unit, T>(result: Result<Tensor<Dims, E, Cpu, T>, OpError>) -> Outcome {
    result.map(|tensor| tensor.shape().num_elements())
}

macro_rules! outcomes {
    ($($name:ident => $result:expr;)*) => {
        vec![$((stringify!($name), outcome($result))),*]
    };
}

/// Each operation on a batch and sequences of these sizes, which may be 0.
fn outcomes<E: Real>(batch: usize, len: usize) -> Vec<(&'static str, Outcome)>
where
    Cpu: Backend<E>,
{
    let device = Cpu::default();
    let (batch, len) = (Batch::new(batch), Len::new(len).unwrap());
    let shape = (batch, len, EmbedDim);
    let x = || taped::<_, E>(shape);
    let y = || zeros_of::<_, E>(shape);
    let vector = || zeros_of::<_, E>((EmbedDim,));
    let heads = || taped::<_, E>((batch, NumHeads, len, HeadDim));
    let no_heads = || taped::<_, E>((Len::new(3).unwrap(), batch, HeadDim));
    let side = || taped::<_, E>((batch, len, Side::default()));
    let grouped = || taped::<_, E>((batch, len, Product::<Product<NumHeads, Const<1>>, HeadDim>::default()));
    let image = || taped::<_, E>((batch, Two, Height, Height));
    let weight = || zeros_of::<_, E>((HiddenDim, EmbedDim));
    let mask = || AttentionMask::all_visible((batch, len, len));
    let padding = PaddingMask::without_padding((batch, len));
    let positions = Indices::new(&vec![0; batch.size() * len.size()], (batch, len), Classes).unwrap();
    let of_axis = Indices::new(&[], (Other::new(0),), len).unwrap();
    let table = || zeros_of::<_, E>((Classes, EmbedDim));
    let logits = || taped::<_, E>((batch, len, Classes));
    let buckets = RelativeBuckets { bidirectional: true, max_distance: 8 };
    let rows = || taped::<_, E>((batch, EmbedDim));

    outcomes! {
        relu => Relu::apply(x());
        sigmoid => Sigmoid::apply(x());
        tanh => Tanh::apply(x());
        silu => Silu::apply(x());
        gelu => Gelu::apply(x());
        gelu_tanh => GeluTanh::apply(x());
        softplus => Softplus::apply(x());
        exp => Exp::apply(x());
        sqrt => Sqrt::apply(x());
        ln => Ln::apply(x());
        abs => Abs::apply(x());
        scale => scale(x(), 2.0);
        offset => offset(x(), 2.0);
        round_to_bf16 => round_to_bf16(x());
        detach => detach(&x());
        alibi => alibi::<_, _, _, E, _>(&device, NumHeads, 0, len, len);
        argmax => argmax(&x(), axis::<EmbedDim>()).map(|found| zeros_of::<_, E>(found.shape()));
        add => add(x(), &vector());
        sub => sub(x(), &y());
        mul => mul(x(), x());
        div => div(x(), &vector());
        maximum => maximum(x(), &vector());
        minimum => minimum(x(), &y());
        attention => attention(heads(), heads(), heads(), &mask(), AttentionOptions::default());
        attention_weights => attention_weights(heads(), heads(), &mask(), AttentionOptions::default());
        multi_head_attention => multi_head_attention(side(), side(), side(), &mask(), AttentionOptions::default());
        grouped_query_attention =>
            grouped_query_attention(grouped(), side(), side(), &mask(), AttentionOptions::default());
        broadcast => broadcast(taped::<_, E>((len, EmbedDim)), shape, axis::<Batch>());
        eq => eq(&y(), 0.0);
        ne => ne(&y(), y());
        gt => gt(&y(), 0.0);
        ge => ge(&y(), 0.0);
        lt => lt(&y(), 0.0);
        le => le(&y(), 0.0);
        concat => concat::<_, _, _, _, Sum<_, _>, _, _, _, _>(
            x(), taped((batch, Other::new(0), EmbedDim)), along::<Len, Other>());
        concat_with_elements => concat::<_, _, _, _, Sum<_, _>, _, _, _, _>(
            x(), taped((Other::new(2), len, EmbedDim)), along::<Batch, Other>());
        narrow => narrow(x(), axis::<EmbedDim>(), 0, Two);
        slice => slice(x(), axis::<EmbedDim>(), 1, Two);
        slice_last => slice_last(x(), axis::<Len>(), Other::new(0));
        tensor => tensor(&device, Vec::<E>::new(), shape);
        full => full::<_, E, _>(&device, shape, 1.0);
        zeros => zeros::<_, E, _>(&device, shape);
        iota => iota::<_, E, _>(&device, len);
        normal => normal::<_, E, _>(&device, shape, &mut rand::thread_rng());
        one_hot => one_hot::<_, (Batch, Len, Classes), _, _, E, _>(&device, &positions);
        conv1d => conv1d(x(), &zeros_of((HiddenDim, EmbedDim, Kernel)), None, Stride, Padding);
        conv1d_without_padding => conv1d(x(), &zeros_of((HiddenDim, EmbedDim, Kernel)), None, Stride, Zero);
        conv2d => conv2d(image(), &zeros_of((HiddenDim, Height, Kernel, Kernel)), None, Stride, Padding);
        cross_entropy => cross_entropy(logits(), &positions, Reduction::MeanAll);
        cross_entropy_by_position => cross_entropy_by_position(logits(), &positions);
        cumsum => cumsum(x(), axis::<Len>());
        dropout => dropout(x(), 0.5);
        einsum => einsum!(x(): (Batch, Len, EmbedDim), &weight(): (HiddenDim, EmbedDim) -> (Batch, Len, HiddenDim));
        einsum_of_one => einsum!(x(): (Batch, Len, EmbedDim) -> (Len, Batch));
        rearrange =>
            rearrange!(side(): (Batch, Len, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, Len, HeadDim));
        embed => embed(&table(), &TokenIds::from(positions.clone()), Recording::<(), E, Cpu>::default());
        gather => gather(taped::<_, E>((batch, Classes)), axis::<Classes>(), &positions);
        take => take(x(), axis::<Len>(), &of_axis);
        split_heads => split_heads(side());
        merge_heads => merge_heads(heads());
        kl_divergence => kl_divergence(logits(), &zeros_of((batch, len, Classes)), &padding, Reduction::Sum);
        layer_norm => layer_norm(x(), &vector(), Some(&vector()), 1e-5);
        layer_norm_of_no_columns =>
            layer_norm(taped::<_, E>((Two, Zero)), &zeros_of((Zero,)), Some(&zeros_of((Zero,))), 1e-5);
        rms_norm => rms_norm(x(), &vector(), 1e-5);
        linear => linear(x(), &weight(), Some(&zeros_of((HiddenDim,))));
        linear_of_rows => linear(rows(), &weight(), None);
        linear_of_no_columns => linear(taped::<_, E>((Two, Zero)), &zeros_of((HiddenDim, Zero)), None);
        linear_to_no_columns => linear(taped::<_, E>((Two, EmbedDim)), &zeros_of((Zero, EmbedDim)), None);
        linear_in_bf16 => linear_in_bf16(x(), &weight(), Some(&zeros_of((HiddenDim,))));
        layer => Linear::<EmbedDim, HiddenDim, E, Cpu>::build(&device).forward(x());
        layer_of_no_columns => Linear::<Zero, HiddenDim, E, Cpu>::build(&device).forward(taped::<_, E>((Two, Zero)));
        mean_squared_error => mean_squared_error(x(), &y());
        binary_cross_entropy => binary_cross_entropy(x(), &y());
        binary_cross_entropy_by_element => binary_cross_entropy_by_element(x(), &y());
        masked_mean => masked_mean(x(), &padding);
        mean => mean(x());
        partial_cross_entropy => {
            let loss = Ranks::<World>::in_threads(1, |ranks| {
                let rows = ranks.shard(batch);
                let labels = Indices::new(&vec![0; batch.size() * len.size()], (rows, len), Classes).unwrap();
                let logits = zeros_of::<_, E>((rows, len, Classes));
                partial_cross_entropy(logits, &labels, Reduction::Sum).map(drop)
            });
            loss[0].clone().map(|_| zeros_of::<_, E>(()))
        };
        partial_mean => {
            let term = Ranks::<World>::in_threads(1, |ranks| {
                let rows = ranks.shard(batch);
                partial_mean(zeros_of::<_, E>((rows, len, EmbedDim)), rows).map(drop)
            });
            term[0].clone().map(|_| zeros_of::<_, E>(()))
        };
        patches => patches::<_, _, _, _, PatchHeight, PatchHeight, _, _, _>(image());
        permute => permute::<_, (Len, EmbedDim, Batch), _, _, _, _>(x());
        permuted_then_scaled => permute::<_, (Len, EmbedDim, Batch), _, _, _, _>(x()).and_then(|x| scale(x, 2.0));
        permuted_then_softplus => permute::<_, (Len, EmbedDim, Batch), _, _, _, _>(x()).and_then(Softplus::apply);
        permuted_then_reshaped => permute::<_, (Len, Batch, Side), _, _, _, _>(side())
            .and_then(|x| reshape(x, (len, batch, NumHeads, HeadDim)));
        learned_positions => learned_positions::<_, _, _, _, _, NoneTape>(&zeros_of::<_, E>((MaxLen, EmbedDim)), len);
        learned_positions_from => learned_positions_from::<_, _, _, _, _, NoneTape>(
            &zeros_of::<_, E>((MaxLen, EmbedDim)), 8, Other::new(0));
        sinusoidal_positions => sinusoidal_positions::<_, _, E, _>(&device, len, EmbedDim);
        sinusoidal_positions_from => sinusoidal_positions_from::<_, _, E, _>(&device, 3, len, EmbedDim);
        add_positions => add_positions(x(), taped::<_, E>((len, EmbedDim)));
        sum_over => sum_over(x(), axis::<EmbedDim>());
        mean_over => mean_over(x(), axis::<Len>());
        max_over => max_over(x(), axis::<Len>());
        softmax_over => softmax_over(x(), axis::<EmbedDim>());
        log_softmax_over => log_softmax_over(x(), axis::<Len>());
        relative_position_bias =>
            relative_position_bias(&zeros_of::<_, E>((NumBuckets, NumHeads)), buckets, 0, (len, len), NoneTape);
        relative_position_bias_of_queries =>
            relative_position_bias(&zeros_of::<_, E>((NumBuckets, NumHeads)), buckets, 0, (Two, len), NoneTape);
        flatten => flatten::<_, Other, _, _, _, _>(x(), Other::new(batch.size() * len.size()));
        unflatten => unflatten(taped::<_, E>((Other::new(batch.size() * len.size()), EmbedDim)), shape);
        rename => rename(x(), axis::<Batch>(), Other::new(batch.size()));
        reshape => reshape(side(), (batch, len, NumHeads, HeadDim));
        residual => residual(x(), x());
        rotary_positions => rotary_positions(heads(), axis::<Len>(), 0, Rotary::default());
        rotary_positions_of_no_heads => rotary_positions(no_heads(), axis::<Len>(), 0, Rotary::default());
        select => select(x(), axis::<EmbedDim>(), 1);
        split => split(x(), Two, Last, axis::<EmbedDim>()).map(|(one, _)| one);
        stack => stack::<_, (Two, Batch, Len, EmbedDim), _, _, _, _, _>(vec![x(), x()], Two);
        unstack => unstack(x(), axis::<EmbedDim>()).map(|mut parts| parts.remove(1));
        top_k => top_k(x(), axis::<EmbedDim>(), Two).map(|(highest, _)| highest);
        where_ => where_(eq(&zeros_of::<_, E>((batch, len, EmbedDim)), 0.0)
            .unwrap_or_else(|_| device.tensor_from_vec(vec![], shape)), x(), 1.0);
        windows => windows::<_, _, _, (Batch, Len, Windows<EmbedDim, Two>, Two), _, _, _, _, _>(
            x(), axis::<EmbedDim>(), Two);
    }
}

#[test]
fn an_operation_on_nothing_has_one_outcome_with_and_without_kernels() {
    for (batch, len) in [(0, 3), (2, 0), (0, 0), (2, 3)] {
        let (with_kernels, without) = (outcomes::<f32>(batch, len), outcomes::<f64>(batch, len));
        for ((operation, with_kernels), (_, without)) in with_kernels.into_iter().zip(without) {
            assert_eq!(with_kernels, without, "{operation} of batch {batch} and length {len}");
        }
    }
}

#[test]
fn a_stored_weight_without_columns_is_refused() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let map = Linear::<Zero, HiddenDim, E, Cpu>::build(&Cpu::default()).with_precision::<Bf16>().unwrap();
        let error = map.forward(zeros_of::<_, E>((Two, Zero))).err().unwrap();
        assert_eq!(error.to_string(), "linear: (HiddenDim=3, Zero=0) has no elements");
    }
    check::<f32>();
    check::<f64>();
}

/// The parameters of a map of no rows count as used.
#[test]
fn an_update_takes_a_map_of_no_rows() {
    fn check<E: Real>(is_residual: bool)
    where
        Cpu: Backend<E>,
    {
        let mut model = Layers::<Two, Linear<EmbedDim, EmbedDim, E, Cpu>>::build(&Cpu::default());
        let [none, some] = [0, 2].map(|rows| {
            let x = full::<_, E, _>(&Cpu::default(), (Batch::new(rows), EmbedDim), 1.0).unwrap();
            x.put_tape(model.recording())
        });
        let none = model.iter().fold(none, |x, layer| {
            let y = layer.forward(x.clone()).unwrap();
            if is_residual { residual(x, y).unwrap() } else { y }
        });
        let some = rename(some, axis::<Batch>(), Other::new(2)).unwrap();
        let both = concat::<_, _, _, _, Sum<Batch, Other>, _, _, _, _>(none, some, along::<Batch, Other>()).unwrap();
        let gradients = mean(both).unwrap().backward().unwrap();
        assert_eq!(update(&mut model, gradients, &mut Sgd::default(), 0.1, f64::INFINITY).unwrap(), 0.0);
    }
    for is_residual in [false, true] {
        check::<f32>(is_residual);
        check::<f64>(is_residual);
    }
}

/// A batch of no rows changes no gradient.
#[test]
fn a_backward_pass_goes_through_no_rows() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let tape = Recording::<(), E, Cpu>::default();
        let weight: Tensor<(HiddenDim, EmbedDim), E, Cpu> = zeros_of((HiddenDim, EmbedDim));
        let [none, some] = [0, 2].map(|rows| {
            let x = full::<_, E, _>(&Cpu::default(), (Batch::new(rows), EmbedDim), 1.0).unwrap();
            linear(x.put_tape(tape.clone()), &weight, None).unwrap()
        });
        let some = rename(some, axis::<Batch>(), Other::new(2)).unwrap();
        let both = concat::<_, _, _, _, Sum<Batch, Other>, _, _, _, _>(none, some, along::<Batch, Other>()).unwrap();
        let sums = sum_over(sum_over(both, axis::<Sum<Batch, Other>>()).unwrap(), axis::<HiddenDim>()).unwrap();
        let gradient = sums.backward().unwrap().of(&weight).unwrap().as_vec();
        assert_eq!(gradient, [E::one() + E::one(); 12]);
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn the_shape_of_a_mask_is_not_ambiguous() {
    let mask = gt(&zeros_of::<_, f32>((Batch::new(2), Two)), 0.0).unwrap();
    assert_eq!(*mask.shape(), (Batch::new(2), Two));
}
