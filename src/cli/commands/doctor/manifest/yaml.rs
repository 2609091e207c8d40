//! YAML, and JSON, which is YAML: values, and where each of them stands. Aliases and merges (`<<`) are resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fencepost_doctor::configuration::{ConfigurationError, Place};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

/// How deep values lie within each other at most, what aliases stand for included.
const DEPTH_MAX: usize = 64;

/// How many members come from merges at most: a few lines of them can stand for more than fits into memory.
const MERGED_MAX: usize = 100_000;

/// The key that merges another map.
const MERGE: &str = "<<";

/// A value, and where it begins.
#[derive(Debug)]
pub struct YamlNode {
    pub place: Place,
    /// How many lists and maps lie within each other here: to walk along a value, or to drop it, recurses as deep.
    depth: usize,
    pub value: YamlValue,
}

/// Types of scalars do not matter here: `15`, `"15"` and `true` are texts.
#[derive(Debug)]
pub enum YamlValue {
    Text(String),
    Null,
    List(Vec<Rc<YamlNode>>),
    /// Its own members, and behind them those that are merged in.
    Map(Vec<YamlMember>),
}

/// A key of a map, and its value.
type YamlMember = (Rc<YamlNode>, Rc<YamlNode>);

impl YamlNode {
    /// The value with this name.
    pub fn get(&self, name: &str) -> Option<&YamlNode> {
        self.members().iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| &**value)
    }

    /// The value at the end of these names.
    pub fn at(&self, names: &[&str]) -> Option<&YamlNode> {
        names.iter().try_fold(self, |node, name| node.get(name))
    }

    pub fn members(&self) -> &[YamlMember] {
        match &self.value {
            YamlValue::Map(members) => members,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            YamlValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The kind of the value, for an error.
    pub fn kind(&self) -> &'static str {
        match self.value {
            YamlValue::Text(_) => "a text",
            YamlValue::Null => "nothing",
            YamlValue::List(_) => "a list",
            YamlValue::Map(_) => "a map",
        }
    }
}

/// A list or a map that is not at its end yet.
struct OpenNode {
    place: Place,
    anchor: usize,
    is_map: bool,
    children: Vec<Rc<YamlNode>>,
}

/// The documents of a file.
pub fn documents(file: &str, text: &str) -> Result<Vec<Rc<YamlNode>>, ConfigurationError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader =
        YamlReader { file, documents: Vec::new(), anchors: BTreeMap::new(), open: Vec::new(), merged_count: 0 };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            ConfigurationError::at(file, place(*error.marker()), format!("this is no YAML: {}", error.info()))
        })?;
        reader.read(event, place(span.start))?;
    }
    Ok(reader.documents)
}

struct YamlReader<'a> {
    file: &'a str,
    documents: Vec<Rc<YamlNode>>,
    anchors: BTreeMap<usize, Rc<YamlNode>>,
    open: Vec<OpenNode>,
    /// How many members came from merges.
    merged_count: usize,
}

impl YamlReader<'_> {
    fn error<T>(&self, at: Place, message: impl Into<String>) -> Result<T, ConfigurationError> {
        Err(ConfigurationError::at(self.file, at, message))
    }

    fn read(&mut self, event: Event<'_>, at: Place) -> Result<(), ConfigurationError> {
        let (anchor, node) = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                let is_map = matches!(event, Event::MappingStart(..));
                if self.open.len() >= DEPTH_MAX {
                    return self.too_deep(at);
                }
                self.open.push(OpenNode { place: at, anchor, is_map, children: Vec::new() });
                return Ok(());
            }
            Event::Scalar(text, style, anchor, _) => {
                (anchor, YamlNode { place: at, depth: 0, value: scalar(&text, style) })
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(closed) => (closed.anchor, self.closed(closed)?),
                None => return Ok(()),
            },
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => return self.add(at, Rc::clone(node)),
                None => return self.error(at, "this stands for a value that contains it"),
            },
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                return Ok(());
            }
        };
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.add(at, node)
    }

    /// Adds a value to the one around it. `at` is where it stands: an alias stands elsewhere than its value.
    fn add(&mut self, at: Place, node: Rc<YamlNode>) -> Result<(), ConfigurationError> {
        if self.open.len() + node.depth > DEPTH_MAX {
            return self.too_deep(at);
        }
        match self.open.last_mut() {
            Some(around) => around.children.push(node),
            None => self.documents.push(node),
        }
        Ok(())
    }

    fn too_deep<T>(&self, at: Place) -> Result<T, ConfigurationError> {
        self.error(at, format!("lists and maps lie within each other at most {DEPTH_MAX} deep"))
    }

    fn closed(&mut self, node: OpenNode) -> Result<YamlNode, ConfigurationError> {
        let OpenNode { place, is_map, children, .. } = node;
        let depth = 1 + children.iter().map(|child| child.depth).max().unwrap_or(0);
        let value = if is_map {
            let pairs = children.chunks_exact(2).map(|pair| (Rc::clone(&pair[0]), Rc::clone(&pair[1])));
            let (merges, own): (Vec<_>, Vec<_>) = pairs.partition(|(key, _)| key.text() == Some(MERGE));
            YamlValue::Map(self.merged(own, &merges)?)
        } else {
            YamlValue::List(children)
        };
        Ok(YamlNode { place, depth, value })
    }

    /// The members of a map with those of the maps that it merges: its own ones come before them, and the first one of a name counts.
    fn merged(&mut self, own: Vec<YamlMember>, merges: &[YamlMember]) -> Result<Vec<YamlMember>, ConfigurationError> {
        let mut members = own;
        if merges.is_empty() {
            return Ok(members);
        }
        let mut names: BTreeSet<String> = members.iter().filter_map(|(key, _)| Some(key.text()?.to_owned())).collect();
        for (key, value) in merges {
            let maps = match &value.value {
                YamlValue::List(maps) => maps.as_slice(),
                _ => std::slice::from_ref(value),
            };
            for map in maps {
                let YamlValue::Map(others) = &map.value else {
                    return self.error(key.place, format!("`{MERGE}` merges maps, and here stands {}", map.kind()));
                };
                self.merged_count += others.len();
                if self.merged_count > MERGED_MAX {
                    return self.error(key.place, format!("merges add more than {MERGED_MAX} members: write them out"));
                }
                let is_new = |(key, _): &&YamlMember| key.text().is_none_or(|name| names.insert(name.to_owned()));
                members.extend(others.iter().filter(is_new).cloned());
            }
        }
        Ok(members)
    }
}

fn scalar(text: &str, style: ScalarStyle) -> YamlValue {
    if style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return YamlValue::Null;
    }
    YamlValue::Text(text.to_owned())
}

fn place(marker: Marker) -> Place {
    Place { line: marker.line().max(1), column: marker.col() + 1 }
}
