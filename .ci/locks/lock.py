"""Two clients with the lock of consul-lock 0.1.6, `EphemeralLock`, one after the other. The library knows no renewal: the work takes less
than the TTL. Its clock is the stand-in's."""

import importlib.util
import os
import sys

import consul

from clients import hold, run, sleep, tell

# It would count more than the address of each client.
del os.environ["CONSUL_HTTP_ADDR"]

# The package was written for Python 2, where a module finds its neighbours by their bare names.
sys.path.insert(0, importlib.util.find_spec("consul_lock").submodule_search_locations[0])
import lock_impl


class Clock:
    sleep = staticmethod(sleep)
    time = staticmethod(lambda: float(tell("GET", "clock")["now"]))


lock_impl.time = Clock


def work(own):
    host, port = os.environ[f"CONSUL_HTTP_ADDR{own}"].split(":")
    client = consul.Consul(host=host, port=int(port))
    lock = lock_impl.EphemeralLock("lead", acquire_timeout_ms=60000, lock_timeout_seconds=10, consul_client=client)
    lock.acquire()
    hold("lead", 8)
    lock.release()


run(work)
