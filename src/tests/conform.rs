//! The model held against recorded answers of a real agent, and against a live one where there is one.

use fencepost::conform::{Possible, judge, read};
use fencepost::model::mutation::Mutation;

#[test]
fn tmp_mutants() {
    let text = std::fs::read_to_string("/tmp/h/rec.jsonl").unwrap();
    let episodes = read(&text).unwrap();
    for mutation in Mutation::ALL {
        println!(
            "{mutation:?}: {:?}",
            judge(&episodes, Some(*mutation))
                .map(|p: Possible| p.lines)
                .map_err(|i| i.to_string()[..i.to_string().len().min(150)].to_string())
        );
    }
}
