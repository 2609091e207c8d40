//! `fencepost docs`: the site is written, and its pages fit a phone. Links are tested beside the command.

use std::fs;

use crate::browser::{NARROW, PHONE, see_at};
use crate::program::{fencepost, folder, json, stderr};

#[test]
fn the_site_is_written_into_the_folder() {
    let folder = folder("docs");
    let output = fencepost(&["docs", "--out", folder.to_str().expect("text"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = json(&output);
    assert!(lines.len() > 30, "{}", lines.len());
    for line in &lines {
        let file = line["file"].as_str().expect("a file");
        assert!(fs::metadata(file).is_ok_and(|file| file.len() > 0), "{file}");
    }
    let index = fs::read_to_string(folder.join("index.html")).expect("written");
    for link in
        ["doctor.html", "reference-consul-lock.html", "reference-json.html", "pictures/b17-release-then-stop.svg"]
    {
        assert!(index.contains(&format!("\"{link}\"")), "{link}");
    }
}

#[test]
fn the_site_needs_a_folder() {
    let output = fencepost(&["docs"]);
    assert_eq!((output.status.code(), stderr(&output).contains("--out DIR")), (Some(2), true), "{}", stderr(&output));
}

#[test]
fn the_pages_of_the_documentation_fit_a_phone_and_have_their_navigation_behind_a_button() {
    let folder = folder("docs-phone");
    assert_eq!(fencepost(&["docs", "--out", folder.to_str().expect("text"), "--quiet"]).status.code(), Some(0));
    let menu = r##"
const shown = () => getComputedStyle(document.querySelector("nav")).display;
seen.push(`menu ${shown()}`);
document.querySelector("label[for=menu]").click();
seen.push(`open ${shown()}`);
"##;
    for page in ["index.html", "reference-consul-lock.html", "rules-rabbitmq.html"] {
        let script = format!("{NARROW}{menu}");
        let Some((seen, console)) = see_at(PHONE, &folder, &folder.join(page), &script) else { return };
        assert_eq!(seen, "page true\ncut \nmenu none\nopen block", "{page}");
        assert_eq!(console, "", "{page}");
    }
}
