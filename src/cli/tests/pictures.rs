//! What is written for people and for other programs, and the README's pictures, which are made by the program: `UPDATE_EXPECT=1
//! cargo test pictures` makes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;

use crate::program::{fencepost, folder, stderr};

/// The folder of the whole project.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_as_kept(name: &str, made: &Path) {
    let made = fs::read_to_string(made).expect("it was written");
    expect_file![root().join("reports/docs/pictures").join(name)].assert_eq(&made);
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(readme.contains(&format!("reports/docs/pictures/{name}")), "the README does not show {name}");
}

fn trace(folder: &Path, scenario: &str) -> String {
    let out = folder.to_str().expect("text");
    let output = fencepost(&["check", scenario, "--out", out, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    folder.join(format!("traces/{scenario}--mutual-exclusion.jsonl")).display().to_string()
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn the_pictures_of_the_readme_are_drawn_by_the_program() {
    let folder = folder("pictures");
    let out = folder.to_str().expect("text");
    let output = fencepost(&["tradeoff", "ttl-and-lock-delay", "--out", out, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    is_as_kept("ttl-and-lock-delay.svg", &folder.join("tradeoff-ttl-and-lock-delay.svg"));
    let scenario = "b17-release-then-stop";
    let picture = folder.join("run.svg");
    let output =
        fencepost(&["replay", &trace(&folder, scenario), "--export", picture.to_str().expect("text"), "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    is_as_kept(&format!("{scenario}.svg"), &picture);
}

#[test]
fn a_run_and_verdicts_are_written_in_every_form_by_the_name_of_the_file() {
    let folder = folder("exports");
    let trace = trace(&folder, "b01-no-fencing");
    for (file, begins) in [
        ("run.html", "<!DOCTYPE html>"),
        ("run.svg", "<svg xmlns"),
        ("run.mmd", "---\ntitle: \"b01-no-fencing, found by the"),
        ("run.itf.json", "{\n  \"#meta\""),
        ("run.perfetto.json", "{\"displayTimeUnit\""),
    ] {
        let file = folder.join(file);
        let output = fencepost(&["replay", &trace, "--export", file.to_str().expect("text"), "--quiet"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = fs::read_to_string(&file).expect("it was written");
        assert!(text.starts_with(begins), "{}: {}", file.display(), &text[..80]);
        if file.extension().is_some_and(|extension| extension == "json") {
            serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
        }
    }
    let (xml, table) = (folder.join("verdicts.xml"), folder.join("verdicts.md"));
    let [xml_name, table_name] = [&xml, &table].map(|file| file.to_str().expect("text"));
    let output = fencepost(&["check", "B-17", "--export", xml_name, "--export", table_name, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        fs::read_to_string(&xml)
            .is_ok_and(|text| text.contains("<testsuites name=\"fencepost\" tests=\"2\" failures=\"0\" errors=\"0\""))
    );
    assert!(fs::read_to_string(&table).is_ok_and(|text| text.starts_with("2 of 2 verdicts are as expected.")));
    for arguments in [["replay", &trace, "--export", "run.png"], ["check", "B-17", "--export", "run.png"]] {
        let output = fencepost(&arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("its name ends with"), "{}", stderr(&output));
    }
}
