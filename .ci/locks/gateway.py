"""Two clients with the lock of etcd3gw, one after the other, at etcd's JSON gateway. The library renews nothing by itself: the work takes less than
the TTL."""

import os

import etcd3gw

from clients import hold, run, sleep


def work(own):
    host, port = os.environ[f"ETCD_HTTP_ADDR{own}"].split(":")
    lock = etcd3gw.client(host=host, port=int(port), api_path="/v3/", timeout=60).lock("lead", ttl=10)
    while not lock.acquire():
        sleep(1)
    hold("/locks/lead", 8)
    lock.release()


run(work)
