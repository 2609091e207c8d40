//! The rumours that a member passes on: each a limited number of times, the least sent first.

use super::Rumour;

/// As many rumours fit into a packet.
const FIT: usize = 16;

/// Rumours that are still passed on.
#[derive(Clone, Debug, Default)]
pub(super) struct Rumours {
    /// The number of transmissions, the age rank (higher is younger), and the rumour.
    list: Vec<(u32, u64, Rumour)>,
    added: u64,
}

impl Rumours {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A rumour takes the place of an older one about the same member.
    pub(super) fn add(&mut self, rumour: Rumour) {
        self.list.retain(|(_, _, other)| other.about != rumour.about);
        self.added += 1;
        self.list.push((0, self.added, rumour));
    }

    /// The rumours of a packet in a pool of this size.
    pub(super) fn tell(&mut self, retransmit_mult: i64, members: usize) -> Vec<Rumour> {
        let digits = i64::from(members.ilog10() + 1);
        let limit = u32::try_from(retransmit_mult * digits).expect("small numbers");
        self.list.sort_unstable_by_key(|(sent, age, _)| (*sent, u64::MAX - age));
        let chosen: Vec<Rumour> = self.list.iter().take(FIT).map(|(_, _, rumour)| *rumour).collect();
        for (times, _, _) in self.list.iter_mut().take(FIT) {
            *times += 1;
        }
        self.list.retain(|(times, _, _)| *times < limit);
        chosen
    }
}
