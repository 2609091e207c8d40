//! Promises about endless executions. For each member that leaves the promise open there is a component number, which never rises along a
//! transition that leaves it open: so an execution that never keeps the promise stays in one component. It is not fair, if something is
//! missed there. Something weakly fair must be enabled in every world of the component and taken by no transition within it. Something
//! strongly fair may be enabled in some worlds only: an execution avoids those from some point on, and the next layer looks at the others.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_model::action_kind::ActionKind;
use fencepost_model::goal::Reached;
use fencepost_model::ids::ClientId;
use fencepost_model::monitor::Observed;
use fencepost_model::properties::Property;
use fencepost_model::scenario::Scenario;
use fencepost_model::service::Service;
use fencepost_model::world::Action;

use crate::certificate::{AuditLayer, Certified};

/// What these proofs need of a world.
pub(crate) struct EdgesOf {
    /// The clients that wait, as bits; and whether items wait in the work queue.
    waiting: u64,
    /// Whether fewer clients are inside than may be.
    has_room: bool,
    edges: Vec<AuditEdge>,
}

/// What they need of a transition.
struct AuditEdge {
    to: u32,
    /// The class of its action; none if the certificate has no such class.
    class: Option<u16>,
    /// The clients that enter, as bits.
    enters: u64,
}

/// That some item of the work queue was not handled.
const ITEMS: u64 = 1 << 32;

/// A bit for each client that is told apart; the others share the last one.
fn bits(clients: impl Iterator<Item = ClientId>) -> u64 {
    clients.fold(0, |bits, client| bits | 1 << client.place().min(31))
}

impl EdgesOf {
    pub(crate) fn new<S: Service>(scenario: &Scenario<S>, world: &Observed<S>) -> Self {
        let items = if world.unhandled(scenario).is_empty() { 0 } else { ITEMS };
        EdgesOf { waiting: bits(world.waiting()) | items, has_room: world.has_room(scenario), edges: Vec::new() }
    }

    /// Adds a transition.
    pub(crate) fn push<S: Service>(&mut self, certified: &Certified<S>, action: &Action<S>, reached: Reached, to: u32) {
        let shape = action.shape();
        let class = certified.classes.iter().position(|class| *class == shape);
        let enters = bits((0..32).map(ClientId::of).filter(|client| reached.has_entered(*client)));
        self.edges.push(AuditEdge { to, class: class.and_then(|class| u16::try_from(class).ok()), enters });
    }

    fn enables(&self, class: u16) -> bool {
        self.edges.iter().any(|edge| edge.class == Some(class))
    }

    /// Whether a promise is open: that this bit does not wait any more; 0: that any client enters while there is room.
    fn is_open(&self, due: u64) -> bool {
        if due == 0 { self.has_room && self.waiting & !ITEMS != 0 } else { self.waiting & due != 0 }
    }
}

/// How often an action that is fair has to be taken.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Fair {
    /// Infinitely often: time goes on.
    Always,
    /// Infinitely often, if it is enabled from some point on.
    Weakly,
    /// Infinitely often, if it is enabled infinitely often.
    Strongly,
}

fn fairness<S: Service>(scenario: &Scenario<S>, class: &Action<S>) -> Option<Fair> {
    let kind = class.kind();
    let is_strong = scenario.fairness.strong.contains(&kind);
    let fair = if is_strong { Fair::Strongly } else { Fair::Weakly };
    let fair = (is_strong || scenario.fairness.weak.contains(&kind)).then_some(fair)?;
    Some(if kind == ActionKind::Advance { Fair::Always } else { fair })
}

/// Checks that each promise about endless executions has a proof for each client, and that all proofs are right.
pub(crate) fn check<S: Service>(
    certified: &Certified<S>,
    scenario: &Scenario<S>,
    worlds: &[EdgesOf],
) -> Result<(), String> {
    // A class that no action has would never be taken: one that is no shape, or stands there twice.
    let is_class =
        |place: usize, class: &Action<S>| *class == class.shape() && !certified.classes[..place].contains(class);
    let classes = certified.classes.iter().enumerate();
    let fair: Vec<Option<Fair>> =
        classes.map(|(place, class)| fairness(scenario, class).filter(|_| is_class(place, class))).collect();
    for promise in scenario.promises.iter().filter(|promise| promise.property.is_about_endless_runs(promise.bound)) {
        let clients: Vec<Option<u16>> = match promise.property {
            Property::EventuallyAcquired | Property::EveryItemHandled => vec![None],
            _ if scenario.clients > 31 => return Err("more than 31 clients are not told apart".to_owned()),
            _ => (1..=scenario.clients).map(Some).collect(),
        };
        for client in clients {
            let found = certified.endless.iter().find(|proof| (proof.0, proof.1) == (promise.property, client));
            let proof = found.ok_or_else(|| format!("`{}` is promised, and has no proof", promise.property))?;
            let items = if promise.property == Property::EveryItemHandled { ITEMS } else { 0 };
            prove(client.map_or(items, |client| bits([ClientId(client)].into_iter())), &proof.2, worlds, &fair)
                .map_err(|why| format!("`{}`: {why}", promise.property))?;
        }
    }
    Ok(())
}

fn prove(due: u64, layers: &[AuditLayer], worlds: &[EdgesOf], fair: &[Option<Fair>]) -> Result<(), String> {
    if let Some(place) = worlds.iter().position(|world| world.is_open(due) && world.edges.is_empty()) {
        return Err(format!("in world {place} it is open, and nothing can happen"));
    }
    // The component of each world in the layer before; the first layer is about all worlds in which the promise is open.
    let mut before: Vec<Option<u32>> = worlds.iter().map(|world| world.is_open(due).then_some(0)).collect();
    for layer in layers {
        if !layer.component.iter().map(Option::is_some).eq(before.iter().map(Option::is_some)) {
            return Err("a layer numbers other worlds than those in which it can stay open".to_owned());
        }
        let is_inner = |from: usize, edge: &AuditEdge| {
            let is_kept = if due == 0 { edge.enters != 0 } else { edge.enters & due != 0 };
            !is_kept && before[from] == before[edge.to as usize]
        };
        before = of_layer(layer, worlds, fair, &is_inner)?;
    }
    match before.iter().position(Option::is_some) {
        Some(place) => Err(format!("the layers end, and world {place} is left")),
        None => Ok(()),
    }
}

/// Checks one layer. Returns the components of the worlds in which an execution may stay all the same.
fn of_layer(
    layer: &AuditLayer,
    worlds: &[EdgesOf],
    fair: &[Option<Fair>],
    is_inner: &dyn Fn(usize, &AuditEdge) -> bool,
) -> Result<Vec<Option<u32>>, String> {
    let missed: BTreeMap<u32, u16> = layer.missed.iter().copied().collect();
    // The components of which some world does not enable what is missed.
    let mut partly = BTreeSet::new();
    for (world, number) in worlds.iter().zip(&layer.component) {
        partly.extend(number.filter(|number| missed.get(number).is_some_and(|class| !world.enables(*class))));
    }
    for (place, world) in worlds.iter().enumerate() {
        let Some(number) = layer.component[place] else { continue };
        for edge in world.edges.iter().filter(|edge| is_inner(place, edge)) {
            match (layer.component[edge.to as usize], missed.get(&number)) {
                (Some(to), _) if to > number => return Err(format!("the component of world {place} rises to {to}")),
                (Some(to), None) if to == number => return Err(format!("component {number}: nothing is missed")),
                (Some(to), Some(class)) if to == number && edge.class == Some(*class) => {
                    return Err(format!("component {number}: world {place} takes what is missed"));
                }
                _ => {}
            }
        }
    }
    let fair_of = |class: &u16| fair.get(usize::from(*class)).copied().flatten();
    for (number, class) in &missed {
        match fair_of(class) {
            None => return Err(format!("component {number}: what is missed is not fair")),
            Some(Fair::Weakly) if partly.contains(number) => {
                return Err(format!("component {number}: what is missed is not enabled throughout"));
            }
            Some(_) => {}
        }
    }
    let may_stay = |(world, number): (&EdgesOf, &Option<u32>)| {
        let class = missed.get(&(*number)?)?;
        let is_avoided = fair_of(class) == Some(Fair::Strongly) && partly.contains(&(*number)?);
        number.filter(|_| is_avoided && !world.enables(*class))
    };
    Ok(worlds.iter().zip(&layer.component).map(may_stay).collect())
}
