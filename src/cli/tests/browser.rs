//! The report in a real browser: Chromium opens it from disk, filters, opens a counterexample and clicks a step. A script at the end
//! of a copy of the page does what a reader does, and writes down what it sees; nothing may be said on the console.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{fencepost, folder, stderr};

/// The name under which Chromium is installed, or Chrome.
fn browser() -> Option<&'static str> {
    let is_there =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| is_there(name))
}

/// Opens a page with a script at its end; what the script writes down, and what the console said.
fn see(folder: &Path, page: &Path, script: &str) -> Option<(String, String)> {
    let Some(browser) = browser() else {
        println!("skipped: no Chromium here; `apt-get install chromium` brings it");
        return None;
    };
    let html = fs::read_to_string(page).expect("the page was written");
    let watched =
        "<script>window.wrong = []; window.addEventListener('error', (e) => wrong.push(e.message));</script>\n<main>";
    let seen = format!(
        "<script>{{ const seen = []; {script}\nseen.push(...wrong); const pre = document.createElement('pre'); pre.id = 'seen'; pre.textContent = seen.join('\\n'); document.body.append(pre); }}</script>\n</body>"
    );
    let html = html.replacen("<main>", watched, 1).replacen("</body>", &seen, 1);
    let copy = folder.join("copy.html");
    fs::write(&copy, html).expect("it can be written");
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
        ])
        .args(["--window-size=1300,900", &profile, "--dump-dom", &format!("file://{}", copy.display())])
        .output()
        .expect("the browser starts");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, seen) = dom
        .rsplit_once("<pre id=\"seen\">")
        .unwrap_or_else(|| panic!("the script did not come to its end: {}", stderr(&output)));
    let (seen, _) = seen.split_once("</pre>").expect("it ends");
    let console =
        stderr(&output).lines().filter(|line| line.contains("CONSOLE")).map(|line| format!("{line}\n")).collect();
    Some((seen.to_owned(), console))
}

const READER: &str = r##"
const shown = () => [...document.querySelectorAll("#matrix tbody tr")].filter((row) => !row.hidden).length;
seen.push(`rows ${shown()}`);
const filter = document.getElementById("filter");
filter.value = "B-17 violated"; filter.dispatchEvent(new Event("input"));
seen.push(`filtered ${shown()}`);
seen.push(`sections ${[...document.querySelectorAll("section.scenario")].filter((part) => !part.hidden).length}`);
filter.value = ""; filter.dispatchEvent(new Event("input"));
const cell = document.querySelector("#matrix td.violated a");
cell.click();
seen.push(`at ${location.hash}`);
const story = document.querySelector("details.story");
story.open = false; story.querySelector("summary").click();
seen.push(`open ${story.open}`);
const step = story.querySelector(".steps li[data-step='3']");
step.click();
seen.push(`step ${step.classList.contains("open")}`);
step.focus();
const lit = story.querySelectorAll(".diagram .on").length;
seen.push(`lit ${lit > 1}`);
"##;

#[test]
fn the_report_opens_from_disk_filters_and_shows_a_step_in_a_browser() {
    let folder = folder("browser");
    let out = folder.to_str().expect("text");
    let output = fencepost(&["check", "B-17", "B-01", "--out", out, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let Some((seen, console)) = see(&folder, &folder.join("report.html"), READER) else { return };
    let lines: Vec<&str> = seen.lines().collect();
    let rows: usize = lines[0].trim_start_matches("rows ").parse().expect("a number");
    assert!(rows > 5, "{seen}");
    assert_eq!(lines[1..], ["filtered 1", "sections 1", lines[3], "open true", "step true", "lit true"]);
    assert!(lines[3].starts_with("at #b") && lines[3].contains("--"), "{seen}");
    assert_eq!(console, "");
}

#[test]
fn a_run_of_ten_thousand_steps_is_folded_and_drawn() {
    let folder = folder("long-run");
    let out = folder.to_str().expect("text");
    let run = [
        "simulate",
        "consul-record",
        "--seed",
        "3",
        "--clients",
        "12",
        "--rounds",
        "200",
        "--storm",
        "600",
        "--actions",
        "11000",
    ];
    fencepost(&[&run[..], &["--out", out, "--quiet"]].concat());
    let (trace, page) = (folder.join("traces/consul-record--seed-3.jsonl"), folder.join("run.html"));
    let [trace, file] = [&trace, &page].map(|path| path.to_str().expect("text"));
    let output = fencepost(&["replay", trace, "--export", file, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = fs::read_to_string(&page).expect("it was written");
    assert!(html.contains("<summary>All 11000 steps</summary>"), "{} steps", html.matches("<li").count());
    let script = "const rows = [...document.querySelectorAll('.steps li')]; seen.push(`rows ${rows.length}`);
        seen.push(`folded ${rows.some((row) => row.textContent.startsWith('… '))}`);";
    let Some((seen, console)) = see(&folder, &page, script) else { return };
    let rows: usize = seen.lines().next().and_then(|line| line.strip_prefix("rows ")?.parse().ok()).expect("a number");
    assert!((24..=600).contains(&rows) && seen.contains("folded true"), "{seen}");
    assert_eq!(console, "");
}
