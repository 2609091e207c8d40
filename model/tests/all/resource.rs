//! Which writes a resource accepts.

use fencepost::lease::Lease;
use fencepost_model::fact::Fact;
use fencepost_model::ids::{ClientId, Tenure, Token};
use fencepost_model::resource::{Accepts, Resource, Write, WriteTarget};

#[test]
fn each_kind_of_resource_refuses_its_stale_writes() {
    let write =
        |token| Write { token: Token::numbered(token), tenure: Tenure(1), call: None, target: WriteTarget::Whole };
    for (accepts, tokens, expected) in [
        (Accepts::All, [5, 3, 3], [true, true, true]),
        (Accepts::NotLower, [5, 3, 5], [true, false, true]),
        (Accepts::Greater, [5, 3, 5], [true, false, false]),
        (Accepts::Unchanged, [0, 0, 1], [true, false, true]),
    ] {
        let mut resource = Resource::default();
        let answers = tokens.map(|token| {
            matches!(resource.judge::<Lease>(ClientId(1), write(token), accepts, None), Fact::Written { .. })
        });
        assert_eq!(answers, expected, "{accepts:?}");
    }
}
