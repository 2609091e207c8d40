//! The page about more than one machine: its commands take the parts of a sweep as they stand there, as processes of this machine.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::program::{folder, stderr};

/// The first block of code below a headline.
fn block<'a>(page: &'a str, headline: &str) -> &'a str {
    let section = page.split_once(headline).unwrap_or_else(|| panic!("the page has no {headline}")).1;
    let block = section.split_once("```").expect("a block").1.split_once("```").expect("its end").0;
    block.split_once('\n').expect("a language").1
}

/// Runs a command with this program at hand.
fn shell(command: &str, folder: &Path, variables: &[(&str, String)]) {
    let program = Path::new(env!("CARGO_BIN_EXE_fencepost")).parent().expect("a folder");
    let others = env::var_os("PATH").unwrap_or_default();
    let path: OsString =
        env::join_paths([program.to_owned()].into_iter().chain(env::split_paths(&others))).expect("a path");
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .output()
        .expect("there is a shell");
    assert!(output.status.success(), "{command}: {}", stderr(&output));
}

#[test]
fn the_parts_of_a_sweep_come_to_the_same_however_they_are_spread() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports/docs/machines.md");
    let page = fs::read_to_string(page).expect("the page");
    let parallel = block(&page, "### GNU parallel");
    let (by_parallel, merge) = parallel.trim_end().split_once('\n').expect("two commands");
    let job = block(&page, "### Kubernetes");
    let in_pod = job.lines().map(str::trim).find_map(|line| line.strip_prefix("- fencepost ")).expect("a command");
    let merged = |name: &str, parts: &dyn Fn(&Path)| {
        let folder = folder(&format!("machines-{name}"));
        parts(&folder);
        shell(merge, &folder, &[]);
        fs::read(folder.join("all.sqlite")).expect("it was merged")
    };
    let by_slurm = merged("slurm", &|folder| {
        for task in 1..=4 {
            let variables = [("SLURM_ARRAY_TASK_ID", task.to_string()), ("SLURM_ARRAY_TASK_COUNT", "4".to_owned())];
            shell(block(&page, "### Slurm"), folder, &variables);
        }
    });
    let by_kubernetes = merged("kubernetes", &|folder| {
        for index in 0..4 {
            shell(&format!("fencepost {in_pod}"), folder, &[("JOB_COMPLETION_INDEX", index.to_string())]);
        }
    });
    assert!(by_slurm == by_kubernetes && !by_slurm.is_empty());
    if Command::new("parallel").arg("--version").output().is_err() {
        return eprintln!("skipped: GNU parallel is not installed");
    }
    assert!(merged("parallel", &|folder| shell(by_parallel, folder, &[])) == by_slurm);
}
