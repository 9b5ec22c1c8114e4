//! Programs that typed-transformer refuses to compile are in `fail`, their test in `tests/ui.rs`.
