//! The rules of `rules.md`, each by the verdicts of scenarios that depend on it. A test whose name begins with the number of a rule is
//! the test of that rule.
