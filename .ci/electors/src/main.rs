//! Leader election by published crates against a stand-in for leases, in real time, with leases of two seconds:
//! `electors ADDRESS ADDRESS_OF_A ADDRESS_OF_B`. What happens is printed; what should not makes it fail.

mod conditional;
mod stand_in;
mod unconditional;

use stand_in::StandIn;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let [all, a, b] = std::env::args().skip(1).collect::<Vec<_>>().try_into().expect("three addresses");
    let stand_in = StandIn::at(&all);
    let addresses = [a, b];
    unconditional::they_take_turns(&stand_in, &addresses).await;
    unconditional::two_patches_acquire_one_lease(&stand_in, &addresses).await;
    unconditional::a_late_renewal_extends_the_lease_of_another(&stand_in, &addresses).await;
    conditional::they_take_turns(&stand_in, &addresses).await;
    conditional::the_second_of_two_patches_is_refused(&stand_in, &addresses).await;
}
