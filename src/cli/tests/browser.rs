//! The report in a real browser: Chromium opens it from disk, filters, opens a counterexample and clicks a step. A script at the end
//! of a copy of the page does what a reader does, and writes down what it sees; nothing may be said on the console.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{fencepost, folder, stderr, stdout};

/// The name under which Chromium is installed, or Chrome.
fn browser() -> Option<&'static str> {
    let is_there =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| is_there(name))
}

/// Opens a page with a script at its end; what the script writes down, and what the console said.
fn see(folder: &Path, page: &Path, script: &str) -> Option<(String, String)> {
    see_at(1300, folder, page, script)
}

/// The same in a window of this width, in pixels.
pub fn see_at(width: u32, folder: &Path, page: &Path, script: &str) -> Option<(String, String)> {
    let Some(browser) = browser() else {
        println!("skipped: no Chromium here; `apt-get install chromium` brings it");
        return None;
    };
    let html = fs::read_to_string(page).expect("the page was written");
    let watched =
        "<script>window.wrong = []; window.addEventListener('error', (e) => wrong.push(e.message));</script>\n<main";
    let seen = format!(
        "<script>{{ const seen = []; {script}\nseen.push(...wrong); const pre = document.createElement('pre'); pre.id = 'seen'; pre.textContent = seen.join('\\n'); document.body.append(pre); }}</script>\n</body>"
    );
    let html = html.replacen("<main", watched, 1).replacen("</body>", &seen, 1);
    // Beside the page, where the files that it names are.
    let copy = page.with_file_name("copy.html");
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
        .args([&format!("--window-size={width},900"), &profile, "--dump-dom", &format!("file://{}", copy.display())])
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
const shown = () => [...document.querySelectorAll(".matrix tbody tr")].filter((row) => !row.hidden).length;
seen.push(`rows ${shown()}`);
const filter = document.getElementById("filter");
filter.value = "B-17 violated"; filter.dispatchEvent(new Event("input"));
seen.push(`filtered ${shown()}`);
seen.push(`sections ${[...document.querySelectorAll("section.scenario")].filter((part) => !part.hidden).length}`);
filter.value = ""; filter.dispatchEvent(new Event("input"));
const cell = document.querySelector(".matrix td.violated a");
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

/// The width of a small phone, in pixels.
pub const PHONE: u32 = 390;

/// Writes down each part that is wider than the window, or than its own box without a way to scroll.
pub const NARROW: &str = r##"
const wide = (part) => part.scrollWidth > part.clientWidth + 1;
seen.push(`page ${document.documentElement.scrollWidth <= window.innerWidth && window.innerWidth <= 700}`);
const cut = [...document.querySelectorAll("main section, main table, main li, main p, main summary, main svg")]
  .filter((part) => part.getBoundingClientRect().right > window.innerWidth + 1);
seen.push(`cut ${cut.map((part) => part.outerHTML.slice(0, 80)).join(", ")}`);
"##;

#[test]
fn on_a_phone_the_report_is_as_wide_as_the_screen_and_every_word_is_there() {
    let folder = folder("phone");
    let out = folder.to_str().expect("text");
    let output = fencepost(&["check", "B-17", "B-01", "--out", out, "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let reader = r##"
const name = document.querySelector(".matrix td.verdict .name");
seen.push(`named ${getComputedStyle(name).display}`);
seen.push(`steps ${[...document.querySelectorAll(".steps li")].filter(wide).length}`);
seen.push(`held ${getComputedStyle(document.querySelector(".steps .held")).display}`);
"##;
    let script = format!("{NARROW}{reader}");
    let Some((seen, console)) = see_at(PHONE, &folder, &folder.join("report.html"), &script) else { return };
    assert_eq!(seen, "page true\ncut \nnamed inline\nsteps 0\nheld block");
    assert_eq!(console, "");
}

#[test]
fn a_report_about_one_scenario_opens_with_it_and_the_catalogue_is_folded() {
    let folder = folder("own-first");
    let out = folder.to_str().expect("text");
    let output = fencepost(&["check", "lease-one-tick-less", "--out", out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).ends_with(&format!("report: {}\n", folder.join("report.html").display())));
    let script = r##"
const main = document.querySelector("main");
const first = [...main.querySelectorAll("section")][0];
seen.push(`${first.className} ${first.id} ${first.getBoundingClientRect().top < 300}`);
seen.push(`rows ${document.querySelectorAll(".matrix tr").length}`);
"##;
    let Some((seen, console)) = see(&folder, &folder.join("report.html"), script) else { return };
    assert_eq!(seen, "scenario lease-one-tick-less true\nrows 0");
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
        seen.push(`folded ${rows.some((row) => row.querySelector('.words').textContent.startsWith('… '))}`);";
    let Some((seen, console)) = see(&folder, &page, script) else { return };
    let rows: usize = seen.lines().next().and_then(|line| line.strip_prefix("rows ")?.parse().ok()).expect("a number");
    assert!((24..=600).contains(&rows) && seen.contains("folded true"), "{seen}");
    assert_eq!(console, "");
}
