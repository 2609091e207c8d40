//! How nodes, services and checks were written, and where in the log (C-INV-17): only readers of the HTTP API see it.

use serde::{Deserialize, Serialize};

use super::Server;
use super::transaction::Failure;
use crate::Consul;
use crate::ConsulMutation;
use crate::messages::{Item, Registration, Text};
use fencepost_model::ids::{ClientId, Index};
use fencepost_model::normal::Normal;
use fencepost_model::process::{Context, Outbox};

/// A node, a service or a check, as it was written last.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub struct ItemRecord {
    /// What was written.
    pub text: Text,
    /// The name and the tags of a service, by number; of a check: those that its service had. 0: none.
    pub face: u32,
    /// The log position of its creation; 0: unknown.
    pub create: Index,
    /// The log position of its last change; 0: unknown.
    pub modify: Index,
}

/// The tables of nodes, services and checks.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Normal, Serialize, Deserialize)]
pub(super) struct Items {
    /// By item.
    rows: Vec<(Item, ItemRecord)>,
    /// The position of the last change of nodes; 0: unknown.
    nodes: Index,
    /// The position of the last change of services; 0: unknown. C-INV-18.
    services: Index,
}

impl Items {
    pub(super) fn find(&self, item: Item) -> Option<ItemRecord> {
        let place = self.rows.binary_search_by_key(&item, |(other, _)| *other).ok()?;
        Some(self.rows[place].1)
    }

    /// C-INV-17: what is written as it was written before has not changed. Of a text that is not known in full it is unknown
    /// whether it has.
    fn write(&mut self, item: Item, (text, face): (Text, u32), counts_equal: bool, index: Index) {
        let place = self.rows.binary_search_by_key(&item, |(other, _)| *other);
        let old = place.ok().map(|place| self.rows[place].1);
        let (create, modify) = match old {
            _ if !text.is_exact => (Index::NONE, Index::NONE),
            None => (index, index),
            Some(old) if !counts_equal && (old.text, old.face) == (text, face) => (old.create, old.modify),
            Some(old) if old.text.is_exact => (old.create, index),
            Some(old) => (old.create, Index::NONE),
        };
        let record = ItemRecord { text, face, create, modify };
        match place {
            Ok(place) => self.rows[place].1 = record,
            Err(place) => self.rows.insert(place, (item, record)),
        }
        match old {
            None => self.touch(item, index),
            Some(old) if (old.text, old.face, old.modify) == (text, face, modify) && text.is_exact => {}
            Some(_) => self.touch(item, modify),
        }
    }

    fn touch(&mut self, item: Item, index: Index) {
        match item {
            Item::Node(_) => self.nodes = index,
            Item::Service(..) => self.services = index,
            Item::Check(..) => {}
        }
    }

    pub(super) fn remove(&mut self, item: Item, index: Index) {
        if let Ok(place) = self.rows.binary_search_by_key(&item, |(other, _)| *other) {
            self.rows.remove(place);
            self.touch(item, index);
        }
    }

    /// C-INV-18: the end of a check of a whole node counts as a change of services.
    pub(super) fn note_services(&mut self, index: Index) {
        self.services = index;
    }

    pub(super) fn services_of(&self, node: ClientId) -> impl Iterator<Item = u16> + '_ {
        self.rows.iter().filter_map(move |(item, _)| match item {
            Item::Service(on, service) if *on == node => Some(*service),
            _ => None,
        })
    }
}

impl Server {
    /// How something was written, if it is there. Without an id table nothing is known of how.
    pub fn record(&self, item: Item) -> Option<ItemRecord> {
        self.id_table.as_ref()?.items.find(item)
    }

    /// The services of a node, by number.
    pub fn services_of(&self, node: ClientId) -> impl Iterator<Item = u16> + '_ {
        self.id_table.iter().flat_map(move |id_table| id_table.items.services_of(node))
    }

    /// C-INV-18: the index of a read of a node with its services; 0: unknown.
    pub fn catalog_index(&self) -> Index {
        let items = self.id_table.as_ref().map(|id_table| (id_table.items.nodes, id_table.items.services));
        items
            .filter(|(nodes, services)| nodes.min(services) > &Index::NONE)
            .map_or(Index::NONE, |(nodes, services)| nodes.max(services))
    }

    /// What was there at the beginning is of this log position, for a server that has not been written to.
    pub fn date_items(&mut self) {
        let index = self.index;
        let Some(id_table) = &mut self.id_table else { return };
        (id_table.items.nodes, id_table.items.services) = (index, index);
        for (_, record) in &mut id_table.items.rows {
            record.text.is_exact = true;
            (record.create, record.modify) = (index, index);
        }
    }

    /// C-INV-9, C-TXN-9: registers a node, a service or a check at the present log position.
    ///
    /// # Errors
    /// What it belongs to is not registered, or it has no id.
    pub fn register(
        &mut self,
        registration: Registration,
        context: &Context<'_, Consul>,
        out: &mut Outbox<Consul>,
    ) -> Result<(), Failure> {
        let mut text = registration.text();
        let mut face = 0;
        match registration {
            Registration::Node(node, _) => self.add_node(node),
            Registration::Service { node, face: own, .. } => {
                self.is_listed(node).then_some(()).ok_or(Failure::NoNode)?;
                face = own;
            }
            Registration::Check { node, kind, status, service, .. } => {
                self.is_listed(node).then_some(()).ok_or(Failure::NoNode)?;
                if let Some(service) = service {
                    // C-INV-17: a check takes over the name and the tags of its service.
                    let record = self.record(Item::Service(node, service)).ok_or(Failure::NoService)?;
                    (face, text.is_exact) = (record.face, text.is_exact && record.text.is_exact);
                }
                if text.has_id {
                    self.attach(node, kind, service);
                    self.apply_check(node, kind, status, context, out);
                }
            }
        }
        if !text.has_id {
            return Err(Failure::NoId);
        }
        let index = self.index;
        let counts_equal = context.is_mutated(ConsulMutation::EqualRegistrationCounts);
        if let Some(id_table) = &mut self.id_table {
            id_table.items.write(registration.item(), (text, face), counts_equal, index);
        }
        Ok(())
    }

    /// C-TXN-10: whether something is at an index, where 0 means that it is not there.
    ///
    /// # Errors
    /// Its index is not known.
    pub(super) fn is_at(&self, item: Item, index: Index, context: &Context<'_, Consul>) -> Result<bool, Failure> {
        match self.record(item) {
            _ if context.is_mutated(ConsulMutation::CatalogCasIgnoresIndex) => Ok(true),
            None => Ok(index == Index::NONE),
            Some(_) if index == Index::NONE => Ok(false),
            Some(record) if record.modify == Index::NONE => Err(Failure::Untold),
            Some(record) => Ok(record.modify == index),
        }
    }

    /// C-INV-19: a node that was renamed is as old as the one whose id it has.
    pub fn date_node(&mut self, node: ClientId, create: Index) {
        let items = self.id_table.iter_mut().flat_map(|id_table| &mut id_table.items.rows);
        items.filter(|(item, _)| *item == Item::Node(node)).for_each(|(_, record)| record.create = create);
    }
}
