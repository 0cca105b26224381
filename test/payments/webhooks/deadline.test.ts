/** H4: one absolute deadline of ten seconds over every stage, on a clock turned by hand and over real sockets. */
// modules: webhooks
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { describe, expect } from "vitest";
import type { Clock } from "../../../src/core/runtime.ts";
import { DELIVERY_DEADLINE_MS } from "../../../src/payments/webhooks/sending/attempt.ts";
import { DeadlineError, withDeadline } from "../../../src/payments/webhooks/sending/deadline.ts";
import type { Lookup } from "../../../src/payments/webhooks/sending/resolve-host.ts";
import { answerAfter, answerWith } from "../../kit/https-receiver.ts";
import { attemptTest as test } from "./attempt-test.ts";

function gate(): { opens: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opens = new Promise<void>((resolve) => (open = resolve));
  return { opens, open };
}

const PASSED = { ok: true, httpStatus: 200, error: null, durationMs: 9_900 };
const TIMED_OUT = {
  ok: false,
  httpStatus: null,
  error: "timeout",
  durationMs: 10_100,
  excerpt: null,
  opening: null,
};

test("the deadline is ten seconds", () => expect(DELIVERY_DEADLINE_MS).toBe(10_000));

describe("H4: slow DNS", () => {
  test("9.9 s passes", async ({ receiver, clock, attempt }) => {
    const answered = gate();
    const lookup = () => answered.opens.then(() => ["127.0.0.1"]);
    const result = attempt(`https://localhost:${receiver.port}/`, { lookup });
    clock.advance(9_900);
    answered.open();
    expect(await result).toMatchObject(PASSED);
  });

  test("10.1 s fails, the look-up is told, and its late answer opens no connection", async ({
    receiver,
    clock,
    attempt,
  }) => {
    const before = receiver.connections();
    const answered = gate();
    let told: AbortSignal | undefined;
    const lookup: Lookup = async (_hostname, signal) => {
      told = signal;
      await answered.opens;
      return ["127.0.0.1"];
    };
    const result = attempt(`https://localhost:${receiver.port}/`, { lookup });
    clock.advance(10_100);
    expect(await result).toEqual(TIMED_OUT);
    expect(told?.aborted).toBe(true);
    answered.open();
    await answered.opens;
    expect(receiver.connections()).toBe(before);
  });
});

/** A listener that never accepts and whose backlog is full: the kernel leaves further connections waiting. */
const connectTest = test.extend("listener", async ({ receiver }, { onCleanup }) => {
  const held = new Int32Array(new SharedArrayBuffer(4));
  const accept = (): void => {
    Atomics.store(held, 0, 1);
    Atomics.notify(held, 0);
  };
  const worker = new Worker(
    `const { parentPort, workerData } = require("node:worker_threads");
     const net = require("node:net");
     const server = net.createServer((from) => {
       const to = net.connect(workerData.target, "127.0.0.1");
       for (const socket of [from, to]) socket.on("error", () => {});
       from.pipe(to).pipe(from);
     });
     server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(workerData.held, 0, 0);
     });`,
    { eval: true, workerData: { held, target: receiver.port } },
  );
  const queued: Socket[] = [];
  onCleanup(async () => {
    accept();
    for (const socket of queued) socket.destroy();
    await worker.terminate();
  });
  const [port] = (await once(worker, "message")) as [number];
  // Linux lets backlog + 1 connections wait; whoever comes after gets no answer.
  for (let i = 0; i < 2; i += 1) {
    const socket = connect(port, "127.0.0.1");
    queued.push(socket);
    socket.on("error", () => {});
    await once(socket, "connect");
  }
  return { url: `https://127.0.0.1:${port}/`, accept };
});

describe("H4: slow connect", () => {
  connectTest("9.9 s passes", async ({ listener, clock, attempt }) => {
    const result = attempt(listener.url);
    clock.advance(9_900);
    // The kernel knocks again after one real second.
    listener.accept();
    expect(await result).toMatchObject(PASSED);
  });

  connectTest("10.1 s fails", async ({ listener, clock, attempt }) => {
    const result = attempt(listener.url);
    clock.advance(10_100);
    expect(await result).toEqual(TIMED_OUT);
  });
});

/** Accepts at once and passes bytes on to the receiver only when told. */
const tlsTest = test.extend("proxy", async ({ receiver }, { onCleanup }) => {
  const forward = gate();
  const proxy = createServer((from) => {
    from.on("error", () => {});
    void forward.opens.then(() => {
      const to = connect(receiver.port, "127.0.0.1");
      to.on("error", () => {});
      from.pipe(to).pipe(from);
    });
  });
  onCleanup(() => void proxy.close());
  const arrived = once(proxy, "connection").then(([from]) => from as Socket);
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}/`, forward: forward.open, arrived };
});

describe("H4: slow TLS", () => {
  tlsTest("9.9 s passes", async ({ proxy, clock, attempt }) => {
    const result = attempt(proxy.url);
    await proxy.arrived;
    clock.advance(9_900);
    proxy.forward();
    expect(await result).toMatchObject(PASSED);
  });

  tlsTest("10.1 s fails and the connection is closed", async ({ proxy, clock, attempt }) => {
    const result = attempt(proxy.url);
    await proxy.arrived;
    clock.advance(10_100);
    expect(await result).toEqual(TIMED_OUT);
    // Only a socket that is read from learns that the other side has left.
    const left = await proxy.arrived;
    await once(left.resume(), "close");
  });
});

describe("H4: slow headers", () => {
  test("9.9 s passes", async ({ receiver, clock, attempt }) => {
    const answered = gate();
    receiver.answer(answerAfter(answered.opens, answerWith(200)));
    const arrived = receiver.nextRequest();
    const result = attempt();
    await arrived;
    clock.advance(9_900);
    answered.open();
    expect(await result).toMatchObject(PASSED);
  });

  test("10.1 s fails and the connection is closed", async ({ receiver, clock, attempt }) => {
    receiver.answer(() => {});
    const arrived = receiver.nextRequest();
    const result = attempt();
    await arrived;
    clock.advance(10_100);
    expect(await result).toEqual(TIMED_OUT);
    await receiver.drained();
  });
});

test("H4: the stages share one deadline: 5 s of DNS and 5.1 s of headers fail", async ({
  receiver,
  clock,
  attempt,
}) => {
  const resolved = gate();
  const lookup = () => resolved.opens.then(() => ["127.0.0.1"]);
  receiver.answer(() => {});
  const arrived = receiver.nextRequest();
  const result = attempt(`https://localhost:${receiver.port}/`, { lookup });
  clock.advance(5_000);
  resolved.open();
  await arrived;
  clock.advance(5_100);
  expect(await result).toEqual(TIMED_OUT);
});

test("a clock set back during an attempt gives no negative duration", async ({
  receiver,
  clock,
  attempt,
}) => {
  receiver.answer(answerWith(200));
  let time = 3_600_000;
  const backwards = { ...clock, now: () => (time -= 1) };
  expect(await attempt(receiver.url, { clock: backwards })).toMatchObject({ ok: true, durationMs: 0 });
});

test("neither timer nor listener is left behind", async ({ clock }) => {
  const caller = new AbortController();
  const sleeps: (AbortSignal | undefined)[] = [];
  const watched: Clock = {
    now: () => clock.now(),
    sleep: (ms, signal) => {
      sleeps.push(signal);
      return clock.sleep(ms, signal);
    },
  };
  const done = await withDeadline({ ms: 10, clock: watched, caller: caller.signal }, (signal) =>
    Promise.resolve(signal),
  );
  expect(sleeps.map((signal) => signal?.aborted)).toEqual([true]);
  caller.abort(new Error("too late to matter"));
  expect(done.reason).not.toBe(caller.signal.reason);
});

test("the work sees whose patience ended", async ({ clock }) => {
  const waits = (signal: AbortSignal): Promise<unknown> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason)));
  const late = withDeadline({ ms: 10, clock }, waits);
  clock.advance(10);
  expect(await late).toBeInstanceOf(DeadlineError);
  const caller = new AbortController();
  const given = withDeadline({ ms: 10, clock, caller: caller.signal }, waits);
  caller.abort("lease lost");
  expect(await given).toBe("lease lost");
});
