//! Difference constraints: `x[to] - x[from] >= ticks * tick + room`. The earliest solution is a longest path.

/// One constraint.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The earlier instant, for a lower bound.
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// The distance at least, in ticks; negative for an upper bound.
    pub ticks: i64,
    /// In addition, in milliseconds.
    pub room: i64,
    /// What has to be kept clear besides.
    pub margin: Margin,
}

/// What has to be kept clear of a deadline.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Margin {
    /// Nothing: the order of two steps.
    None,
    /// The time that a request takes: the order of two steps at the server.
    Request,
    /// Less than nothing: where the scenario has no delay at all, there is a short one.
    Prompt,
    /// The time by which requests and timers of the server may be off.
    Server,
    /// The same for a deadline of a client, which this program counts by itself and can meet exactly.
    Client,
    /// In addition, the time by which a timer of the server may be late.
    ServerTimer,
}

/// How much is kept clear, in milliseconds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Between requests.
    pub request: i64,
    /// How long a delay may be that is none in the scenario.
    pub prompt: i64,
    /// Of the server's deadlines.
    pub server: i64,
    /// Of the clients' deadlines.
    pub client: i64,
    /// How late a timer of the server may be.
    pub lateness: i64,
}

impl Pace {
    fn of(self, margin: Margin) -> i64 {
        match margin {
            Margin::None => 0,
            Margin::Request => self.request,
            Margin::Prompt => -self.prompt,
            Margin::Server => self.server,
            Margin::Client => self.client,
            Margin::ServerTimer => self.server + self.lateness,
        }
    }
}

/// The lengths that a tick may have, in milliseconds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TickRange {
    /// The shortest one.
    pub least: i64,
    /// The longest one.
    pub most: i64,
    /// Every length is a multiple of this.
    pub multiple_of: i64,
}

/// A solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The length of a tick, in milliseconds.
    pub tick: i64,
    /// Each instant, in milliseconds from the start.
    pub at: Vec<i64>,
    /// What was kept clear.
    pub pace: Pace,
}

/// Why there is no solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unsolvable {
    /// These instants must be the same, and cannot.
    Simultaneous(Vec<usize>),
    /// One of these instants must be later than the server allows, whatever the length of a tick.
    Contradiction(Vec<usize>),
    /// A tick would have to be longer than this maximum, in milliseconds.
    TickTooLong(i64),
}

/// Solves the constraints on `count` instants with the shortest tick of the range that leaves room for everything.
///
/// # Errors
/// No tick of the range is long enough.
pub fn solve(count: usize, edges: &[Edge], pace: Pace, ticks: TickRange) -> Result<Schedule, Unsolvable> {
    let TickRange { least, most, multiple_of } = ticks;
    let rounded = |tick: i64| (tick + multiple_of - 1) / multiple_of * multiple_of;
    let mut tick = rounded(least);
    loop {
        let cycle = match longest(count, edges, pace, tick) {
            Ok(at) => return Ok(Schedule { tick, at, pace }),
            Err(cycle) => cycle,
        };
        let ticks: i64 = cycle.iter().map(|edge| edge.ticks).sum();
        let room: i64 = cycle.iter().map(|edge| edge.room + pace.of(edge.margin)).sum();
        let mut instants: Vec<usize> = cycle.iter().map(|edge| edge.from).collect();
        instants.sort_unstable();
        match ticks {
            0 => return Err(Unsolvable::Simultaneous(instants)),
            1.. => return Err(Unsolvable::Contradiction(instants)),
            // The cycle fits into a tick that is longer: -ticks * tick >= room.
            _ => tick = rounded((room + -ticks - 1) / -ticks),
        }
        if tick > most {
            return Err(Unsolvable::TickTooLong(most));
        }
    }
}

/// The earliest instants, or a cycle of constraints that contradict each other.
fn longest(count: usize, edges: &[Edge], pace: Pace, tick: i64) -> Result<Vec<i64>, Vec<Edge>> {
    let length = |edge: &Edge| edge.ticks * tick + edge.room + pace.of(edge.margin);
    let mut at = vec![0; count];
    let mut last: Vec<Option<usize>> = vec![None; count];
    for _ in 0..=count {
        let mut raised = None;
        for (place, edge) in edges.iter().enumerate() {
            let bound = at[edge.from] + length(edge);
            if bound > at[edge.to] {
                (at[edge.to], last[edge.to], raised) = (bound, Some(place), Some(edge.to));
            }
        }
        let Some(mut instant) = raised else { return Ok(at) };
        if let Some(cycle) = cycle_behind(&mut instant, &last, edges, count) {
            return Err(cycle);
        }
    }
    unreachable!("an instant that is raised as often as there are instants lies behind a cycle")
}

/// The cycle from which an instant was raised, if it was raised from one.
fn cycle_behind(start: &mut usize, last: &[Option<usize>], edges: &[Edge], count: usize) -> Option<Vec<Edge>> {
    for _ in 0..count {
        *start = edges[last[*start]?].from;
    }
    let mut cycle = Vec::new();
    let mut instant = *start;
    loop {
        let edge = edges[last[instant]?];
        cycle.push(edge);
        instant = edge.from;
        if instant == *start {
            cycle.reverse();
            return Some(cycle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(least: i64, most: i64) -> TickRange {
        TickRange { least, most, multiple_of: 1 }
    }

    const PACE: Pace = Pace { request: 25, prompt: 250, server: 50, client: 0, lateness: 300 };

    fn after(from: usize, to: usize, ticks: i64, margin: Margin) -> Edge {
        Edge { from, to, ticks, room: 0, margin }
    }

    /// `to` is at most `ticks` later than `from`.
    fn within(from: usize, to: usize, ticks: i64, margin: Margin) -> Edge {
        Edge { from: to, to: from, ticks: -ticks, room: 0, margin }
    }

    #[test]
    fn a_chain_is_as_early_as_it_can_be() {
        let edges = [after(0, 1, 2, Margin::Server), after(1, 2, 0, Margin::Client), after(0, 2, 1, Margin::None)];
        let schedule = solve(3, &edges, PACE, between(1_000, 9_000)).expect("a solution");
        assert_eq!((schedule.tick, schedule.at), (1_000, vec![0, 2_050, 2_050]));
    }

    #[test]
    fn a_bound_from_above_moves_the_earlier_instant() {
        // 2 happens three ticks after 0, and at most one tick after 1.
        let edges = [after(0, 1, 0, Margin::None), after(0, 2, 3, Margin::None), within(1, 2, 1, Margin::Server)];
        let schedule = solve(3, &edges, PACE, between(1_000, 9_000)).expect("a solution");
        assert_eq!(schedule.at, vec![0, 2_050, 3_000]);
    }

    #[test]
    fn a_tick_is_as_long_as_the_margins_need() {
        // Between one tick after 0 and two ticks after 0, with 350 ms and 50 ms clear.
        let edges = [after(0, 1, 1, Margin::ServerTimer), within(0, 1, 2, Margin::Server)];
        let schedule = solve(2, &edges, PACE, between(100, 9_000)).expect("a solution");
        assert_eq!((schedule.tick, schedule.at[1]), (400, 750));
        let whole = TickRange { multiple_of: 500, ..between(100, 9_000) };
        assert_eq!(solve(2, &edges, PACE, whole).map(|schedule| schedule.tick), Ok(500));
        assert_eq!(solve(2, &edges, PACE, between(100, 399)), Err(Unsolvable::TickTooLong(399)));
    }

    #[test]
    fn what_must_coincide_is_found_at_every_tick() {
        let edges = [after(0, 1, 2, Margin::Server), within(0, 1, 2, Margin::Server), after(0, 2, 5, Margin::None)];
        assert_eq!(solve(3, &edges, PACE, between(1_000, 9_000)), Err(Unsolvable::Simultaneous(vec![0, 1])));
        let exact = [after(0, 1, 2, Margin::Client), within(0, 1, 2, Margin::Client)];
        assert!(solve(2, &exact, PACE, between(1_000, 9_000)).is_ok(), "a client's deadline can be met exactly");
    }

    #[test]
    fn a_late_server_is_a_contradiction() {
        let edges = [after(0, 1, 3, Margin::None), within(0, 1, 2, Margin::Server)];
        assert_eq!(solve(2, &edges, PACE, between(1_000, 9_000)), Err(Unsolvable::Contradiction(vec![0, 1])));
    }

    #[test]
    fn every_solution_keeps_every_constraint() {
        // Drawn by a generator of our own: the same constraints on every machine.
        let mut state: u64 = 1;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut solved, mut refused) = (0, 0);
        for _ in 0..2_000 {
            let count = 2 + usize::try_from(draw(8)).expect("small");
            let margins = [Margin::None, Margin::Server, Margin::Client, Margin::ServerTimer];
            let edges: Vec<Edge> = (0..count * 2)
                .map(|_| {
                    let mut place = || usize::try_from(draw(count as u64)).expect("small");
                    let (from, to) = (place(), place());
                    let ticks = i64::try_from(draw(9)).expect("small") - 5;
                    Edge { from, to, ticks, room: 0, margin: margins[usize::try_from(draw(4)).expect("small")] }
                })
                .filter(|edge| edge.from != edge.to)
                .collect();
            match solve(count, &edges, PACE, between(1_000, 60_000)) {
                Ok(Schedule { tick, at, .. }) => {
                    solved += 1;
                    for edge in &edges {
                        let least = at[edge.from] + edge.ticks * tick + PACE.of(edge.margin);
                        assert!(at[edge.to] >= least, "{edge:?} of {edges:?} in {at:?}");
                    }
                }
                Err(_) => refused += 1,
            }
        }
        assert!(solved > 300 && refused > 300, "{solved} solved, {refused} refused");
    }
}
