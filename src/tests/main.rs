//! What users of the library see, and what the whole tree is held against. One test binary, so that it is compiled once.

mod imports;
mod library;
mod material;
mod own_property;
mod programs;
mod random_scenarios;
mod reference;
mod rounds;
mod schedulers;
mod schema;
mod seeds;
mod tidy;
mod tutorial;
mod vary;
mod verdicts;
mod words;
