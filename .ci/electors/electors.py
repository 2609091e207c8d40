"""Leader election by the Python package `kubernetes`, unmodified, against a stand-in for leases, in real time: two electors, each a process
with an address of its own. `electors.py ADDRESS ADDRESS_OF_A ADDRESS_OF_B`. What happens is printed; what should not makes it fail.
"""

import json
import subprocess
import sys
import threading
import time
import urllib.request
from itertools import pairwise

from kubernetes import client
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

# In seconds.
LEASE, RENEW_DEADLINE, RETRY_PERIOD = 6, 3, 1


def ask(address, method, path, body=""):
    request = urllib.request.Request(f"http://{address}/fencepost/{path}", body.encode(), method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def elect(address, name):
    """One elector, which says when its work begins and ends."""

    def says(what):
        ask(address, "PUT", f"{what}?key=default/lead")
        print(what, flush=True)

    lock = LeaseLock("lead", "default", name)
    configuration = client.Configuration(host=f"http://{address}")
    lock.api_instance = client.CoordinationV1Api(client.ApiClient(configuration))
    config = electionconfig.Config(
        lock,
        lease_duration=LEASE,
        renew_deadline=RENEW_DEADLINE,
        retry_period=RETRY_PERIOD,
        onstarted_leading=lambda: says("inside"),
        onstopped_leading=lambda: says("outside"),
    )
    try:
        leaderelection.LeaderElection(config).run()
        print("returned", flush=True)
    except Exception as error:
        print(type(error).__name__, flush=True)


class Story:
    """An empty store, and electors that are killed at the end."""

    def __init__(self, address, addresses, title):
        self.address, self.addresses, self.said, self.running = address, addresses, [], []
        self.changed = threading.Condition()
        print(title, flush=True)
        ask(address, "PUT", "reset")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for elector in self.running:
            elector.kill()
            elector.wait()

    def start(self, name):
        arguments = [sys.executable, __file__, "elector", self.addresses[name], name]
        elector = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.running.append(elector)
        threading.Thread(target=self.listen, args=(name, elector.stdout), daemon=True).start()

    def listen(self, name, lines):
        for line in lines:
            with self.changed:
                self.said.append(f"{name} {line.strip()}")
                self.changed.notify()

    def until(self, what):
        """Waits until an elector has said that."""
        with self.changed:
            assert self.changed.wait_for(lambda: what in self.said, 30), f"not heard: {what}; heard: {self.said}"

    def plan(self, text):
        ask(self.address, "PUT", "faults", text)

    def begin(self):
        """The elector a leads, and b has looked."""
        self.start("a")
        self.until("a inside")
        self.start("b")
        time.sleep(2 * RETRY_PERIOD)

    def requests(self, method):
        """Those of this story, in the order in which they ended; one without an answer has no status."""
        record = urllib.request.urlopen(f"http://{self.address}/fencepost/record").read().decode()
        lines = [json.loads(line) for line in record.splitlines()]
        begin = max(at for at, line in enumerate(lines) if "reset" in line)
        return [line for line in lines[begin:] if line.get("method") == method]

    def told(self, said, findings):
        """What the electors have said so far, in order, and the broken promises."""
        verdict = ask(self.address, "GET", "verdict")
        for finding in verdict["findings"]:
            print(f"  {finding['property']} of {finding['key']}: {finding['sentence']}")
        for takeover in verdict["leases"]["takeovers"]:
            print(f"  {takeover['to']} took over; the record had stood unchanged for {takeover['unchanged_for']} s")
            assert float(takeover["unchanged_for"]) >= LEASE, verdict
        found = [finding["property"] for finding in verdict["findings"]]
        assert (self.said, found) == (said, findings), (self.said, verdict)


def they_take_turns(story):
    story.begin()
    story.plan('on * *leases/lead from a: status 503 "the server is currently unable to handle the request"')
    story.until("b inside")
    story.told(["a inside", "a outside", "a returned", "b inside"], [])


def a_late_renewal_is_refused_and_its_sender_leads_meanwhile(story):
    story.begin()
    story.plan("on PUT *leases/lead from a #1: delay-request 10s")
    story.until("a returned")
    story.told(["a inside", "b inside", "a outside", "a returned"], ["mutual-exclusion"])


def without_a_connection_the_work_is_not_told(story):
    story.begin()
    story.plan("on * *leases/lead from a: reset")
    story.until("b inside")
    story.told(["a inside", "a MaxRetryError", "b inside"], ["mutual-exclusion"])


def a_renewal_whose_answer_is_lost_is_sent_again_and_refused(story):
    story.begin()
    story.plan("on PUT *leases/lead from a #1: lose-answer")
    time.sleep(LEASE + 2 * RETRY_PERIOD)
    story.told(["a inside"], [])
    renewals = story.requests("PUT")
    twice = [(first["status"], second["status"]) for first, second in pairwise(renewals) if first["body"] == second["body"]]
    assert twice == [(None, 409)], renewals
    print("  urllib3 has sent it a second time, which the version refuses; the elector leads on")


STORIES = [
    (they_take_turns, "python: a leader that gets errors stops before its successor begins"),
    (
        a_late_renewal_is_refused_and_its_sender_leads_meanwhile,
        "python: requests have no timeout; a renewal that hangs is refused by its version, and its sender led until then (OL-6)",
    ),
    (
        without_a_connection_the_work_is_not_told,
        "python: a connection that is reset raises through run(), and onstopped_leading is not called",
    ),
    (
        a_renewal_whose_answer_is_lost_is_sent_again_and_refused,
        "python: a renewal whose answer is lost is sent again by urllib3, and refused",
    ),
]


def main(address, a, b):
    for happens, title in STORIES:
        with Story(address, {"a": a, "b": b}, title) as story:
            happens(story)


if sys.argv[1] == "elector":
    elect(*sys.argv[2:])
else:
    main(*sys.argv[1:])
