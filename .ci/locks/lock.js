// Two clients with the lock of `consul` from npm, version 0.34.1: `a` holds it for a moment while `b` waits for it. Each stops when its lock
// says that it has ended. Time is real: nothing here waits for a TTL.
"use strict";

const Consul = require("consul");

function tell(method, what) {
  return fetch(`${process.env.FENCEPOST_URL}/${what}`, { method });
}

// Tries to be the holder, and calls `then` when it is.
function contend(name, then) {
  const [host, port] = process.env[`CONSUL_HTTP_ADDR_${name.toUpperCase()}`].split(":");
  const consul = new Consul({ host, port });
  const session = { ttl: "10s", lockdelay: "0s" };
  const lock = consul.lock({ key: "lead", session, lockretrytime: "100ms" });
  let isInside = false;
  const leave = async () => {
    if (isInside) await tell("PUT", `outside?key=lead&client=${name}`);
    isInside = false;
  };
  lock.on("acquire", async () => {
    isInside = true;
    await tell("PUT", `inside?key=lead&client=${name}`);
    then();
  });
  lock.on("release", leave);
  const ended = new Promise((resolve) => lock.on("end", resolve));
  lock.on("error", (error) => console.error(name, error.message));
  lock.acquire();
  const stop = async () => {
    await leave();
    try {
      lock.release();
    } catch (error) {
      // It has ended by itself.
    }
  };
  return { stop, ended };
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function main() {
  let isHeld = () => {};
  const held = new Promise((resolve) => (isHeld = resolve));
  const a = contend("a", isHeld);
  await Promise.race([held, a.ended, sleep(300)]);
  await sleep(100);
  let b;
  const done = new Promise((resolve) => (b = contend("b", resolve)));
  await Promise.race([done, b.ended, sleep(500)]);
  await a.stop();
  await Promise.race([done, b.ended, sleep(1000)]);
  await b.stop();
  await Promise.race([b.ended, sleep(200)]);
  process.exit(0);
}

main();
