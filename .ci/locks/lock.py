"""Two clients with the lock of consul-lock 0.1.6, `EphemeralLock`, one after the other. The library knows no renewal: the work takes less
than the TTL. Its sleeps are announced to the stand-in, and its clock is the stand-in's, so that `--clock auto` takes it along."""

import importlib.util
import json
import os
import sys
import threading
import urllib.request

import consul

# It would count more than the address of each client.
del os.environ["CONSUL_HTTP_ADDR"]

# The package was written for Python 2, where a module finds its neighbours by their bare names.
sys.path.insert(0, importlib.util.find_spec("consul_lock").submodule_search_locations[0])
import lock_impl

here = threading.local()


def tell(method, what):
    request = urllib.request.Request(f"{os.environ['FENCEPOST_URL']}/{what}", method=method)
    return json.load(urllib.request.urlopen(request))


class Clock:
    sleep = staticmethod(lambda seconds: tell("PUT", f"sleep?for={max(seconds, 0):.3f}s&client={here.name}"))
    time = staticmethod(lambda: float(tell("GET", "clock")["now"]))


lock_impl.time = Clock


def work(name, wait):
    here.name = name
    Clock.sleep(wait)
    host, port = os.environ[f"CONSUL_HTTP_ADDR_{name.upper()}"].split(":")
    client = consul.Consul(host=host, port=int(port))
    lock = lock_impl.EphemeralLock("lead", acquire_timeout_ms=60000, lock_timeout_seconds=10, consul_client=client)
    try:
        lock.acquire()
        tell("PUT", f"inside?key=lead&client={name}")
        Clock.sleep(8)
        tell("PUT", f"outside?key=lead&client={name}")
        lock.release()
    finally:
        tell("DELETE", f"client?client={name}")


clients = [threading.Thread(target=work, args=(name, wait)) for name, wait in (("a", 0), ("b", 5))]
for name in "ab":
    tell("PUT", f"client?tasks=1&client={name}")
for client in clients:
    client.start()
for client in clients:
    client.join()
