/** Ask: an event and the state that follows, in one call; and a start or a send, whichever it takes. */
import { fromPromise, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { StateNotReached, workflow } from "paystate/engine";
import { adapters } from "../kit/adapters.ts";
import { gate, inWorld, turns } from "../kit/engine-world.ts";
import { drawn } from "../kit/thorough.ts";

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

describe.each(drawn(adapters, "ask"))("ask on $name", (adapter) => {
  test("F11: ask resolves with the state that the event leads to, or the first awaited one behind it", () =>
    inWorld(adapter, async ({ engine, settled }) => {
      const bank = gate();
      const orders = ordersOf(() => bank.opened);
      const { ask, start, run } = await engine({ workflows: [orders] });
      run();
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
    }));

  test("F11: a step by somebody else in another process is what an ask waits for", () =>
    inWorld(adapter, async ({ engine, clock }) => {
      const orders = ordersOf(() => new Promise<void>(() => {}));
      const one = await engine({ workflows: [orders], pollMs: 500 });
      const other = await engine({ workflows: [orders] });
      await one.start(orders, { id: "o", input: { notes: 0 } });
      const cancelled = one.ask(orders, "o", { type: "PAY" }, { until: "final" });
      while ((await other.read(orders, "o"))?.value !== "paying") await turns(1);
      await other.send(orders, "o", { type: "CANCEL" });
      await turns(20);
      clock.advance(500);
      expect(await cancelled).toMatchObject({ value: "cancelled" });
    }));

  test("F11: an ask meets a final state, an unknown id, a state that is none, a signal", () =>
    inWorld(adapter, async ({ engine, awaitsOutside }) => {
      const orders = ordersOf(() => new Promise<void>(() => {}));
      const { ask, start } = await engine({ workflows: [orders] });
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
      const waits = ask(
        orders,
        "p",
        { type: "NOTE" },
        { until: { state: "paid" }, signal: enough.signal },
      ).catch(String);
      await turns(10);
      enough.abort(new Error("enough"));
      expect(await waits).toContain("enough");
    }));

  test("F11: of callers at once one starts the instance, and the others send", () =>
    inWorld(adapter, async ({ engine, awaitsOutside }) => {
      const orders = ordersOf(async () => {});
      awaitsOutside("o");
      const [one, other] = [await engine({ workflows: [orders] }), await engine({ workflows: [orders] })];
      const calls = [one, other, one, other].map(({ startOrSend }) =>
        startOrSend(orders, { id: "o", input: { notes: 0 } }, { type: "PAY" }),
      );
      const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(["started", "stepped", "unchanged", "unchanged"]);
      expect((await one.read(orders, "o"))?.value).toBe("paying");
      one.run();
      await one.settled();
    }));
});
