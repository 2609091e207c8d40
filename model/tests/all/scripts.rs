//! Hand-written runs with recorded answers: every file in `scripts` of a service. `UPDATE_EXPECT=1 cargo test` records anew;
//! commit the difference only if you can explain it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, panic};

use expect_test::expect_file;
use fencepost::catalogue;

/// The scripts of each service, in order.
fn scripts() -> BTreeMap<String, Vec<PathBuf>> {
    let services = Path::new(env!("CARGO_MANIFEST_DIR")).join("services");
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
        paths.sort();
        paths
    };
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    inside(&services).iter().map(|service| (name(service), inside(&service.join("scripts")))).collect()
}

/// Performs a script and compares its recordings, or writes them anew.
fn perform(path: &Path) -> Result<(), String> {
    let file = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("inside").display();
    let script = fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
    let name = script.lines().find_map(|line| line.strip_prefix("scenario "));
    let name = name.ok_or_else(|| format!("{file}: no line `scenario NAME`"))?;
    let scenario = catalogue::named(name);
    let scenario = scenario.ok_or_else(|| format!("{file}: there is no scenario `{name}`"))?;
    let performed = scenario.perform(&script).map_err(|error| format!("{file}: {error}"))?;
    // Each script that differs is shown, not the first one only.
    let differs = |_| format!("{file}: another answer than recorded; UPDATE_EXPECT=1 records it anew");
    panic::catch_unwind(|| expect_file![path].assert_eq(&performed)).map_err(differs)
}

#[test]
fn every_script_of_every_service_happens_as_it_is_recorded() {
    let scripts = scripts();
    for (service, files) in &scripts {
        assert!(!files.is_empty(), "{service} has no scripts");
    }
    let failed: Vec<String> = scripts.values().flatten().filter_map(|path| perform(path).err()).collect();
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}
