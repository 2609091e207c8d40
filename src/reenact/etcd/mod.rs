//! An etcd server is driven through an execution, over its JSON gateway (E-GEN-4). gRPC is left out: the gateway passes each request on to it.
//!
//! ```text
//! driven     what a plan has to know of etcd
//! causes     what an action means for the server
//! obstacles  what cannot be caused from outside
//! server     where it is, and the commands that the user gives for it; it must be empty
//! stage      the keys and leases of one execution
//! requests   a request of the model as one of the gateway
//! answers    an answer of the gateway, compared with the one of the model
//! revisions  revisions of the model and of the server
//! calls      requests in flight
//! watch      a watch that is one
//! drive      each step at its time
//! operators  what operators do
//! ```

mod answers;
mod calls;
mod causes;
mod drive;
mod driven;
mod obstacles;
mod operators;
mod requests;
mod revisions;
mod server;
mod stage;
mod watch;

pub use server::{DrivenEtcd, EtcdCommands};
