//! Log positions of the model and of the agent. Only their order means something (C-GEN-4); so an answer of the agent is that of the
//! model if there is one increasing map between them.

use std::collections::BTreeMap;

use fencepost_consul::{Answer, Entry, Request, Target};
use fencepost_model::ids::{Call, ClientId, Index, SessionId, Tenure, Token};
use fencepost_model::normal::{Normal as _, Visitor};
use fencepost_model::time::{Instant, Ticks};

/// The positions that were met.
#[derive(Default)]
pub(super) struct Positions {
    /// Of entries.
    entries: BTreeMap<Index, Index>,
    /// Of listings: other executions write into the same store, so that the same position may be a later one.
    listings: BTreeMap<Index, Index>,
}

impl Positions {
    /// Whether the agent's answer is the one of the model.
    pub(super) fn are_same(&mut self, model: Answer, agent: Answer) -> bool {
        match (model, agent) {
            (Answer::Found(model), Answer::Found(agent)) => self.is_same_entry(model, agent),
            (Answer::Listed(mut model), Answer::Listed(mut agent)) => {
                self.listings.insert(model.index, agent.index);
                model.alive.sort_unstable();
                agent.alive.sort_unstable();
                let is_same_entry = match (model.slots, agent.slots) {
                    (Some(model), Some(agent)) => self.is_same_entry(model, agent),
                    (None, None) => true,
                    _ => false,
                };
                is_same_entry && model.alive == agent.alive
            }
            (Answer::Keys(model), Answer::Keys(agent)) => {
                self.listings.insert(model.index, agent.index);
                (model.keys, model.more) == (agent.keys, agent.more)
            }
            (Answer::Tree(model), Answer::Tree(agent)) => {
                self.listings.insert(model.index, agent.index);
                (model.rows.len(), model.more) == (agent.rows.len(), agent.more)
                    && model.rows.iter().zip(agent.rows.iter()).all(|(model, agent)| {
                        (model.key, model.session) == (agent.key, agent.session)
                            && self.meet(model.create, agent.create)
                            && self.meet(model.modify, agent.modify)
                    })
            }
            (Answer::Before(Some((model, position))), Answer::Before(Some((agent, there)))) => {
                model == agent && self.meet(position, there)
            }
            _ => model == agent,
        }
    }

    fn is_same_entry(&mut self, model: Entry, agent: Entry) -> bool {
        let rest = |entry: Entry| Entry { create: Index::NONE, modify: Index::NONE, ..entry };
        rest(model) == rest(agent) && self.meet(model.create, agent.create) && self.meet(model.modify, agent.modify)
    }

    /// Whether the positions can be the same.
    pub(super) fn meet(&mut self, model: Index, agent: Index) -> bool {
        if let Some(known) = self.entries.get(&model) {
            return *known == agent;
        }
        let is_after = self.entries.range(..model).next_back().is_none_or(|(_, before)| *before < agent);
        let is_before = self.entries.range(model..).next().is_none_or(|(_, after)| *after > agent);
        self.entries.insert(model, agent);
        is_after && is_before
    }

    /// Whether the position of an entry is known.
    pub(super) fn knows(&self, model: Index) -> bool {
        self.entries.contains_key(&model)
    }

    /// The request with the agent's positions.
    pub(super) fn translated(&self, mut request: Request) -> Result<Request, String> {
        let is_listing = request.watch().is_some_and(|watch| !matches!(watch.target, Target::Key(_)));
        let mut translation = Translation { positions: self, is_listing, unknown: None };
        request.visit(&mut translation);
        match translation.unknown {
            None => Ok(request),
            Some(index) => Err(format!("`{request}` names {index}, which no answer has told")),
        }
    }
}

struct Translation<'a> {
    positions: &'a Positions,
    is_listing: bool,
    unknown: Option<Index>,
}

impl Visitor for Translation<'_> {
    fn index(&mut self, index: &mut Index) {
        let Positions { entries, listings } = self.positions;
        let (first, second) = if self.is_listing { (listings, entries) } else { (entries, listings) };
        match first.get(index).or(second.get(index)) {
            _ if *index == Index::NONE => {}
            Some(there) => *index = *there,
            None => self.unknown = Some(*index),
        }
    }

    fn deadline(&mut self, _: &mut Instant) {}
    fn until(&mut self, _: &mut Instant) {}
    fn elapsed(&mut self, _: &mut Instant) {}
    fn since(&mut self, _: &mut Instant) {}
    fn token(&mut self, _: &mut Token) {}
    fn tenure(&mut self, _: &mut Tenure) {}
    fn session(&mut self, _: &mut SessionId) {}
    fn call(&mut self, _: &mut Call) {}
    fn call_of(&mut self, _: ClientId, _: &mut Call) {}
    fn scope(&mut self, _: Option<ClientId>, _: Ticks) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_consul::{LOCK, Opaque, Spelling};

    fn entry(create: u32, modify: u32) -> Entry {
        let (create, modify) = (Index::numbered(create), Index::numbered(modify));
        Entry {
            value: Opaque::Empty,
            flags: 0,
            lock_index: 1,
            session: None,
            spelling: Spelling::default(),
            create,
            modify,
        }
    }

    #[test]
    fn positions_may_have_gaps_but_keep_their_order() {
        let mut positions = Positions::default();
        assert!(positions.are_same(Answer::Found(entry(3, 4)), Answer::Found(entry(17, 90))));
        assert!(positions.are_same(Answer::Found(entry(3, 7)), Answer::Found(entry(17, 91))));
        assert!(!positions.are_same(Answer::Found(entry(3, 7)), Answer::Found(entry(17, 92))), "it was another one");
        assert!(!positions.are_same(Answer::Found(entry(3, 9)), Answer::Found(entry(17, 20))), "it went back");
    }

    #[test]
    fn an_entry_differs_in_what_it_says() {
        let mut positions = Positions::default();
        let other = Entry { lock_index: 2, ..entry(17, 90) };
        assert!(!positions.are_same(Answer::Found(entry(3, 4)), Answer::Found(other)));
        assert!(!positions.are_same(Answer::Found(entry(3, 4)), Answer::Absent));
        assert!(positions.are_same(Answer::Done(true), Answer::Done(true)));
        assert!(!positions.are_same(Answer::Done(true), Answer::Done(false)));
    }

    #[test]
    fn a_request_names_the_positions_of_the_agent() {
        let mut positions = Positions::default();
        positions.meet(Index::numbered(4), Index::numbered(90));
        let at = |index| Request::DeleteCas { key: LOCK, index: Index::numbered(index) };
        assert_eq!(positions.translated(at(4)), Ok(at(90)));
        assert_eq!(positions.translated(at(0)), Ok(at(0)));
        assert!(positions.translated(at(5)).is_err());
    }
}
