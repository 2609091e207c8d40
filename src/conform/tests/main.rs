//! The models against recorded answers, and against live servers where there are some.

mod by_hand;
mod clients;
mod conform;
mod crowds;
mod documents;
mod electors;
mod etcd;
mod etcd_members;
mod etcd_order;
mod etcd_queues;
mod etcd_shrink;
mod etcd_watches;
mod gossip;
mod hazards;
mod incidents;
mod incomplete;
mod items;
mod losses;
mod rabbitmq;
mod record;
mod rows;
mod safeguard;
mod slots;
mod stopped;
mod story;
mod traffic;
