//! Promises about accepted writes.

use super::View;
use crate::fact::Fact;
use crate::ids::Tenure;
use crate::mutation::KernelMutation;
use crate::service::{Event as _, Service};
use crate::time::Ticks;

pub(super) fn token_order<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let highest = view.ghosts.token;
    for fact in view.facts {
        if let Fact::Granted { client, token, fresh: true, .. } = fact
            && (*token < highest || *token == highest && !view.is_mutated(KernelMutation::EqualTokensOrdered))
        {
            return Err(format!("{client} begins a tenure with {token}, but an earlier tenure had {highest}"));
        }
    }
    Ok(())
}

pub(super) fn sequencer_sound<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let ghosts = &view.ghosts;
    for fact in view.facts {
        if let Fact::Written { client, tenure, .. } = fact
            && !((ghosts.is_running || view.is_mutated(KernelMutation::EndUnseen)) && *tenure == ghosts.tenure)
        {
            return Err(format!("a write of {client} is accepted after the end of its tenure"));
        }
    }
    Ok(())
}

pub(super) fn sequencer_complete<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let ghosts = &view.ghosts;
    for fact in view.facts {
        if let Fact::WriteRefused { client, tenure, .. } = fact
            && ghosts.is_running
            && (ghosts.touched > Tenure::default() || !view.is_mutated(KernelMutation::FirstRefusalUnseen))
            && *tenure == ghosts.tenure
        {
            return Err(format!("a write of {client} is refused while it has the lock"));
        }
    }
    Ok(())
}

pub(super) fn linearizable<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    let reads = &view.ghosts.reads;
    for fact in view.facts {
        let Fact::Service(fact) = fact else { continue };
        let Some((client, owner)) = fact.read_ended() else { continue };
        let is_known =
            reads.contains(&(client, owner)) || owner.is_none() && view.is_mutated(KernelMutation::FreeIsAlwaysTrue);
        if reads.iter().any(|(other, _)| *other == client) && !is_known {
            let answer = owner.map_or("the lock is free".to_owned(), |owner| format!("{owner} has the lock"));
            return Err(format!(
                "{client} receives the answer that {answer}, which was false at every instant since its request"
            ));
        }
    }
    Ok(())
}

pub(super) fn no_lost_update<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    for fact in view.facts {
        let Fact::Written { client, tenure, key, .. } = fact else { continue };
        let touched = view.ghosts.touched(key.filter(|_| !view.is_mutated(KernelMutation::KeysShareTenures)));
        if tenure.next() < touched || *tenure < touched && !view.is_mutated(KernelMutation::LastTenureSpared) {
            let to = key.map_or_else(String::new, |key| format!(" to key {key}"));
            return Err(format!(
                "a write of {client}{to} from an earlier tenure is accepted after a later tenure has written"
            ));
        }
    }
    Ok(())
}

pub(super) fn handled_once<P: Service>(view: &View<'_, P>, _: Option<Ticks>) -> Result<(), String> {
    for fact in view.facts {
        if let Fact::Handled { client, item, again: true } = fact
            && (item.number() > 1 || !view.is_mutated(KernelMutation::FirstItemUnseen))
        {
            return Err(format!("{client} handles {item}, which had been handled"));
        }
    }
    Ok(())
}
