//! YAML, and JSON, which is YAML: values, and where each of them stands.

use std::collections::BTreeMap;
use std::rc::Rc;

use fencepost_doctor::configuration::{ConfigurationError, Place};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

/// Values lie within each other at most so deep.
const DEPTH_MAX: usize = 64;

/// A value, and where it begins.
#[derive(Debug)]
pub struct YamlNode {
    pub place: Place,
    pub value: YamlValue,
}

/// Types of scalars do not matter here: `15`, `"15"` and `true` are texts.
#[derive(Debug)]
pub enum YamlValue {
    Text(String),
    Null,
    List(Vec<Rc<YamlNode>>),
    Map(Vec<(Rc<YamlNode>, Rc<YamlNode>)>),
}

impl YamlNode {
    /// The value with this name; one that is merged in (`<<`) comes after its own.
    pub fn get(&self, name: &str) -> Option<&YamlNode> {
        self.own(name).or_else(|| match &self.own("<<")?.value {
            YamlValue::List(merged) => merged.iter().find_map(|map| map.own(name)),
            _ => self.own("<<")?.own(name),
        })
    }

    fn own(&self, name: &str) -> Option<&YamlNode> {
        self.members().iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| &**value)
    }

    /// The value at the end of these names.
    pub fn at(&self, names: &[&str]) -> Option<&YamlNode> {
        names.iter().try_fold(self, |node, name| node.get(name))
    }

    pub fn members(&self) -> &[(Rc<YamlNode>, Rc<YamlNode>)] {
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
    let mut documents = Vec::new();
    let mut anchors: BTreeMap<usize, Rc<YamlNode>> = BTreeMap::new();
    let mut open: Vec<OpenNode> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            ConfigurationError::at(file, place(*error.marker()), format!("this is no YAML: {}", error.info()))
        })?;
        let at = place(span.start);
        let (anchor, node) = match event {
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) if open.len() < DEPTH_MAX => {
                let is_map = matches!(event, Event::MappingStart(..));
                open.push(OpenNode { place: at, anchor, is_map, children: Vec::new() });
                continue;
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let message = format!("lists and maps lie within each other at most {DEPTH_MAX} deep");
                return Err(ConfigurationError::at(file, at, message));
            }
            Event::Scalar(text, style, anchor, _) => (anchor, YamlNode { place: at, value: scalar(&text, style) }),
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => (closed.anchor, closed.into_node()),
                None => continue,
            },
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some(node) => {
                    add(&mut open, &mut documents, Rc::clone(node));
                    continue;
                }
                None => return Err(ConfigurationError::at(file, at, "this stands for a value that contains it")),
            },
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                continue;
            }
        };
        let node = Rc::new(node);
        if anchor > 0 {
            anchors.insert(anchor, Rc::clone(&node));
        }
        add(&mut open, &mut documents, node);
    }
    Ok(documents)
}

fn add(open: &mut [OpenNode], documents: &mut Vec<Rc<YamlNode>>, node: Rc<YamlNode>) {
    match open.last_mut() {
        Some(around) => around.children.push(node),
        None => documents.push(node),
    }
}

impl OpenNode {
    fn into_node(self) -> YamlNode {
        let value = if self.is_map {
            let pairs = self.children.chunks_exact(2);
            YamlValue::Map(pairs.map(|pair| (Rc::clone(&pair[0]), Rc::clone(&pair[1]))).collect())
        } else {
            YamlValue::List(self.children)
        };
        YamlNode { place: self.place, value }
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
