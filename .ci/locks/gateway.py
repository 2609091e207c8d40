"""Two clients with the lock of etcd3gw, one after the other, at etcd's JSON gateway. The library renews nothing by itself: the work takes less than
the TTL. Its sleeps are announced to the stand-in, so that `--clock auto` takes it along."""

import json
import os
import threading
import urllib.request

import etcd3gw

here = threading.local()


def tell(method, what):
    request = urllib.request.Request(f"{os.environ['FENCEPOST_URL']}/{what}", method=method)
    return json.load(urllib.request.urlopen(request))


def sleep(seconds):
    tell("PUT", f"sleep?for={seconds}s&client={here.name}")


def work(name, wait):
    here.name = name
    try:
        sleep(wait)
        host, port = os.environ[f"ETCD_HTTP_ADDR_{name.upper()}"].split(":")
        lock = etcd3gw.client(host=host, port=int(port), api_path="/v3/", timeout=60).lock("lead", ttl=10)
        while not lock.acquire():
            sleep(1)
        tell("PUT", f"inside?key=/locks/lead&client={name}")
        sleep(8)
        tell("PUT", f"outside?key=/locks/lead&client={name}")
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
