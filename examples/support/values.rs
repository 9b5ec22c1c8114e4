//! Values from the command line and the environment, checked before anything starts.

use clap::{Arg, Parser, error::ErrorKind};
use std::env;

/// More sequences per batch would only fill the memory.
const MAX_BATCH: usize = 10_000;
/// The most steps or samples: more than a lifetime's.
const MAX_COUNT: usize = 1_000_000_000;
/// The variable that sets rayon's number of threads, by its name and by its older name; 0 stands for one thread per
/// processor.
const THREADS: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];
/// More threads would only wait for each other.
const MAX_THREADS: usize = 1_024;

const NO_NUMBER: &str = "it must be a number";

/// Parses the command line, and checks the number of threads. Ends the program if either is wrong.
pub fn parse<Cli: Parser>() -> Cli {
    // `-1` is a wrong value of an option, not another option.
    let with_negative_numbers = |arg: Arg| {
        let is_option = !arg.is_positional() && arg.get_action().takes_values();
        arg.allow_negative_numbers(is_option)
    };
    let mut command = Cli::command().name(env!("CARGO_BIN_NAME")).mut_args(with_negative_numbers);
    let matches = command.get_matches_mut();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit());
    for (variable, threads) in THREADS.iter().filter_map(|variable| Some((variable, env::var_os(variable)?))) {
        let number = threads.to_str().and_then(|text| text.parse().ok());
        if !matches!(number, Some(0..=MAX_THREADS)) {
            let message =
                format!("{variable} must be a number from 0 to {MAX_THREADS}, but it is `{}`", threads.display());
            command.error(ErrorKind::InvalidValue, message).exit();
        }
    }
    cli
}

/// Parses `--batch`.
pub fn batch_size(text: &str) -> Result<usize, String> {
    number(text, 1, MAX_BATCH)
}

/// Parses a number of steps or samples.
pub fn count(text: &str) -> Result<usize, String> {
    number(text, 0, MAX_COUNT)
}

fn number(text: &str, min: usize, max: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number < min => Err(format!("it must be at least {min}")),
        Ok(number) if number > max => Err(format!("it must be at most {max}")),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("it must be a whole number from {min} to {max}")),
    }
}

/// Parses a number of percent.
pub fn percent(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=100.0).contains(&number) => Ok(number),
        Ok(_) => Err("it must be from 0 to 100".into()),
        Err(_) => Err(NO_NUMBER.into()),
    }
}

/// Parses a power.
pub fn power(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if !number.is_finite() => Err("it must be finite".into()),
        Ok(number) => Ok(number),
        Err(_) => Err(NO_NUMBER.into()),
    }
}

/// Parses a learning rate.
pub fn learning_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if !number.is_finite() || number <= 0.0 => Err("it must be above 0 and finite".into()),
        // The parameters are numbers of this type.
        Ok(number) if !(number as f32).is_normal() => Err("it must be in the range of f32".into()),
        Ok(number) => Ok(number),
        Err(_) => Err(NO_NUMBER.into()),
    }
}
