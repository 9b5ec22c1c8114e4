//! The trials of the guide on its program, in its words; `documentation` compares them.

/// The program of the guide.
#[allow(dead_code)]
mod program {
    include!("../../examples/own_model/program.rs");

    #[test]
    #[rustfmt::skip]
    fn dimensions() {
        let shape = (Batch::new(32), WordLen::new(5).unwrap(), EmbedDim);
        assert_eq!(format!("{shape:?}"), "(Batch=32, WordLen=5, EmbedDim=16)");

        let error = WordLen::new(9).unwrap_err();
        assert_eq!(error.to_string(), "`WordLen` of 9 is longer than `MaxLen` of 8");
    }

    #[test]
    #[rustfmt::skip]
    fn tokens_of_words() {
        let two = examples(Batch::new(2), &["dim".into(), "model".into()]).unwrap();
        assert_eq!(
            format!("{:?}", two.words),
            "TokenIds (Batch=2, WordLen=5) of VocabSize=27 [[3, 8, 12, 26, 26], [12, 14, 3, 4, 11]]",
        );
        assert_eq!(
            format!("{:?}", two.ends),
            "LabelIds (Batch=2, Ends=2) of Letters=26 [[3, 12], [12, 11]]",
        );

        let error = |word: &str| examples(Batch::new(1), &[word.into()]).err().unwrap().to_string();
        assert_eq!(error("dïm"), "'ï' at position 1 is not one of the 26 characters of the vocabulary");
        assert_eq!(error("dimensions"), "`WordLen` of 10 is longer than `MaxLen` of 8");
        assert_eq!(error(""), "a batch needs at least one row and one position, but it is (Batch=1, WordLen=0)");
    }

    #[test]
    #[rustfmt::skip]
    fn the_summary() {
        use typed_transformer::nn::Summary;
        let summary = Summary::of::<Pool<EmbedDim, Bottleneck, Ends, f32, Cpu>>();
        assert_eq!(summary.to_string(), "\
path     module  output              parameters                                                count
         Pool    (.., EmbedDim=16)
squeeze  Linear  (.., Bottleneck=8)  weight (Bottleneck=8, EmbedDim=16), bias (Bottleneck=8,)    136
score    Linear  (.., Ends=2)        weight (Ends=2, Bottleneck=8), bias (Ends=2,)                18
total                                                                                            154");
    }

    #[test]
    #[rustfmt::skip]
    fn a_wider_model_is_not_loaded() {
        let device = Cpu::default();
        let path = std::env::temp_dir().join(format!("a_wider_model-{}.safetensors", std::process::id()));
        let wider = Linear::<HiddenDim, Letters, f32, Cpu>::build(&device);
        weights::save(&wider, &path).unwrap();
        let error = weights::load::<Linear<EmbedDim, Letters, f32, Cpu>, _, _>(&path, &device).unwrap_err();
        assert_eq!(error.to_string(), "`weight` should be (Letters=26, EmbedDim=16) but is [26, 32]");
        std::fs::remove_file(&path).unwrap();
    }
}
