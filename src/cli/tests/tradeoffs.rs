//! What settings cost: the ready studies, and studies of scenarios.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::program::{fencepost, folder, json, stderr, stdout, variant};

fn tradeoff(out: &Path, arguments: &[&str]) -> std::process::Output {
    fencepost(&[&["tradeoff"], arguments, &["--out", out.to_str().expect("text"), "--quiet"]].concat())
}

#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn a_ready_study_measures_every_setting_and_comes_to_the_same_bytes_again() {
    measure_twice("slots");
}

#[test]
#[ignore = "takes two minutes: .ci/long"]
fn so_do_the_larger_studies_by_hand() {
    measure_twice("ttl-and-lock-delay");
    measure_twice("detector");
}

fn measure_twice(study: &str) {
    let folder = folder(&format!("study-{study}"));
    let output = tradeoff(&folder, &[study, "--seeds", "4", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{study}: {}", stderr(&output));
    let (points, searches): (Vec<_>, Vec<_>) = json(&output).into_iter().partition(|line| !line["runs"].is_null());
    let searched = |search: &serde_json::Value| search["settings"].as_array().map(Vec::len);
    assert!(searches.len() == 1 && searched(&searches[0]) == Some(points.len()), "{study}: one for one");
    assert!(points.len() >= 12, "{study}: {}", points.len());
    for point in &points {
        assert!(
            point["problem"].is_null() && point["runs"] == 4 && point["total"]["entries"].as_u64() > Some(100),
            "{study}: {point}"
        );
    }
    let files = || {
        let read = |extension| fs::read(folder.join(format!("tradeoff-{study}.{extension}"))).expect("it was written");
        ["html", "csv", "vl.json", "svg"].map(read)
    };
    let first = files();
    let again = json(&tradeoff(&folder, &[study, "--seeds", "4", "--json"]));
    assert!(again[..points.len()] == points, "{study}");
    assert!(files() == first, "{study}");
    let csv = fs::read_to_string(folder.join(format!("tradeoff-{study}.csv"))).expect("it was written");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let columns = reader.headers().expect("a line of heads").len();
    let rows: Vec<_> = reader.records().map(|row| row.expect("as many cells as heads")).collect();
    assert_eq!((rows.len(), rows[0].len()), (points.len(), columns));
}

/// The dial's page says what the whole project says: under unbounded pauses every setting loses one of the two promises, under
/// bounded ones some keep both, and fencing moves the promise.
#[test]
#[ignore = "takes half a minute or more: cargo test --tests -- --ignored"]
fn the_dial_is_the_headline() {
    let folder = folder("study-dial");
    let output = tradeoff(&folder, &["dial", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let searches = json(&output);
    let words = |search: &serde_json::Value| -> Vec<Vec<bool>> {
        let settings = search["settings"].as_array().expect("a list");
        let is_proven = |finding: &serde_json::Value| finding["verdict"].get("proven").is_some();
        settings
            .iter()
            .map(|setting| setting["found"]["Ok"].as_array().expect("possible").iter().map(is_proven).collect())
            .collect()
    };
    let [unbounded, bounded, fencing] = &searches[..] else { panic!("{} searches", searches.len()) };
    assert!(words(unbounded).iter().all(|verdicts| verdicts.contains(&false)));
    assert_eq!(words(bounded).iter().filter(|verdicts| !verdicts.contains(&false)).count(), 5);
    assert_eq!(words(fencing), [[false, false], [false, true], [false, true]]);
    let trace = unbounded["settings"][2]["found"]["Ok"][0]["trace"].as_str().expect("a broken promise has a trace");
    assert_eq!(fencepost(&["replay", trace, "--quiet"]).status.code(), Some(0));
    assert_eq!(tradeoff(&folder, &["dial", "--seeds", "3"]).status.code(), Some(2), "it takes no runs");
}

#[test]
fn a_run_behind_a_number_can_be_taken_again() {
    let folder = folder("study-run");
    let arguments = ["b01-no-fencing", "--vary", "ttl=1,2", "--seeds", "400", "--storm", "60"];
    let output = tradeoff(&folder, &[&arguments[..], &["--json"]].concat());
    let points = json(&output);
    let extreme = &points[0]["seeds"][0];
    assert_eq!(extreme["what"], "the first unsafe run", "{}", points[0]);
    let seed = extreme["seed"].as_u64().expect("a seed");
    let command = extreme["command"].as_str().expect("a command");
    assert!(command.ends_with(&format!("--storm 60 --run 1:{seed}")) && !command.contains("--out"), "{command}");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let again = fencepost(&[&words[..], &["--json", "--out", folder.to_str().expect("text")]].concat());
    let run = &json(&again)[0];
    let broken: Vec<&str> =
        run["violations"].as_array().expect("a list").iter().filter_map(|v| v["property"].as_str()).collect();
    assert!(broken.contains(&"mutual-exclusion"), "{run}");
    let replayed = fencepost(&["replay", run["trace"].as_str().expect("a trace"), "--quiet"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", stderr(&replayed));
}

#[test]
fn an_unknown_study_is_answered_with_the_known_ones() {
    let folder = folder("study-wrong");
    for (arguments, says) in [
        (&["nonsense"][..], "studies that are ready: dial, ttl-and-lock-delay, detector, slots"),
        (&["detector", "--run", "99:1"], "there are 12 settings"),
        (&["detector", "--run", "0:1"], "as 3:17"),
        (&["detector", "--seeds", "5..5"], "seed"),
        (&["detector", "--safety", "slot-limit"], "detector does not promise `slot-limit`"),
        (&["b14-renew-after-loss", "--safety", "eventually-acquired"], "is a liveness property"),
        (&["detector", "--vary", "detector=sometimes"], "none, gossip, ttl, both"),
        (&["detector", "--vary", "ttl=banana"], "no setting is possible"),
        (&["B-01"], "several scenarios"),
    ] {
        let output = tradeoff(&folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stdout(&output));
        assert!(stderr(&output).contains(says), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn an_impossible_setting_says_why_and_the_others_are_measured() {
    let folder = folder("study-impossible");
    let output = tradeoff(&folder, &["b01-no-fencing", "--vary", "ttl=1,nonsense", "--seeds", "5"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("impossible: "), "{}", stdout(&output));
}

#[test]
fn a_setting_under_which_no_client_enters_is_not_called_safe() {
    let folder = folder("study-vacuous");
    let profile = folder.join("dreamers.toml");
    std::fs::write(&profile, "thinking = 9000\n").unwrap();
    let profile = profile.to_str().unwrap();
    let output = tradeoff(
        &folder,
        &["b01-no-fencing", "--vary", "ttl=1,2", "--seeds", "20", "--storm", "5", "--profile", profile],
    );
    let printed = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("no client ever entered"), "{printed}");
}

#[test]
fn whatever_a_file_says_is_escaped_on_the_page() {
    let folder = folder("study-hostile");
    let about =
        "about = \"<script>alert(1)</script> & \\\"quotes\\\" </title>\"\nvariant = \"<img src=x onerror=alert(2)>\"";
    let text = crate::program::text_of("b01-no-fencing");
    let line = text.lines().find(|line| line.starts_with("about")).expect("it is about something");
    let file = variant(&folder, "b01-no-fencing", line, about);
    let kept: String = fs::read_to_string(&file)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with("variant = \"no"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(&file, kept).unwrap();
    let vary = "service.operator=none,[\"<b>\"]";
    assert_eq!(tradeoff(&folder, &[&file, "--vary", vary, "--seeds", "3"]).status.code(), Some(0));
    let out = folder.to_str().expect("text");
    assert_eq!(fencepost(&["check", &file, "--out", out, "--quiet"]).status.code(), Some(0));
    for page in ["tradeoff-b01-no-fencing.html", "report.html"] {
        let Ok(html) = fs::read_to_string(folder.join(page)) else { panic!("{page} was not written") };
        for hostile in ["<script>alert", "<img src", "<b>\"", "</title> &"] {
            assert!(!html.contains(hostile), "{page} contains {hostile}");
        }
    }
}

#[test]
fn a_study_that_was_taken_is_part_of_the_report_in_its_folder() {
    let folder = folder("study-in-report");
    assert_eq!(tradeoff(&folder, &["ttl-and-lock-delay", "--seeds", "2"]).status.code(), Some(0));
    let check = ["check", "B-17", "--quiet", "--out", folder.to_str().expect("text")];
    let report = || {
        assert_eq!(fencepost(&check).status.code(), Some(0));
        fs::read_to_string(folder.join("report.html")).expect("it was written")
    };
    let with = report();
    assert!(
        with.contains("id=\"study-ttl-and-lock-delay\"")
            && with.contains("<code>fencepost tradeoff ttl-and-lock-delay --seeds 2</code>")
    );
    let anchors = with.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next());
    let dangling: Vec<&str> = anchors.filter(|anchor| !with.contains(&format!("id=\"{anchor}\""))).collect();
    assert!(dangling.is_empty(), "{dangling:?}");
    let is_out_of_date =
        |html: &str| html.contains("taken with another program") && !html.contains("id=\"study-ttl-and-lock-delay\"");
    assert!(!is_out_of_date(&with));
    let numbers = folder.join("tradeoff-ttl-and-lock-delay.json");
    let file = fs::File::options().append(true).open(&numbers).expect("writable");
    file.set_modified(SystemTime::UNIX_EPOCH).expect("its own file");
    assert!(is_out_of_date(&report()), "what is older than the program need not hold for it");
    fs::write(&numbers, "{}").expect("writable");
    assert!(is_out_of_date(&report()), "what cannot be read was written by another program");
}
