/** D53, D84: an address is of one actor in one life, whoever keeps it and however it came there. */
import { expect } from "vitest";
import {
  assign,
  createActor,
  createMachine,
  enqueueActions,
  fromPromise,
  raise,
  sendTo,
  setup,
  stopChild,
  type AnyActorRef,
} from "xstate";
import { workflow, type Logger } from "paystate/engine";
import { inviter, keeper, speaker } from "./actor-charts.ts";
import { engineTest } from "../kit/engine-test.ts";

const keepers = workflow(keeper)({ version: 1 });
const inviters = workflow(inviter)({ version: 1 });

interface AnyEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}
interface Held {
  readonly held: unknown;
}

/** Holds what it is given, and sends to it. */
const holder = setup({
  types: { context: {} as Held, events: {} as AnyEvent },
  actors: { speaker, later: fromPromise(async () => 1) },
}).createMachine({
  id: "holder",
  context: { held: null },
  on: {
    HOLD: { actions: assign({ held: ({ event }) => event["held"] }) },
    TELL: {
      actions: sendTo(
        ({ context }) => context.held as AnyActorRef,
        ({ self }) => ({ type: "ANSWER", sender: self }) as never,
      ),
    },
    SLOWLY: {
      actions: sendTo(
        ({ context }) => context.held as AnyActorRef,
        ({ self }) => ({ type: "ANSWER", sender: self }) as never,
        { delay: 100 },
      ),
    },
    STOP: { actions: stopChild(({ context }) => context.held as AnyActorRef) },
    PROMISE: { actions: assign({ held: ({ spawn }) => spawn("later", { id: "later" }) }) },
    FOREIGN: { actions: assign({ held: () => [{ it: createActor(speaker) }] }) },
    LOOK: {
      actions: assign({
        held: ({ context, event }) => {
          const [actor, method] = [context.held as AnyActorRef, event["method"] as "getSnapshot"];
          return actor[method]() as unknown;
        },
      }),
    },
    ANSWERED: { actions: assign({ held: "answered" }) },
  },
});
const holders = workflow(holder)({ version: 1 });

/** The context of an instance that is there. */
async function contextOf(
  one: { read(id: string): Promise<{ context: unknown } | null> },
  id: string,
): Promise<unknown> {
  return (await one.read(id))?.context;
}

class Lines {
  readonly warned: unknown[] = [];
  readonly logger = {
    debug() {},
    info() {},
    error() {},
    warn: (fields: object, message: string): void => void this.warned.push({ ...fields, message }),
  } as unknown as Logger;

  get dropped(): readonly unknown[] {
    return this.warned.filter((line) => JSON.stringify(line).includes("an event was dropped"));
  }
}

const { test, engine, running, storage, settled, pass, awaitsOutside } = engineTest("actor lives");

test("D84: an address of an ended, of a removed and of an earlier life reaches nobody, with one line each", async () => {
  const lines = new Lines();
  const one = await engine({ workflows: [keepers, holders], logger: lines.logger });
  const kids = keepers.child("speaker" as never);
  one.run();
  await one.start(keepers, { id: "c", input: undefined });
  await one.start(holders, { id: "h", input: undefined });
  await one.send(keepers, "c", { type: "SPAWN" });
  const ref = async (): Promise<AnyActorRef> => ((await contextOf(one, "c")) as { ref: AnyActorRef }).ref;
  const first = await ref();
  await one.send(holders, "h", { type: "HOLD", held: first });
  await one.send(holders, "h", { type: "TELL" });
  await settled();
  expect(await one.read("h")).toMatchObject({ context: { held: "answered" } });
  await one.send(holders, "h", { type: "HOLD", held: first });
  await one.send(kids, "c/kid", { type: "END" });
  await settled();
  await one.send(holders, "h", { type: "TELL" });
  await settled();
  expect(lines.dropped).toMatchObject([{ instance: "c/kid", event: "ANSWER" }]);
  expect(await one.removeInstance("c/kid")).toBe("removed");
  await one.send(holders, "h", { type: "TELL" });
  await one.send(holders, "h", { type: "SLOWLY" });
  await settled();
  await pass(100);
  expect(lines.dropped).toHaveLength(3);
  // The same id and the same parent, in another life.
  await one.send(keepers, "c", { type: "SPAWN" });
  const second = await ref();
  expect([first.id, second.id]).toEqual(["kid", "kid"]);
  expect(second.sessionId).not.toBe(first.sessionId);
  expect(await one.read("c/kid")).toMatchObject({ status: "active", parent: { run: 1 } });
  await one.send(holders, "h", { type: "TELL" });
  await settled();
  expect(lines.dropped).toHaveLength(4);
  expect((await one.history("c/kid")).map(({ event }) => event.type)).toEqual(["$started"]);
  await one.send(holders, "h", { type: "HOLD", held: second });
  await one.send(holders, "h", { type: "TELL" });
  await settled();
  expect(await one.read("h")).toMatchObject({ context: { held: "answered" } });
  expect(lines.warned).toHaveLength(4);
  awaitsOutside("c", "c/kid", "h");
});

test("D84: a parent that keeps the address of a child of before knows it from the one that has its id now", async () => {
  const one = await engine({ workflows: [keepers, inviters] });
  const kids = inviters.child("speaker" as never);
  one.run();
  await one.start(inviters, { id: "c", input: undefined });
  const look = async (): Promise<readonly unknown[]> => {
    await one.send(inviters, "c", { type: "LOOK" });
    const { heard } = (await contextOf(one, "c")) as { heard: unknown[][] };
    return heard.at(-1)?.slice(5, 8) ?? [];
  };
  await one.send(inviters, "c", { type: "SAY" });
  await settled();
  expect(await look()).toEqual([true, false, true]);
  await one.send(kids, "c/kid", { type: "END" });
  await settled();
  await one.send(inviters, "c", { type: "NEXT" });
  expect(await look()).toEqual([false, false, false]);
  awaitsOutside("c", "c/kid~2");
});

test("D53: an instance keeps itself, also in a run of its own steps, and tells others who it is", async () => {
  const proud = setup({ types: { context: {} as { me: unknown; same: unknown[] } } }).createMachine({
    id: "proud",
    context: ({ self }) => ({ me: self, same: [] }),
    entry: raise({ type: "AGAIN" }, { delay: 0 }),
    on: {
      "*": {
        actions: assign({
          same: ({ context, self }) => [
            ...context.same,
            context.me === self,
            (context.me as AnyActorRef).sessionId === self.sessionId,
            self.id,
          ],
        }),
      },
    },
  });
  const charts = workflow(proud)({ version: 1 });
  const one = await running(charts, "p");
  await settled();
  await one.send(charts, "p", { type: "ONCE" });
  const { me, same } = (await contextOf(one, "p")) as { me: object; same: unknown[] };
  expect(same).toEqual([true, true, "p", true, true, "p"]);
  expect(JSON.parse(JSON.stringify(me))).toEqual({
    xstate$$type: 1,
    id: "p",
    instance: "p",
    workflow: "proud",
  });
  awaitsOutside("p");
});

test("D84: an actor that createActor made is refused with its path, and with the way to have one", async () => {
  const one = await engine(holders, "h");
  const before = await storage.load("h");
  const reason = "it is an actor that the engine has not made; begin it in the chart with spawn";
  await expect(one.send(holders, "h", { type: "FOREIGN" })).rejects.toThrow(
    `context.held[0].it cannot be stored: ${reason}`,
  );
  const sent = one.send(holders, "h", { type: "HOLD", held: createActor(speaker) });
  await expect(sent).rejects.toThrow(reason);
  expect(await storage.load("h")).toEqual(before);
  awaitsOutside("h");
});

test("D53: an address takes no part in a step: its methods say what to use", async () => {
  const one = await engine({ workflows: [keepers, holders] });
  await one.start(keepers, { id: "c", input: undefined });
  await one.start(holders, { id: "h", input: undefined });
  await one.send(keepers, "c", { type: "SPAWN" });
  const { ref } = (await contextOf(one, "c")) as { ref: AnyActorRef };
  await one.send(holders, "h", { type: "HOLD", held: ref });
  for (const method of ["getSnapshot", "subscribe", "on", "send"]) {
    const sent = one.send(holders, "h", { type: "LOOK", method });
    await expect(sent).rejects.toThrow(/"kid".*sendTo/);
  }
  await expect(one.send(holders, "h", { type: "STOP" })).rejects.toThrow(
    'stopChild: "kid" is no child of this chart; tell it to end with sendTo',
  );
  awaitsOutside("c", "c/kid", "h");
});

test("D53: a promise that a state invokes has no address, and says so with the path", async () => {
  const chart = setup({
    types: { context: {} as Held },
    actors: { later: fromPromise(() => new Promise(() => {})) },
  }).createMachine({
    id: "inviting",
    context: { held: null },
    invoke: { id: "later", systemId: "later", src: "later" },
    on: { KEEP: { actions: assign({ held: ({ system }): unknown => system.get("later") }) } },
  });
  const charts = workflow(chart)({ version: 1 });
  const one = await engine(charts, "i");
  await expect(one.send(charts, "i", { type: "KEEP" })).rejects.toThrow(
    'context.held cannot be stored: it is the promise "later", which takes no events; keep its id',
  );
  awaitsOutside("i");
});

test("D53: addresses are kept by a migration, and lead to a parent and a child of the new version", async () => {
  const old = await engine(keepers, "c");
  await old.send(keepers, "c", { type: "SPAWN" });
  await old.stop();
  const later = workflow(keeper)({
    version: 2,
    migrate: { 1: ({ context }) => ({ context: context as never }) },
  });
  const one = await running(later);
  await one.send(later, "c", { type: "ASK" });
  await settled();
  expect(await one.read("c")).toMatchObject({ workflow: "keeper@2", context: { heard: [{}] } });
  const { heard } = (await contextOf(one, "c")) as { heard: unknown[][] };
  expect(heard[0]?.slice(0, 8)).toEqual(["ANSWERED", undefined, "kid", true, true, true, true, true]);
  awaitsOutside("c", "c/kid");
});

test("D53: the life of a child that its parent has only invoked is looked up, and noted once it is asked for", async () => {
  const idle = createMachine({ id: "idle", initial: "a", states: { a: {} } });
  const asking = setup({ types: { context: {} as { ids: string[] } }, actors: { idle } }).createMachine({
    id: "asking",
    context: { ids: [] },
    invoke: { id: "kid", systemId: "kid", src: "idle" },
    entry: enqueueActions(({ enqueue, system }) => {
      enqueue.assign({ ids: [(system.get("kid") as AnyActorRef | undefined)?.sessionId ?? "none"] });
    }),
    on: {
      KNOW: {
        actions: assign({
          ids: ({ context, system }) => [...context.ids, (system.get("kid") as AnyActorRef).sessionId],
        }),
      },
      NOTHING: {},
    },
  });
  const charts = workflow(asking)({ version: 1 });
  for (let process = 0; process < 2; process++) {
    const one = await engine(charts);
    if (process === 0) await one.start(charts, { id: "c", input: undefined });
    expect(await one.send(charts, "c", { type: "NOTHING" })).toMatchObject({ kind: "unchanged" });
    await one.send(charts, "c", { type: "KNOW" });
    const life = (await storage.load("c/kid"))?.life;
    const known = Array.from({ length: process + 1 }, () => `c/kid ${life}`);
    expect(await one.read("c")).toMatchObject({
      context: { ids: ["none", ...known] },
      children: { kid: { life } },
    });
    await one.stop();
  }
  const events = (await storage.history("c", { after: 0, limit: 9 })).map(({ event }) => event);
  expect(events.filter((event) => event.includes("$lives"))).toHaveLength(1);
  awaitsOutside("c", "c/kid");
});
