//! Elections in a manifest of Kubernetes, YAML or JSON: the flags of its containers, and `leaderElection` of a component's configuration.
//! Several containers may take part in elections, each in one of its own: each is judged.

mod containers;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fencepost_doctor::ElectionQuestion;
use fencepost_doctor::configuration::{ConfigurationError, Place, Understood};
use fencepost_doctor::election::configuration::{
    ElectionConfiguration, ProgramStart, StanzaMember, StanzaStart, of_arguments, of_stanza,
};

use self::containers::WorkloadContainer;
use self::yaml::{YamlNode, YamlValue};

/// Sentences about containers that one error has at most.
const IDLE_MAX: usize = 10;

/// An election of a manifest.
#[derive(Debug)]
pub struct FoundElection {
    /// The container; none: it is a component's configuration, or a line of flags.
    pub container: Option<String>,
    /// Where it begins.
    pub place: Place,
    /// Its settings. No two elections of a manifest are of the same kind.
    pub understood: Understood<ElectionQuestion>,
}

/// What a manifest has.
#[derive(Debug)]
pub struct FoundElections {
    pub elections: Vec<FoundElection>,
    /// A sentence for each container that takes part in none, or of which nothing says that it does.
    pub idle: Vec<String>,
}

/// The elections of a manifest; with `container` only that of one container.
pub fn read(
    file: &str,
    text: &str,
    recipe: Option<&str>,
    container: Option<&str>,
) -> Result<FoundElections, ConfigurationError> {
    let documents = yaml::documents(file, text)?;
    let mut reader = ManifestReader {
        file,
        recipe,
        container,
        names: BTreeSet::new(),
        kinds: BTreeSet::new(),
        embedded: None,
        found: FoundElections { elections: Vec::new(), idle: Vec::new() },
    };
    for document in &documents {
        match document.get("items").map(|items| &items.value) {
            Some(YamlValue::List(items)) => items.iter().try_for_each(|item| reader.object(item))?,
            _ => reader.object(document)?,
        }
    }
    reader.finish(&documents)
}

struct ManifestReader<'a> {
    file: &'a str,
    recipe: Option<&'a str>,
    container: Option<&'a str>,
    /// The containers of the manifest.
    names: BTreeSet<String>,
    kinds: BTreeSet<String>,
    /// A text within the manifest that has a configuration: its name, and where it stands.
    embedded: Option<(String, Place)>,
    found: FoundElections,
}

impl ManifestReader<'_> {
    fn error<T>(&self, place: Place, message: impl Into<String>) -> Result<T, ConfigurationError> {
        Err(ConfigurationError::at(self.file, place, message))
    }

    fn object(&mut self, object: &YamlNode) -> Result<(), ConfigurationError> {
        let kind = object.get("kind").and_then(YamlNode::text).unwrap_or("");
        if !kind.is_empty() {
            self.kinds.insert(kind.to_owned());
        }
        if kind == "ConfigMap" && self.embedded.is_none() {
            self.embedded = embedded(object);
        }
        let containers = containers::of(self.file, object)?;
        for container in &containers {
            self.names.insert(container.name.to_owned());
            if self.container.is_none_or(|name| name == container.name) {
                self.container(container)?;
            }
        }
        let is_component = matches!(
            kind,
            "KubeSchedulerConfiguration" | "KubeControllerManagerConfiguration" | "CloudControllerManagerConfiguration"
        );
        let stanzas = [object.get("leaderElection"), object.at(&["generic", "leaderElection"])];
        match stanzas.into_iter().flatten().next() {
            _ if !containers.is_empty() || self.container.is_some() => Ok(()),
            None if !is_component => Ok(()),
            stanza => self.stanza(if kind.is_empty() { "a configuration" } else { kind }, object, stanza),
        }
    }

    fn container(&mut self, container: &WorkloadContainer<'_>) -> Result<(), ConfigurationError> {
        let WorkloadContainer { workload, replicas, name, image, place, words } = container;
        let kind = format!("container `{name}` of {workload}");
        let start =
            ProgramStart { file: self.file, kind: &kind, of: "the manifest", image: *image, recipe: self.recipe };
        match of_arguments(start, words)? {
            ElectionConfiguration::Elects(understood) => {
                let container = Some((*name).to_owned());
                self.found.elections.push(FoundElection { container, place: *place, understood: *understood });
            }
            ElectionConfiguration::Unsaid { why } => {
                self.found.idle.push(format!("{kind} (line {}): {why}", place.line));
            }
            ElectionConfiguration::Idle { place, why } => {
                let line = place.line;
                let pods = match replicas {
                    Some(count) if !matches!(*count, "0" | "1") => {
                        format!("; with replicas: {count} all of them work at once")
                    }
                    _ => String::new(),
                };
                self.found.idle.push(format!("{kind} (line {line}) {why}{pods}"));
            }
        }
        Ok(())
    }

    fn stanza(&mut self, kind: &str, object: &YamlNode, stanza: Option<&YamlNode>) -> Result<(), ConfigurationError> {
        let around = ["leaderElectionReleaseOnCancel"];
        let beside = object.members().iter().filter(|(key, _)| key.text().is_some_and(|name| around.contains(&name)));
        let own = match stanza.map(|stanza| (&stanza.value, stanza)) {
            None | Some((YamlValue::Null, _)) => &[],
            Some((YamlValue::Map(members), _)) => members.as_slice(),
            Some((_, other)) => {
                return self.error(other.place, format!("`leaderElection` is a map, and here stands {}", other.kind()));
            }
        };
        let mut members = Vec::new();
        for (key, value) in own.iter().chain(beside) {
            let Some(name) = key.text() else { continue };
            let Some(text) = value.text() else {
                if matches!(value.value, YamlValue::Null) {
                    continue;
                }
                return self.error(value.place, format!("`{name}` is a text, and here stands {}", value.kind()));
            };
            let (name, value_place) = (name.to_owned(), value.place);
            members.push(StanzaMember { name, place: key.place, value: text.to_owned(), value_place });
        }
        let api_version = object.get("apiVersion").and_then(YamlNode::text).unwrap_or("");
        let start = StanzaStart { file: self.file, kind, api_version, recipe: self.recipe };
        let place = stanza.map_or(object.place, |stanza| stanza.place);
        match of_stanza(start, &members)? {
            ElectionConfiguration::Elects(understood) => {
                self.found.elections.push(FoundElection { container: None, place, understood: *understood });
            }
            ElectionConfiguration::Unsaid { why } => {
                self.found.idle.push(format!("{kind} (line {}): {why}", place.line));
            }
            ElectionConfiguration::Idle { place, why } => {
                self.found.idle.push(format!("{kind} (line {}) {why}", place.line));
            }
        }
        Ok(())
    }

    fn finish(mut self, documents: &[Rc<YamlNode>]) -> Result<FoundElections, ConfigurationError> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let first = documents.first().map_or(Place { line: 1, column: 1 }, |document| document.place);
        if let Some(name) = self.container.filter(|name| !names.contains(name)) {
            let message = match names[..] {
                [] => format!("there is no container `{name}`, and no other one: leave --container out"),
                _ => format!("there is no container `{name}`; there are {}", names.join(", ")),
            };
            return self.error(first, message);
        }
        if self.found.elections.is_empty() && self.found.idle.is_empty() {
            if let Some((name, place)) = &self.embedded {
                let message = format!(
                    "here is no election, but the text `{name}` has `leaderElection`: write it into a file of its own, and give that to --from"
                );
                return self.error(*place, message);
            }
            let kinds: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
            let has = if kinds.is_empty() { String::new() } else { format!("; this file has {}", kinds.join(", ")) };
            let message = format!(
                "here is no election: a manifest has containers with flags, as a Deployment or a Pod, and a component's configuration has `leaderElection`{has}"
            );
            return self.error(first, message);
        }
        if self.found.elections.is_empty() {
            let (shown, rest) = self.found.idle.split_at(self.found.idle.len().min(IDLE_MAX));
            let more = if rest.is_empty() { String::new() } else { format!("; and {} more", rest.len()) };
            return self.error(first, format!("no election is found here: {}{more}", shown.join("; ")));
        }
        self.found.tell_apart();
        Ok(self.found)
    }
}

impl FoundElections {
    /// Gives a line to kinds that occur more than once, and a number to those that begin in the same line.
    fn tell_apart(&mut self) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for election in &self.elections {
            *counts.entry(election.understood.kind.clone()).or_default() += 1;
        }
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for FoundElection { place, understood, .. } in &mut self.elections {
            if counts[&understood.kind] == 1 {
                continue;
            }
            understood.kind += &format!(" (line {})", place.line);
            let number = seen.entry(understood.kind.clone()).or_default();
            *number += 1;
            if *number > 1 {
                understood.kind += &format!(" {number}");
            }
        }
    }
}

/// A text of a ConfigMap that has `leaderElection`.
fn embedded(object: &YamlNode) -> Option<(String, Place)> {
    let mut texts =
        object.get("data")?.members().iter().filter_map(|(key, value)| Some((key.text()?, value.text()?, value.place)));
    let found = texts.find(|(_, text, _)| text.contains("leaderElection"));
    found.map(|(name, _, place)| (name.to_owned(), place))
}
