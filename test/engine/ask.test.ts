/** Ask: an event and the state that follows, in one call; and a start or a send, whichever it takes. */
// modules: ask
import { getEventListeners } from "node:events";
import { fromPromise, setup } from "xstate";
import { expect, onTestFinished } from "vitest";
import { StateNotReached, workflow } from "paystate/engine";
import { gate, turns } from "../kit/engine-world.ts";
import { engineTest } from "../kit/engine-test.ts";

function ordersOf(charge: () => Promise<void>) {
  const chart = setup({
    types: {
      context: {} as { readonly notes: number },
      input: {} as { readonly notes: number },
      events: {} as { type: "PAY" } | { type: "NOTE" } | { type: "SHIP" } | { type: "CANCEL" },
    },
    actors: { charge: fromPromise(charge) },
  }).createMachine({
    id: "order",
    context: ({ input }) => input,
    initial: "open",
    on: { CANCEL: ".cancelled" },
    states: {
      open: { on: { PAY: "paying", NOTE: { actions: [] } } },
      paying: { invoke: { src: "charge", onDone: "paid" } },
      paid: { on: { SHIP: "shipped", PAY: "paying" } },
      shipped: { type: "final" },
      cancelled: { type: "final" },
    },
  });
  return workflow(chart)({ version: 1 });
}

/** How many listeners a signal has, and how many signals that depend on it, which Node keeps under symbols of its own. */
function heldBy(signal: AbortSignal): number {
  const parts = Object.getOwnPropertySymbols(signal).map((symbol): unknown => Reflect.get(signal, symbol));
  const sizes = parts.map((part) => (part as { readonly size?: number } | null | undefined)?.size ?? 0);
  return sizes.reduce((sum, size) => sum + size, getEventListeners(signal, "abort").length);
}

const { test, engine, running, clock, settled, awaitsOutside } = engineTest("ask");

test("F11: ask resolves with the state that the event leads to, or the first awaited one behind it", async () => {
  const bank = gate();
  const orders = ordersOf(() => bank.opened);
  const { ask, start } = await running(orders);
  await start(orders, { id: "o", input: { notes: 0 } });
  expect(await ask(orders, "o", { type: "NOTE" })).toMatchObject({ value: "open" });
  const paid = ask(orders, "o", { type: "PAY" }, { until: { state: "paid" } });
  await turns(10);
  // The chart takes no second PAY now: it waits for the same end.
  const twice = ask(orders, "o", { type: "PAY" }, { until: { state: "paid" } });
  bank.open();
  expect(await paid).toMatchObject({ value: "paid", context: { notes: 0 } });
  expect(await twice).toMatchObject({ value: "paid" });
  // It was paid before: what counts comes behind the event.
  const again = await ask(orders, "o", { type: "PAY" }, { until: { state: "paying" } });
  expect(again.value).toBe("paying");
  await settled();
  expect(await ask(orders, "o", { type: "SHIP" }, { until: "final" })).toMatchObject({ status: "done" });
});

test("D75: an ask is told of a state that another process made and left between two looks", async () => {
  const orders = ordersOf(async () => {});
  const one = await engine({ workflows: [orders], pollMs: 500 });
  const other = await engine(orders);
  await one.start(orders, { id: "o", input: { notes: 0 } });
  const paid = one.ask(orders, "o", { type: "PAY" }, { until: { state: "paid" } });
  while ((await other.read(orders, "o"))?.value !== "paying") await turns(1);
  await turns(20);
  other.run();
  await other.settled();
  await other.send(orders, "o", { type: "SHIP" });
  await turns(20);
  clock.advance(500);
  expect(await paid).toMatchObject({ value: "shipped", status: "done" });
});

test("F11: an ask meets a final state, an unknown id, a state that is none, a signal", async () => {
  const orders = ordersOf(() => new Promise<void>(() => {}));
  const { ask, start } = await engine(orders);
  await start(orders, { id: "o", input: { notes: 0 } });
  const noSuch = { until: { state: "lost" } } as never;
  await expect(ask(orders, "o", { type: "PAY" }, noSuch)).rejects.toThrow('no state "lost"');
  await expect(ask(orders, "none", { type: "PAY" }, { until: "final" })).rejects.toThrow(
    "there is no instance none",
  );
  const other = ask(orders, "o", { type: "CANCEL" }, { until: { state: "paid" } });
  await expect(other).rejects.toBeInstanceOf(StateNotReached);
  expect(await ask(orders, "o", { type: "PAY" })).toMatchObject({ value: "cancelled" });
  expect(await ask(orders, "o", { type: "PAY" }, { until: "final" })).toMatchObject({ status: "done" });
  const ended = ask(orders, "o", { type: "PAY" }, { until: { state: "paid" } });
  await expect(ended).rejects.toMatchObject({ snapshot: { value: "cancelled" } });
  await start(orders, { id: "p", input: { notes: 0 } });
  awaitsOutside("p");
  const enough = new AbortController();
  const waits = ask(orders, "p", { type: "NOTE" }, { until: { state: "paid" }, signal: enough.signal }).catch(
    String,
  );
  await turns(10);
  enough.abort(new Error("enough"));
  expect(await waits).toContain("enough");
});

test("D76: waits and asks under a signal that lasts leave nothing behind on it, and twenty at once warn of no leak", async () => {
  const orders = ordersOf(async () => {});
  const { ask, start, waitFor } = await running(orders);
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { signal } = new AbortController();
  const before = heldBy(signal);
  const paid = { until: { state: "paid" }, signal } as const;
  const asked = Array.from({ length: 20 }, async (_, index) => {
    const id = `o${index}`;
    await start(orders, { id, input: { notes: 0 } });
    await Promise.all([
      ask(orders, id, { type: "PAY" }, paid),
      waitFor(orders, id, { state: "paid" }, { signal }),
      ask(orders, id, { type: "NOTE" }, { signal }),
    ]);
    await ask(orders, id, { type: "SHIP" }, { until: "final", signal });
  });
  await Promise.all(asked);
  await turns(2);
  expect(heldBy(signal)).toBe(before);
  expect(warnings).toEqual([]);
});

test("F11: what is neither the end nor a state is refused, and nothing is sent", async () => {
  const orders = ordersOf(async () => {});
  const { ask, waitFor, start, read } = await engine(orders);
  await start(orders, { id: "o", input: { notes: 0 } });
  awaitsOutside("o");
  for (const until of ["paid", {}, null, () => true]) {
    const expected = 'until: expected "final", or a state such as { state: "open" }';
    await expect(ask(orders, "o", { type: "PAY" }, { until: until as never })).rejects.toThrow(expected);
    await expect(waitFor(orders, "o", until as never)).rejects.toThrow(expected);
  }
  expect(await read(orders, "o")).toMatchObject({ value: "open", steps: 1 });
});

test.each([false, true])(
  "F11: an ask of an instance that another process ends and removes is told so (its id taken again: %s)",
  async (isTaken) => {
    const orders = ordersOf(() => new Promise<void>(() => {}));
    const one = await engine({ workflows: [orders], pollMs: 500 });
    const other = await engine(orders);
    await one.start(orders, { id: "o", input: { notes: 0 } });
    const paid = one.ask(orders, "o", { type: "PAY" }, { until: { state: "paid" } }).catch(String);
    while (((await other.read(orders, "o"))?.steps ?? 0) < 2) await turns(1);
    await turns(20);
    await other.stopInstance("o");
    await other.removeInstance("o");
    if (isTaken) await other.start(orders, { id: "o", input: { notes: 0 } });
    clock.advance(500);
    expect(await paid).toContain("instance o has taken the event, and was removed");
    if (isTaken) await other.stopInstance("o");
  },
);

test("F11: of callers at once one starts the instance, and the others send", async () => {
  const orders = ordersOf(async () => {});
  awaitsOutside("o");
  const [one, other] = [await engine(orders), await engine(orders)];
  const calls = [one, other, one, other].map(({ startOrSend }) =>
    startOrSend(orders, { id: "o", input: { notes: 0 } }, { type: "PAY" }),
  );
  const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
  expect(kinds.toSorted()).toEqual(["started", "stepped", "unchanged", "unchanged"]);
  expect((await one.read(orders, "o"))?.value).toBe("paying");
  one.run();
  await one.settled();
});
