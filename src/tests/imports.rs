//! Directions of imports: the top-level modules of each crate import each other without a cycle. The sources are read as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates, each by the folder of its root file.
const CRATES: [&str; 5] = ["model/src", "sim/src", "checker/src", "reports/src", "src/cli"];

/// Folders whose modules count one by one: no command imports another.
const SPLIT: [&str; 1] = ["commands"];

/// Imports that still close a cycle. To mend one is to remove its line here; no line is ever added.
const KNOWN: &[(&str, &str, &str)] = &[
    ("model/src", "assumption", "trace"),
    ("model/src", "service", "assumption"),
    ("model/src", "service", "process"),
    ("model/src", "service", "scenario"),
    ("model/src", "service", "world"),
    ("model/src", "scenario", "properties"),
    ("model/src", "scenario", "world"),
    ("model/src", "service_fault", "process"),
];

#[test]
fn no_module_imports_a_module_that_imports_it() {
    for folder in CRATES {
        let sources = Sources::read(folder);
        let mut imports = sources.imports();
        for (_, from, to) in KNOWN.iter().filter(|(known, ..)| *known == folder) {
            let was_there = imports.get_mut(*from).is_some_and(|targets| targets.remove(*to).is_some());
            assert!(was_there, "{folder}: `{from}` does not import `{to}` any more: remove the line from KNOWN");
        }
        if let Some(cycle) = cycle(&imports) {
            panic!("{folder}: a cycle of imports:\n{}", cycle.join("\n"));
        }
    }
}

#[test]
fn no_command_imports_another() {
    for (from, targets) in Sources::read("src/cli").imports() {
        let other = targets.keys().find(|target| from.contains('/') && target.contains('/'));
        assert_eq!(other, None, "`{from}` imports it: what both need stands beside `commands`");
    }
}

/// The programs of the services see ids as a user's program does: the numbers behind them are out of reach.
#[test]
fn no_program_looks_into_ids() {
    let mut programs = 0;
    for service in fs::read_dir("model/services").expect("the services") {
        let folder = service.expect("a service").path().join("src/programs");
        let Ok(files) = fs::read_dir(&folder) else { continue };
        for file in files.map(|file| file.expect("a file").path()).filter(|path| path.is_file()) {
            let text = fs::read_to_string(&file).expect("a source");
            assert!(!text.contains("RawId"), "{} looks into ids", file.display());
            programs += 1;
        }
    }
    assert!(programs > 40, "{programs} files were read");
}

#[test]
fn every_form_of_an_import_is_seen() {
    let module = |path: &str, text: &str| (split(path), text.to_owned());
    let sources = Sources {
        modules: ["a", "b", "c", "d", "e"].map(str::to_owned).into(),
        exported: [("Thing".to_owned(), "e".to_owned())].into(),
        files: vec![
            module("a", "use crate::b::{One, Two};\nuse crate::{\n    c::{self, X},\n    Thing,\n};\n"),
            module("b/inner", "use super::own;\nuse super::super::d;\nfn f() { crate::c::g() }\n"),
            module("c", "// use crate::a;\n$crate::a!();\nuse super::d::D;\n"),
        ],
    };
    let found = sources.imports();
    let of = |from: &str| found[from].keys().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("a"), ["b", "c", "e"]);
    assert_eq!(of("b"), ["c", "d"]);
    assert_eq!(of("c"), ["d"]);
}

/// For each module the modules that it imports, with a file that does.
type Imports = BTreeMap<String, BTreeMap<String, String>>;

/// The sources of a crate without its tests.
struct Sources {
    modules: BTreeSet<String>,
    /// Names that the root file re-exports, and macros, by the module that they come from.
    exported: BTreeMap<String, String>,
    /// Paths of modules, and their code.
    files: Vec<(Vec<String>, String)>,
}

impl Sources {
    fn read(folder: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut sources = Sources { modules: BTreeSet::new(), exported: BTreeMap::new(), files: Vec::new() };
        let mut open = vec![root.clone()];
        while let Some(path) = open.pop() {
            for entry in fs::read_dir(&path).expect("a folder of the project").map(|entry| entry.expect("readable")) {
                let path = entry.path();
                if path.is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let name = path.strip_prefix(&root).expect("inside").with_extension("");
                    let text = fs::read_to_string(&path).expect("text");
                    let code = text.split("#[cfg(test)]\nmod tests").next().expect("a part");
                    sources.files.push((split(&name.to_string_lossy().replace('\\', "/")), code.to_owned()));
                }
            }
        }
        let root = sources.files.iter().find(|(path, _)| path.is_empty()).expect("a root file").1.clone();
        let is_test = |path: &[String]| {
            path.first().is_some_and(|name| name == "tests" || root.contains(&format!("#[cfg(test)]\nmod {name};")))
        };
        sources.files.retain(|(path, _)| !is_test(path));
        sources.files.sort();
        sources.modules = sources.files.iter().filter_map(|(path, _)| path.first().cloned()).collect();
        for (path, code) in &sources.files {
            let Some(module) = path.first() else { continue };
            for rest in code.split("#[macro_export]\nmacro_rules! ").skip(1) {
                sources.exported.insert(word(rest), module.clone());
            }
        }
        for rest in root.split("pub use ").skip(1) {
            let rest = rest.split(';').next().expect("a part").trim_start_matches("self::");
            let words = rest.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            for name in words.skip(1) {
                sources.exported.insert(name.to_owned(), word(rest));
            }
        }
        sources
    }

    /// The module that a path belongs to.
    fn module(&self, path: &[String]) -> Option<String> {
        let (first, second) = (path.first()?, path.get(1));
        match second {
            Some(second) if SPLIT.contains(&first.as_str()) => Some(format!("{first}/{second}")),
            _ if self.modules.contains(first) => Some(first.clone()),
            _ => self.exported.get(first).cloned(),
        }
    }

    fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (path, code) in &self.files {
            let Some(from) = self.module(path) else { continue };
            for target in paths(path, code).iter().filter_map(|path| self.module(path)).filter(|target| *target != from)
            {
                imports.entry(from.clone()).or_default().entry(target).or_insert(path.join("/"));
            }
        }
        imports
    }
}

/// The path of the module in a file.
fn split(file: &str) -> Vec<String> {
    let mut parts: Vec<String> = file.split('/').map(str::to_owned).collect();
    parts.pop_if(|last| ["mod", "lib", "main"].contains(&last.as_str()));
    parts
}

/// The word at the beginning of a text.
fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The paths within the crate that a file names, by their first two parts.
fn paths(module: &[String], code: &str) -> Vec<Vec<String>> {
    let lines: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = lines.join("\n");
    let mut found = Vec::new();
    for head in ["crate::", "super::"] {
        for (place, _) in code.match_indices(head) {
            let before = code[..place].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || "_:$".contains(c)) {
                continue;
            }
            let mut base = if head == "crate::" { &module[..0] } else { module };
            let mut rest = &code[place..];
            rest = rest.strip_prefix("crate::").unwrap_or(rest);
            while let Some(above) = rest.strip_prefix("super::") {
                base = &base[..base.len().saturating_sub(1)];
                rest = above;
            }
            found.extend(branches(rest).into_iter().map(|tail| [base, &tail].concat()));
        }
    }
    found
}

/// The first two parts of each path of a tree of imports.
fn branches(tree: &str) -> Vec<Vec<String>> {
    let first_two = |path: &str| -> Vec<String> {
        let parts = path.trim().split("::").take(2).map(word);
        parts.filter(|part| !part.is_empty() && part != "self").collect()
    };
    let Some(inside) = tree.strip_prefix('{') else { return vec![first_two(tree)] };
    let mut depth = 0;
    let mut begin = 0;
    let mut found = Vec::new();
    for (place, c) in inside.char_indices() {
        match c {
            ',' | '}' if depth == 0 => {
                found.push(first_two(&inside[begin..place]));
                begin = place + 1;
                if c == '}' {
                    break;
                }
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    found.retain(|path| !path.is_empty());
    found
}

/// Some cycle, an import a line.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    // Modules that import nothing but modules without a cycle are taken away until none is left.
    let mut left: BTreeSet<&str> = imports.keys().map(String::as_str).collect();
    let next = |module: &str, left: &BTreeSet<&str>| {
        imports[module].keys().map(String::as_str).find(|target| left.contains(target)).map(str::to_owned)
    };
    while let Some(free) = left.iter().copied().find(|module| next(module, &left).is_none()) {
        left.remove(free);
    }
    let mut way = vec![(*left.first()?).to_owned()];
    loop {
        let target = next(way.last().expect("it has a first"), &left).expect("each that is left imports one");
        let begin = way.iter().position(|module| *module == target);
        way.push(target);
        if let Some(begin) = begin {
            let arrows = way[begin..].windows(2);
            return Some(
                arrows
                    .map(|arrow| format!("  {} -> {} in {}", arrow[0], arrow[1], imports[&arrow[0]][&arrow[1]]))
                    .collect(),
            );
        }
    }
}
