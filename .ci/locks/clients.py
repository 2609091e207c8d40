"""Two clients of the stand-in, the second one five seconds later. Their sleeps are announced, so that `--clock auto` takes them along."""

import json
import os
import threading
import urllib.request

here = threading.local()


def tell(method, what):
    request = urllib.request.Request(f"{os.environ['FENCEPOST_URL']}/{what}", method=method)
    return json.load(urllib.request.urlopen(request))


def sleep(seconds):
    tell("PUT", f"sleep?for={max(seconds, 0):.3f}s&client={here.name}")


def hold(key, seconds):
    tell("PUT", f"inside?key={key}&client={here.name}")
    sleep(seconds)
    tell("PUT", f"outside?key={key}&client={here.name}")


def run(work):
    """Each client calls `work` with the variable suffix of its own address: `_A` or `_B`."""

    def client(name, wait):
        here.name = name
        try:
            sleep(wait)
            work(f"_{name.upper()}")
        finally:
            tell("DELETE", f"client?client={name}")

    clients = [threading.Thread(target=client, args=(name, wait)) for name, wait in (("a", 0), ("b", 5))]
    for name in "ab":
        tell("PUT", f"client?tasks=1&client={name}")
    for one in clients:
        one.start()
    for one in clients:
        one.join()
