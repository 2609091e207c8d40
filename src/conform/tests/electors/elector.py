"""Electors of the Python package `kubernetes`, unmodified, on a steered clock.

Two things are replaced: the module `time` of kubernetes.leaderelection.leaderelection, and the connections (urllib3's pool) of each
API client. LeaderElection, its locks, the API client and the code under it are the package's. Each elector has a thread, and only one
of them runs at any time: it runs until it sends a request, sleeps or ends. One line of JSON on stdin says what an elector is told, and
one on stdout what it does then. See package.rs.
"""

import importlib.metadata
import io
import json
import logging
import sys
import threading
from queue import SimpleQueue

import urllib3
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock
from kubernetes.leaderelection.resourcelock.leaselock import LeaseLock

# 2026-01-01T00:00:00Z
EPOCH = 1767225600
LOCKS = {"lease": LeaseLock, "config-map": ConfigMapLock}

moves = SimpleQueue()


class Elector(threading.Thread):
    def __init__(self, order):
        super().__init__(daemon=True)
        self.order = order
        self.told = SimpleQueue()
        self.callbacks = []
        self.now = order["now"]
        self.readings = 0

    def wait(self, move):
        """Says what it does, and waits until it is told how that ends."""
        moves.put(move)
        told = self.told.get()
        if told is None:
            raise SystemExit
        if told["now"] != self.now:
            self.now, self.readings = told["now"], 0
        return told

    def started(self):
        self.callbacks.append("started")
        if self.order.get("work_raises"):
            raise RuntimeError("the work has failed")

    def run(self):
        order = self.order
        try:
            lock = LOCKS[order["lock"]]("lead", "default", order["identity"])
            lock.api_instance.api_client.rest_client.pool_manager = Connections()
            config = electionconfig.Config(
                lock,
                lease_duration=order["lease"],
                renew_deadline=order["renew_deadline"],
                retry_period=order["retry_period"],
                onstarted_leading=self.started,
                onstopped_leading=lambda: self.callbacks.append("stopped"),
            )
            leaderelection.LeaderElection(config).run()
            moves.put({"ended": "returned"})
        except Exception as error:
            moves.put({"ended": type(error).__name__})


class Clock:
    """Each reading is a microsecond later than the one before: no two writes have the same renewTime, as on a real clock."""

    def time(self):
        elector = threading.current_thread()
        elector.readings += 1
        return EPOCH + (elector.now + elector.order["ahead"]) / 1000 + elector.readings / 1_000_000

    def sleep(self, seconds):
        threading.current_thread().wait({"sleep": seconds})


class Connections:
    """What urllib3 does for the API client."""

    def request(self, method, url, body=None, timeout=None, **_):
        body = json.loads(body) if body else None
        told = threading.current_thread().wait({"method": method, "url": url, "body": body, "timeout": timeout})
        if "raises" in told:
            raise urllib3.exceptions.MaxRetryError(None, url, told["raises"])
        return urllib3.HTTPResponse(
            body=io.BytesIO(told["body"].encode()),
            status=told["status"],
            headers={"Content-Type": told["type"]},
            preload_content=False,
        )


def main():
    leaderelection.time = Clock()
    logging.disable()
    print(json.dumps({"version": importlib.metadata.version("kubernetes")}), flush=True)
    electors = {}
    for line in sys.stdin:
        order = json.loads(line)
        if order["do"] == "forget":
            for elector in electors.values():
                elector.told.put(None)
                elector.join()
            electors = {}
            continue
        if order["do"] == "start":
            elector = electors[order["elector"]] = Elector(order)
            elector.start()
        else:
            elector = electors[order["elector"]]
            elector.told.put(order)
        move = moves.get()
        # The callback of a new leader has a thread of its own, which was started before the elector waited.
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and not isinstance(thread, Elector):
                thread.join()
        move["callbacks"], elector.callbacks = elector.callbacks, []
        print(json.dumps(move), flush=True)


main()
