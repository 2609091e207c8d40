//! What of a scenario is changed. Durations are found by their paths in its file. Of the value with
//! which a program begins, only its crate knows which numbers are durations, so all of its numbers and flags are changed.

use fencepost_model::time::Ticks;
use fencepost_registry::AnyScenario;
use serde_json::Value;

/// The tables of a file in which durations stand.
const TABLES: [&str; 4] = ["service", "synchrony", "clocks", "promise"];

/// Reads the text of a scenario file.
pub type Reader<'a> = &'a dyn Fn(&str) -> Result<Box<dyn AnyScenario>, String>;

/// A scenario, and its file as a tree in which the first values of programs are no texts.
pub struct ExactScenario<'a> {
    scenario: &'a dyn AnyScenario,
    tree: Value,
    read: Reader<'a>,
}

/// A setting that is changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExactSetting {
    /// Where it stands in the file, as `service.lock_delay` or `program.0.head.lease`.
    pub name: String,
    /// Its value.
    pub value: ExactValue,
    pointer: String,
}

/// The value of a setting.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ExactValue {
    /// A duration in ticks.
    Ticks(i64),
    /// A number in the first value of a program.
    Number(i64),
    /// A flag there.
    Flag(bool),
}

impl ExactValue {
    /// Its number; of a flag, 0 is false, and 1 is true.
    pub fn count(self) -> i64 {
        match self {
            ExactValue::Ticks(count) | ExactValue::Number(count) => count,
            ExactValue::Flag(flag) => i64::from(flag),
        }
    }

    /// Another value of the same kind.
    #[must_use]
    pub fn with_count(self, count: i64) -> Self {
        match self {
            ExactValue::Ticks(_) => ExactValue::Ticks(count),
            ExactValue::Number(_) => ExactValue::Number(count),
            ExactValue::Flag(_) => ExactValue::Flag(count != 0),
        }
    }
}

impl ExactSetting {
    /// Whether a promise, by its place, may depend on it: the bound of another one has no part in it.
    pub(super) fn concerns(&self, promise: usize) -> bool {
        let mut parts = self.pointer.split('/').skip(1);
        parts.next() != Some("promise") || parts.next() == Some(&promise.to_string())
    }
}

impl<'a> ExactScenario<'a> {
    /// A scenario. `read` reads files of its catalogue.
    pub fn new(scenario: &'a dyn AnyScenario, read: Reader<'a>) -> Self {
        ExactScenario { scenario, tree: tree(&scenario.to_toml()), read }
    }

    /// The scenario itself.
    pub fn scenario(&self) -> &'a dyn AnyScenario {
        self.scenario
    }

    /// What is changed, in the order of its file.
    pub fn settings(&self) -> Vec<ExactSetting> {
        let durations = self.scenario.duration_paths();
        // Without bounds on clocks of its own, a scenario has clocks that are right.
        let has_clocks = tree(&self.scenario.to_short_toml()).get("clocks").is_some();
        let mut settings = Vec::new();
        visit(&self.tree, "", &mut |pointer, value| {
            let table = pointer.split('/').nth(1).unwrap_or_default();
            let value = match value {
                Value::Bool(flag) if is_in_head(pointer) => ExactValue::Flag(*flag),
                Value::Number(number) if is_in_head(pointer) => {
                    let Some(number) = number.as_i64() else { return };
                    ExactValue::Number(number)
                }
                Value::Number(number) if TABLES.contains(&table) && (table != "clocks" || has_clocks) => {
                    match number.as_i64() {
                        Some(0) if self.would_be_duration(pointer) => ExactValue::Ticks(0),
                        Some(count) if durations.contains(&dotted(pointer)) => ExactValue::Ticks(count),
                        _ => return,
                    }
                }
                _ => return,
            };
            settings.push(ExactSetting { name: dotted(pointer), value, pointer: pointer.to_owned() });
        });
        settings
    }

    /// Whether a number that is 0 is a duration: a 1 in its place is one.
    fn would_be_duration(&self, pointer: &str) -> bool {
        let mut tree = self.tree.clone();
        put(&mut tree, pointer, Value::from(1));
        let read = (self.read)(&text(&tree));
        read.is_ok_and(|scenario| scenario.duration_paths().contains(&dotted(pointer)))
    }

    /// The scenario with another value of a setting.
    ///
    /// # Errors
    /// The scenario is impossible then: why. Or another setting stands for a larger value, as a rate does for a skew.
    pub fn with(&self, setting: &ExactSetting, value: ExactValue) -> Result<Box<dyn AnyScenario>, String> {
        let scenario = (self.read)(&text(&self.changed(setting, value)))?;
        match (value, number_at(&tree(&scenario.to_toml()), &setting.pointer)) {
            (ExactValue::Ticks(count), Some(read)) if read != count => {
                Err(format!("another setting of the file makes it {}", scenario.told_ticks(Ticks::new(read))))
            }
            _ => Ok(scenario),
        }
    }

    fn changed(&self, setting: &ExactSetting, value: ExactValue) -> Value {
        let mut tree = self.tree.clone();
        let value = match value {
            ExactValue::Ticks(count) | ExactValue::Number(count) => Value::from(count),
            ExactValue::Flag(flag) => Value::from(flag),
        };
        put(&mut tree, &setting.pointer, value);
        tree
    }

    /// The same as a file which has only one of its promises, by its place, and expects a verdict of it.
    pub fn written(&self, setting: &ExactSetting, value: ExactValue, promise: usize, is_kept: bool) -> String {
        let mut tree = self.changed(setting, value);
        if let Some(promises) = tree["promise"].as_array_mut() {
            let mut only = promises.remove(promise);
            only["expect"] = Value::from(if is_kept { "proven" } else { "violated" });
            *promises = vec![only];
        }
        text(&tree)
    }
}

/// A file as a tree.
fn tree(toml: &str) -> Value {
    let table: toml::Table = toml.parse().expect("a scenario is written as TOML");
    let mut tree = serde_json::to_value(table).expect("TOML without dates is JSON");
    change_heads(&mut tree, |head| head.as_str().and_then(|text| serde_json::from_str(text).ok()));
    tree
}

/// A tree as a file.
fn text(tree: &Value) -> String {
    let mut tree = tree.clone();
    change_heads(&mut tree, |head| Some(Value::from(head.to_string())));
    toml::to_string(&tree).expect("a tree of a file is TOML")
}

/// Changes the first values of all programs.
fn change_heads(tree: &mut Value, change: impl Fn(&Value) -> Option<Value>) {
    for program in tree.get_mut("program").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(head) = program.get_mut("head")
            && let Some(changed) = change(head)
        {
            *head = changed;
        }
    }
}

/// Whether a value belongs to the first value of a program: `/program/0/head/lease`.
fn is_in_head(pointer: &str) -> bool {
    let mut parts = pointer.split('/').skip(1);
    parts.next() == Some("program") && parts.nth(1) == Some("head")
}

/// The path of a setting as people write it: `service.lock_delay` for `/service/lock_delay`.
fn dotted(pointer: &str) -> String {
    pointer[1..].replace('/', ".")
}

fn number_at(tree: &Value, pointer: &str) -> Option<i64> {
    tree.pointer(pointer)?.as_i64()
}

fn put(tree: &mut Value, pointer: &str, value: Value) {
    *tree.pointer_mut(pointer).expect("it was found in this tree") = value;
}

/// Shows each value that has no parts, and where it stands.
fn visit(value: &Value, pointer: &str, show: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            // Keys with characters that a pointer escapes name no setting.
            if !key.contains(['/', '~']) {
                visit(value, &format!("{pointer}/{key}"), show);
            }
        }),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, value)| visit(value, &format!("{pointer}/{place}"), show));
        }
        _ => show(pointer, value),
    }
}
