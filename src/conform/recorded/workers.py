import sys, time
import consul

name, port, turns, renews = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), "renew" in sys.argv
agent = consul.Consul("127.0.0.1", port)
agent.http.session.headers["X-Fencepost-Client"] = name

session = agent.session.create(name, lock_delay=1, ttl=10)
while not agent.kv.put("lead", name, acquire=session):
    time.sleep(0.5)
    if renews:
        agent.session.renew(session)
for turn in range(turns):
    if renews:
        agent.session.renew(session)  # raises NotFound once the session has ended
    agent.kv.put("data", f"{name}-{turn}")
    time.sleep(3)
agent.kv.put("lead", "", release=session)
