//! The file of a search that can be resumed: what it is about, and a line for each candidate that was judged. A file of another search,
//! and a damaged one, is refused; a last line that was cut off by a crash is written again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::edits::Edit;
use super::trial::Judgement;
use crate::exit::CommandError;
use crate::output::make_folder;

/// What a search is about: two searches that agree in it judge each candidate alike.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Subject {
    /// The version of this program.
    pub version: String,
    /// The scenario, as a file.
    pub scenario: String,
    /// The promises that shall hold, and those that hold already.
    pub broken: Vec<String>,
    pub kept: Vec<String>,
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumptionHead {
    repair: Subject,
}

/// A candidate that was judged.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgedLine {
    edits: String,
    /// The limit of states within which it was searched.
    states_max: u64,
    judgement: KeptJudgement,
    /// Of the line before and of this one without it, so that a changed line is found.
    check: String,
}

impl JudgedLine {
    /// The check of this line after those before it.
    fn checked(&self, before: u64) -> u64 {
        checked(before, &format!("{} {} {:?}", self.edits, self.states_max, self.judgement))
    }
}

/// A judgement as it stands in a file.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum KeptJudgement {
    Invalid,
    AssumesMore,
    Violated {
        left: usize,
        steps: usize,
    },
    Breaks,
    Undecided,
    /// It is checked again: its proofs are shown.
    Repairs,
}

impl KeptJudgement {
    fn of(judgement: &Judgement) -> Self {
        match judgement {
            Judgement::Invalid => KeptJudgement::Invalid,
            Judgement::AssumesMore => KeptJudgement::AssumesMore,
            Judgement::Violated { left, steps } => KeptJudgement::Violated { left: *left, steps: *steps },
            Judgement::Breaks => KeptJudgement::Breaks,
            Judgement::Undecided => KeptJudgement::Undecided,
            Judgement::Repairs(_) => KeptJudgement::Repairs,
        }
    }

    /// The judgement; none if the candidate has to be judged again.
    fn judgement(self) -> Option<Judgement> {
        Some(match self {
            KeptJudgement::Invalid => Judgement::Invalid,
            KeptJudgement::AssumesMore => Judgement::AssumesMore,
            KeptJudgement::Violated { left, steps } => Judgement::Violated { left, steps },
            KeptJudgement::Breaks => Judgement::Breaks,
            KeptJudgement::Undecided => Judgement::Undecided,
            KeptJudgement::Repairs => return None,
        })
    }
}

/// What was judged before, and where more is written.
#[derive(Default)]
pub struct Resumption {
    /// By the set of edits, and the limit of states.
    known: BTreeMap<(String, u64), KeptJudgement>,
    file: Option<(PathBuf, File)>,
    check: u64,
}

impl Resumption {
    /// What a file has, which is made if there is none.
    pub fn open(path: &Path, subject: &Subject) -> Result<Self, CommandError> {
        let shown = path.display();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(CommandError::Input(format!("{shown} cannot be read: {error}"))),
        };
        let mut resumption = Resumption::default();
        // A crash can cut off the last line.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        if whole.is_empty() && !text.is_empty() && !head(subject).starts_with(&text) {
            return Err(CommandError::Input(foreign(path)));
        }
        for (number, line) in whole.lines().enumerate() {
            if number == 0 {
                resumption.read_head(path, line, subject)?;
            } else {
                resumption.read(line).map_err(|why| {
                    let message = format!(
                        "{shown}:{}: this line is damaged ({why}): choose another file, or remove this one",
                        number + 1
                    );
                    CommandError::Input(message)
                })?;
            }
        }
        make_folder(path.parent().unwrap_or(Path::new("")))?;
        let cannot = |error| CommandError::Input(format!("{shown} cannot be written: {error}"));
        let mut file = File::options().create(true).write(true).truncate(false).open(path).map_err(cannot)?;
        file.set_len(whole.len() as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(cannot)?;
        if whole.is_empty() {
            let head = head(subject);
            file.write_all(head.as_bytes()).map_err(cannot)?;
            resumption.check = checked(0, head.trim_end());
        }
        resumption.file = Some((path.to_owned(), file));
        Ok(resumption)
    }

    /// The number of candidates that it knows.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// What is known of a candidate that was searched within this number of states.
    pub fn judgement(&self, edits: &[&Edit], states_max: u64) -> Option<Judgement> {
        if self.known.is_empty() {
            return None;
        }
        self.known.get(&(name(edits), states_max)).and_then(|kept| kept.judgement())
    }

    /// Adds judgements, and has them on disk before it returns.
    pub fn add<'a>(
        &mut self,
        judged: impl Iterator<Item = (Vec<&'a Edit>, &'a Judgement)>,
        states_max: u64,
    ) -> Result<(), CommandError> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let mut text = String::new();
        for (edits, judgement) in judged {
            let key = (name(&edits), states_max);
            if self.known.contains_key(&key) {
                continue;
            }
            let judgement = KeptJudgement::of(judgement);
            let mut line = JudgedLine { edits: key.0.clone(), states_max, judgement, check: String::new() };
            self.check = line.checked(self.check);
            line.check = format!("{:016x}", self.check);
            text += &serde_json::to_string(&line).expect("plain data can be written");
            text.push('\n');
            self.known.insert(key, judgement);
        }
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        written.map_err(|error| CommandError::Input(format!("{} cannot be written: {error}", path.display())))
    }

    fn read_head(&mut self, path: &Path, line: &str, subject: &Subject) -> Result<(), CommandError> {
        let Ok(found) = serde_json::from_str::<ResumptionHead>(line) else {
            return Err(CommandError::Input(foreign(path)));
        };
        let Subject { version, scenario, broken, kept } = &found.repair;
        let differs = [
            ("version of fencepost", *version == subject.version),
            ("scenario", *scenario == subject.scenario),
            ("--property", (broken, kept) == (&subject.broken, &subject.kept)),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, is_same)| !is_same) {
            return Err(CommandError::Input(format!(
                "{}: this search has another {what}: choose another file, or remove this one",
                path.display()
            )));
        }
        self.check = checked(0, line);
        Ok(())
    }

    fn read(&mut self, line: &str) -> Result<(), String> {
        let judged: JudgedLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
        self.check = judged.checked(self.check);
        if judged.check != format!("{:016x}", self.check) {
            return Err("its check does not fit".to_owned());
        }
        self.known.insert((judged.edits, judged.states_max), judged.judgement);
        Ok(())
    }
}

fn foreign(path: &Path) -> String {
    format!("{} is no file of `fencepost repair --resume`: choose another one", path.display())
}

fn head(subject: &Subject) -> String {
    serde_json::to_string(&ResumptionHead { repair: subject.clone() }).expect("plain data can be written") + "\n"
}

/// The name of a set of edits, whatever their order.
fn name(edits: &[&Edit]) -> String {
    let mut names: Vec<String> = edits.iter().map(|edit| edit.assignment()).collect();
    names.sort();
    names.join("; ")
}

/// A check of a text that follows others: FNV-1a.
fn checked(before: u64, text: &str) -> u64 {
    let start = before ^ 0xcbf2_9ce4_8422_2325;
    text.bytes().fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use std::env::temp_dir;
    use std::process;

    use super::*;

    fn subject() -> Subject {
        let text = |text: &str| text.to_owned();
        Subject { version: text("1"), scenario: text("name = \"a\"\n"), broken: vec![text("b")], kept: vec![] }
    }

    fn edit(knob: &str) -> Edit {
        Edit { knob: knob.to_owned(), before: None, after: Some(toml::Value::Integer(2)) }
    }

    #[test]
    fn what_was_judged_is_known_again_and_a_line_that_was_cut_off_is_not() {
        let path = temp_dir().join(format!("fencepost-kept-{}", process::id()));
        let (a, b) = (edit("a"), edit("b"));
        let mut resumption = Resumption::open(&path, &subject()).expect("it is new");
        let judged = [(vec![&a], &Judgement::Violated { left: 1, steps: 7 }), (vec![&b, &a], &Judgement::Breaks)];
        resumption.add(judged.into_iter(), 5).expect("it is written");
        let text = fs::read_to_string(&path).expect("it is there");
        let again = Resumption::open(&path, &subject()).expect("it is ours");
        assert!(matches!(again.judgement(&[&a], 5), Some(Judgement::Violated { left: 1, steps: 7 })));
        assert!(again.judgement(&[&a], 50).is_none(), "a deeper search may say more");
        assert!(matches!(again.judgement(&[&a, &b], 5), Some(Judgement::Breaks)), "the order of edits is no matter");
        fs::write(&path, &text[..text.len() - 3]).expect("it is cut");
        let mut cut = Resumption::open(&path, &subject()).expect("a crash may do that");
        assert!((cut.count(), cut.judgement(&[&a, &b], 5).is_none()) == (1, true));
        cut.add([(vec![&a, &b], &Judgement::Breaks)].into_iter(), 5).expect("it is written");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), text, "it is written again");
        fs::remove_file(&path).expect("it was there");
    }

    #[test]
    fn a_foreign_file_and_a_damaged_line_are_refused_with_the_reason() {
        let path = temp_dir().join(format!("fencepost-foreign-{}", process::id()));
        let a = edit("a");
        Resumption::open(&path, &subject())
            .expect("it is new")
            .add([(vec![&a], &Judgement::Breaks)].into_iter(), 5)
            .expect("written");
        let text = fs::read_to_string(&path).expect("it is there");
        let refused = |text: &str, subject: &Subject, says: &str| {
            fs::write(&path, text).expect("it is written");
            let Err(error) = Resumption::open(&path, subject) else { panic!("{says}: it is accepted") };
            assert!(error.to_string().contains(says), "{says}: {error}");
            assert_eq!(fs::read_to_string(&path).expect("it is there"), text, "a file that is refused stays as it is");
        };
        refused(&text, &Subject { broken: Vec::new(), ..subject() }, "another --property");
        refused(&text, &Subject { scenario: String::new(), ..subject() }, "another scenario");
        refused(&text.replace("breaks", "undecided"), &subject(), ":2: this line is damaged (its check does not fit)");
        refused(&text.replace("a = 2", "a = 3"), &subject(), ":2: this line is damaged");
        refused(&text.replace("judgement", "judgment"), &subject(), ":2: this line is damaged (unknown field");
        refused("no line of ours", &subject(), "is no file of `fencepost repair --resume`");
        refused("{\"store\": 1}\n", &subject(), "is no file of `fencepost repair --resume`");
        fs::remove_file(&path).expect("it was there");
    }
}
