//! Which request is answered at once, held or refused.

use super::{Asker, Behind, Cluster, Ctx, EtcdEvent, Fact, Held, Out, Response};
use crate::EtcdMutation as Mutant;
use crate::messages::Request;
use crate::settings::Reads;
use fencepost_model::ids::ClientId;

impl Cluster {
    pub(super) fn ask(&mut self, asker: Asker, request: Request, context: &Ctx<'_>, out: Out<'_>) {
        if let Some(response) = self.renew_stalled(asker.0, request, context, out) {
            return super::answer(out, asker, response);
        }
        // Between election and promotion everything waits (E-KV-10, E-LD-3).
        if self.is_away() || self.is_with_stalled(asker.0) {
            let is_retried = matches!(request, Request::Renew(_) | Request::Watch(..) | Request::Follow(..));
            return match self.is_down() && !is_retried {
                // The connection is refused; the client itself repeats renewals and watches only.
                true => super::answer(out, asker, Response::Failed),
                false => self.hold(asker, request),
            };
        }
        match self.serve(asker, request, context, out) {
            Served::Answered => {}
            Served::At(response) => super::answer(out, asker, response),
            Served::Later => self.hold(asker, request),
        }
    }

    /// A request waits. Of the renewals of one lease the last one is answered: they are served in order (E-LS-4).
    fn hold(&mut self, (client, call): Asker, request: Request) {
        let is_same = |held: &&mut Held| held.client == client && held.request == request;
        if let (Request::Renew(_), Some(held)) = (request, self.held.iter_mut().find(is_same)) {
            held.call = call;
        } else {
            self.held.push(Held { client, call, request });
        }
    }

    fn serve(&mut self, asker: Asker, request: Request, context: &Ctx<'_>, out: Out<'_>) -> Served {
        Served::At(match request {
            Request::Grant(id, ttl) => self.grant_lease(id, ttl, context, out),
            Request::Renew(id) => match self.renew(id, context, out) {
                Some(response) => response,
                None => return Served::Later,
            },
            Request::Revoke(id) => self.revoke(id, context, out),
            Request::Txn(compare, operation) => self.transact(asker.0, compare, operation, context, out),
            Request::Newest(before) => Response::Found(self.newest_before(before, context), self.revision),
            Request::Get(key) => Response::Found(self.entry(key).map(super::Entry::shown), self.revision),
            Request::Watch(key, from) => {
                self.watch(asker, key, from, context, out);
                return Served::Answered;
            }
            Request::Delete(key) => {
                self.delete(asker, key, context, out);
                return Served::Answered;
            }
            Request::Holder => self.holder(asker.0, context, out),
            Request::Put(key, lease, value) => self.put_by_name(key, (lease, value), asker.0, context, out),
            Request::First { serializable } => self.read_oldest(asker.0, serializable, context, out),
            Request::Follow(range, cursor) => {
                self.follow(asker, range, cursor, context, out);
                return Served::Answered;
            }
        })
    }

    /// A read of the holder. A local copy may lag behind; so may a linearizable read whose try repeats a request number (E-25).
    fn holder(&self, client: ClientId, context: &Ctx<'_>, out: Out<'_>) -> Response {
        let now = self.record().owners.first().copied();
        let may_lag = match context.scenario.service.reads {
            Reads::Local | Reads::ReusedNumber => true,
            Reads::Linearizable | Reads::Never => context.is_mutated(Mutant::LinearizableReadsLag),
        };
        match self.behind.as_deref() {
            Some(Behind { holder, .. }) if may_lag => {
                out.record(Fact::Service(EtcdEvent::ReadStale(client)));
                Response::Holder(*holder)
            }
            _ => Response::Holder(now),
        }
    }
}

/// How a request was served.
enum Served {
    /// With this response.
    At(Response),
    /// It was answered already, or is a watch.
    Answered,
    /// It waits.
    Later,
}
