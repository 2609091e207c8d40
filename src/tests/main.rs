//! What users of the library see, and what the whole tree is held against. One test binary, so that it is compiled once.

mod imports;
mod library;
mod random_scenarios;
mod seeds;
mod tidy;
mod verdicts;
