//! The rules of observed leases by the verdicts of scenarios, and the slack of published settings. One test binary, so that it is
//! compiled once.

mod coordinated;
mod dynamo_commit;
mod programs;
mod rules;
mod slack;
mod wall_clocks;
