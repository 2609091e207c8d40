//! The containers of a manifest, and what each is started with.

use std::collections::BTreeMap;
use std::rc::Rc;

use fencepost_doctor::ShellWord;
use fencepost_doctor::configuration::{ConfigurationError, Place};

use super::yaml::{YamlNode, YamlValue};

/// Where the pod is described: in a pod, a Deployment and its like, and a CronJob.
const PODS: [&[&str]; 3] =
    [&["spec", "template", "spec"], &["spec", "jobTemplate", "spec", "template", "spec"], &["spec"]];

/// The longest value of a variable that is kept: values that hold others twice would double with each.
const EXPANDED_MAX: usize = 10_000;

/// A container of a workload.
#[derive(Debug)]
pub struct WorkloadContainer<'a> {
    /// The workload, as `Deployment operator`.
    pub workload: String,
    /// How many pods there are, if the manifest says so.
    pub replicas: Option<&'a str>,
    pub name: &'a str,
    pub image: Option<&'a str>,
    /// Where it begins.
    pub place: Place,
    /// Its command and its arguments.
    pub words: Vec<ShellWord>,
}

/// The containers of an object. One that runs before the others counts if it goes on beside them.
pub fn of<'a>(file: &str, object: &'a YamlNode) -> Result<Vec<WorkloadContainer<'a>>, ConfigurationError> {
    let mut found = Vec::new();
    let Some(pod) = PODS.iter().filter_map(|path| object.at(path)).find(|pod| pod.get("containers").is_some()) else {
        return Ok(found);
    };
    let text = |node: Option<&'a YamlNode>| node.and_then(YamlNode::text);
    let kind = text(object.get("kind")).unwrap_or("object");
    let workload = format!("{kind} {}", text(object.at(&["metadata", "name"])).unwrap_or("without a name"));
    let replicas = text(object.at(&["spec", "replicas"]));
    for (list, is_first) in [("containers", false), ("initContainers", true)] {
        let Some(list) = pod.get(list) else { continue };
        for container in items(file, list, "containers")? {
            if is_first && text(container.get("restartPolicy")) != Some("Always") {
                continue;
            }
            let variables = variables(container);
            let mut words = Vec::new();
            for part in ["command", "args"] {
                let Some(part_node) = container.get(part) else { continue };
                for item in items(file, part_node, part)? {
                    let Some(word) = item.text() else {
                        let message = format!("`{part}` is a list of texts, and here stands {}", item.kind());
                        return Err(ConfigurationError::at(file, item.place, message));
                    };
                    words.push(ShellWord { place: item.place, text: expanded(word, &variables) });
                }
            }
            let name = text(container.get("name")).unwrap_or("without a name");
            let image = text(container.get("image"));
            let (place, workload) = (container.place, workload.clone());
            found.push(WorkloadContainer { workload, replicas, name, image, place, words });
        }
    }
    Ok(found)
}

/// The items of a list; nothing is an empty one.
fn items<'a>(file: &str, node: &'a YamlNode, name: &str) -> Result<&'a [Rc<YamlNode>], ConfigurationError> {
    match &node.value {
        YamlValue::List(items) => Ok(items),
        YamlValue::Null => Ok(&[]),
        _ => {
            let message = format!("`{name}` is a list, and here stands {}", node.kind());
            Err(ConfigurationError::at(file, node.place, message))
        }
    }
}

/// The variables whose values the manifest has. Each may hold those before it.
fn variables(container: &YamlNode) -> BTreeMap<&str, String> {
    let mut variables = BTreeMap::new();
    let Some(YamlValue::List(list)) = container.get("env").map(|env| &env.value) else { return variables };
    for one in list {
        let [name, value] = ["name", "value"].map(|member| one.get(member).and_then(YamlNode::text));
        let Some(name) = name else { continue };
        let value = value.map(|value| expanded(value, &variables)).filter(|value| value.len() <= EXPANDED_MAX);
        match value {
            Some(value) => variables.insert(name, value),
            None => variables.remove(name),
        };
    }
    variables
}

/// Puts values in the place of `$(NAME)`, as Kubernetes does. What it does not know stays as it is, and `$$(NAME)` is the text `$(NAME)`.
fn expanded(word: &str, variables: &BTreeMap<&str, String>) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some((before, behind)) = rest.split_once("$") {
        text += before;
        if let Some(escaped) = behind.strip_prefix('$') {
            text.push('$');
            rest = escaped;
            continue;
        }
        let Some(behind) = behind.strip_prefix('(') else {
            text.push('$');
            rest = behind;
            continue;
        };
        let known =
            behind.split_once(')').and_then(|(name, after)| variables.get(name).map(|value| (value.as_str(), after)));
        match known {
            Some((value, after)) => {
                text += value;
                rest = after;
            }
            None => {
                text += "$(";
                rest = behind;
            }
        }
    }
    text + rest
}
