//! What the two ends of a conversation call a part: the place at which it was told, from 0. Nothing is told twice, and what is sent from one
//! worker to another arrives in order.

/// The sender's side.
#[derive(Default)]
pub(crate) struct Told {
    /// By the number of a part at the sender, one more than its place; 0: it was not told.
    places: Vec<u32>,
    count: u32,
}

/// The receiver's side.
#[derive(Default)]
pub(crate) struct Heard {
    /// By place, the number of a part at the receiver.
    numbers: Vec<u32>,
}

impl Told {
    /// The place of a part, and whether it has to be told first.
    pub(crate) fn place(&mut self, number: u32) -> (u32, bool) {
        let number = number as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, 0);
        }
        let is_new = self.places[number] == 0;
        if is_new {
            self.count += 1;
            self.places[number] = self.count;
        }
        (self.places[number] - 1, is_new)
    }
}

impl Heard {
    /// The next part has this number here.
    pub(crate) fn push(&mut self, number: u32) {
        self.numbers.push(number);
    }

    /// The same as the sender's side, where sender and receiver are one.
    pub(super) fn told(&self) -> Told {
        let mut told = Told::default();
        self.numbers.iter().for_each(|number| _ = told.place(*number));
        told
    }

    /// The number of the part at this place; none if it was not told.
    pub(crate) fn number(&self, place: u64) -> Option<u32> {
        self.numbers.get(usize::try_from(place).ok()?).copied()
    }
}
