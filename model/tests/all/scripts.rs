//! Hand-written runs with recorded answers. `UPDATE_EXPECT=1 cargo test` records anew; commit the difference only if you
//! can explain it.

use std::path::Path;
use std::{env, fs};

use fencepost::catalogue;

macro_rules! scripts {
    ($($name:ident: $file:literal,)*) => {
        $(#[test] fn $name() { check($file); })*
    };
}

scripts! {
    the_lease_counts_from_the_request: "lease/scripts/the_lease_counts_from_the_request.txt",
    b_01_the_paused_holder: "consul/scripts/b01_the_paused_holder.txt",
    c_lck_10_cleanup_leaves_a_key_in_use_alone: "consul/scripts/c_lck_10_cleanup_leaves_a_key_in_use_alone.txt",
    c_le_1_a_third_party_discovers_the_leader: "consul/scripts/c_le_1_a_third_party_discovers_the_leader.txt",
    a_late_answer_is_not_heard: "consul/scripts/a_late_answer_is_not_heard.txt",
    a_pause_lifts_the_bounds_for_one_process: "consul/scripts/a_pause_lifts_the_bounds_for_one_process.txt",
    a_crash_forgets_the_session: "consul/scripts/a_crash_forgets_the_session.txt",
    a_cut_link_holds_one_direction_back: "consul/scripts/a_cut_link_holds_one_direction_back.txt",
}

fn check(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("services").join(file);
    let script = fs::read_to_string(&path).expect("the script is there");
    let name = script.lines().find_map(|line| line.strip_prefix("scenario ")).expect("a script names its scenario");
    let scenario = catalogue::all()
        .into_iter()
        .find(|scenario| scenario.name() == name)
        .expect("the scenario is in the catalogue");
    let performed = scenario.perform(&script).unwrap_or_else(|error| panic!("{file}: {error}"));
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, performed).expect("the script can be written");
    } else {
        assert_eq!(performed, script, "{file}: other answers than recorded; UPDATE_EXPECT=1 records them anew");
    }
}
