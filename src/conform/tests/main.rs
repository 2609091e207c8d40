//! The models against recorded answers, and against live servers where there are some.

mod conform;
mod rabbitmq;
mod safeguard;
