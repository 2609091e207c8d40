//! Work on several things at the same time, with results in their order: the number of cores changes no result.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

/// Applies `work` to each item, on all cores. What comes after an item whose work fails may not be worked on.
///
/// # Errors
/// The error of the first item that has one.
pub(crate) fn side_by_side<T: Sync, R: Send, E: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let workers = available_parallelism().map_or(1, NonZero::get).min(items.len());
    if workers <= 1 {
        return items.iter().map(work).collect();
    }
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let worker = || {
        let mut mine = Vec::new();
        loop {
            // Places are given out in order: everything before one that failed is worked on.
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place).filter(|_| place < failed.load(Ordering::Relaxed)) else { break };
            let result = work(item);
            if result.is_err() {
                failed.fetch_min(place, Ordering::Relaxed);
            }
            mine.push((place, result));
        }
        done.lock().expect("no worker panics while it holds the results").extend(mine);
    };
    scope(|scope| {
        for _ in 0..workers {
            scope.spawn(worker);
        }
    });
    let mut done = done.into_inner().expect("no worker panics while it holds the results");
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn results_are_in_order_and_the_first_error_counts() {
        let items: Vec<u32> = (0..1000).collect();
        let doubled = side_by_side(&items, |item| Ok::<_, ()>(item * 2)).expect("nothing fails");
        assert_eq!(doubled, (0..1000).map(|item| item * 2).collect::<Vec<_>>());
        for _ in 0..50 {
            let failed = side_by_side(&items, |item| if item % 100 == 77 { Err(*item) } else { Ok(()) });
            assert_eq!(failed, Err(77));
        }
        assert_eq!(side_by_side(&[], |item: &u32| Err::<(), _>(*item)), Ok(vec![]));
    }
}
