//! How each state was found first: by which action, from which state. States are numbered in the order in which they were
//! found, so six bytes are enough for a step.

/// The number of steps that are kept together. The lists never move, so they need no spare capacity.
const CHUNK: usize = 1 << 16;

/// What stands for the state before a start.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// The step to each state.
#[derive(Default)]
pub(crate) struct Steps {
    chunks: Vec<Chunk>,
}

#[derive(Default)]
struct Chunk {
    parents: Vec<u32>,
    actions: Vec<u16>,
}

impl Steps {
    /// Notes the step to the next state.
    #[inline]
    pub(crate) fn push(&mut self, parent: u32, action: u16) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.parents.len() < CHUNK => chunk.push(parent, action),
            _ => {
                let mut chunk = Chunk::default();
                chunk.push(parent, action);
                self.chunks.push(chunk);
            }
        }
    }

    /// The action indices that lead to a state by way of its parent, from a start on; the first one is the start's place.
    pub(crate) fn path(&self, mut parent: u32, action: u16) -> Vec<u16> {
        let mut path = vec![action];
        while parent != NOWHERE {
            let place = parent as usize;
            let chunk = &self.chunks[place / CHUNK];
            path.push(chunk.actions[place % CHUNK]);
            parent = chunk.parents[place % CHUNK];
        }
        path.reverse();
        path
    }
}

impl Chunk {
    fn push(&mut self, parent: u32, action: u16) {
        self.parents.push(parent);
        self.actions.push(action);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_backwards_across_chunks() {
        let mut steps = Steps::default();
        steps.push(NOWHERE, 3);
        let last = 2 * CHUNK as u32;
        for parent in 0..last {
            steps.push(parent, u16::try_from(parent % 5).unwrap());
        }
        let path = steps.path(last, 9);
        assert_eq!((path.len(), path[0], path[1], path[2]), (2 * CHUNK + 2, 3, 0, 1));
        assert_eq!(path.last(), Some(&9));
    }
}
