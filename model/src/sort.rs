//! Sorting the short lists of which a world is made.

/// The gaps of M. Ciura, "Best increments for the average case of shellsort" (FCT 2001), continued by a factor of 2.25.
const GAPS: [usize; 12] = [17_961, 7_983, 3_548, 1_577, 701, 301, 132, 57, 23, 10, 4, 1];

/// Sorts a list; equal values may change places. It is Shell's sort, which is insertion sort for up to four values: lists of a world are short and
/// nearly sorted, and have many types. The sort of the standard library is some ten functions for each type, a tenth of what is compiled for a service.
#[inline]
pub fn sort_short<T: Ord>(list: &mut [T]) {
    match list.len() {
        0 | 1 => {}
        2..=4 => sort_by_gap(list, 1),
        count => GAPS.into_iter().filter(|gap| *gap < count).for_each(|gap| sort_by_gap(list, gap)),
    }
}

/// Sorts the values that stand this far apart.
fn sort_by_gap<T: Ord>(list: &mut [T], gap: usize) {
    for end in gap..list.len() {
        let mut place = end;
        while place >= gap && list[place] < list[place - gap] {
            list.swap(place, place - gap);
            place -= gap;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::sort_short;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library_does(mut list in prop::collection::vec(0u16..500, 0..2_000)) {
            let mut other = list.clone();
            sort_short(&mut list);
            other.sort_unstable();
            prop_assert_eq!(list, other);
        }
    }
}
