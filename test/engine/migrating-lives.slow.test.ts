/** An instance with all that may wait for it moves to another version, and its process dies at every commit on the way. */
import { assign, fromPromise, setup } from "xstate";
import { describe, expect, test } from "vitest";
import { createEngine, currentRun, workflow, type PreviousInstance } from "paystate/engine";
import { adapters, type Adapter } from "../kit/adapters.ts";
import { inWorld, type EngineWorld } from "../kit/engine-world.ts";
import { mortalProcess, type Death } from "../kit/mortal.ts";
import { EXPLORING_MS, drawn, THOROUGH } from "../kit/thorough.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { watchRows } from "../../src/workflow/watch-rows.ts";

const MINUTE = 60_000;

/** What the outside saw: names and keys of effects and promises. */
type Notes = string[];

const packing = setup({ types: { context: {} as { parcels: number } } }).createMachine({
  id: "packing",
  context: { parcels: 1 },
  initial: "busy",
  states: { busy: { after: { [3 * MINUTE]: "packed" } }, packed: { type: "final" } },
  output: ({ context }) => context.parcels,
});

const packingLater = setup({ types: { context: {} as { boxes: number } } }).createMachine({
  id: "packing",
  context: { boxes: 1 },
  initial: "working",
  states: { working: { after: { [3 * MINUTE]: "packed" } }, packed: { type: "final" } },
  output: ({ context }) => context.boxes,
});

/** A shipment that packs, insures and tracks at once, and writes to the customer. Later it also waits for a clearance. */
function shipment(notes: Notes, isLater: boolean) {
  const note = (what: string): string => {
    notes.push(`${what} ${currentRun().key}`);
    return what;
  };
  const insured = isLater ? "cleared" : "done";
  return setup({
    types: { context: {} as { parcels: unknown; done: readonly string[] } },
    actors: {
      packing: isLater ? packingLater : packing,
      insure: fromPromise<string>(async () => note("insure")),
    },
    actions: { write: () => void note("write") },
  }).createMachine({
    id: "shipment",
    context: { parcels: null, done: [] },
    type: "parallel",
    states: {
      packing: {
        initial: "packing",
        states: {
          packing: {
            invoke: {
              id: "packer",
              src: "packing",
              onDone: { target: "done", actions: assign({ parcels: ({ event }) => event.output }) },
            },
          },
          done: { type: "final" },
        },
      },
      insurance: {
        initial: "insuring",
        states: {
          insuring: { entry: "write", invoke: { id: "insurer", src: "insure", onDone: insured } },
          cleared: { after: { [MINUTE]: "done" } },
          done: { type: "final" },
        },
      },
      tracking: {
        meta: { watches: ["parcel"] },
        initial: "watching",
        states: { watching: { after: { [(isLater ? 6 : 5) * MINUTE]: "done" } }, done: { type: "final" } },
      },
    },
  });
}

const watches = { parcel: () => "tracking number" };

const now = (notes: Notes) =>
  workflow(shipment(notes, true))({
    version: 2,
    watches,
    migrate: {
      1: ({ context }: PreviousInstance<{ parcels: number | null }>) => ({
        context: { ...context, done: ["moved"] },
      }),
    },
    actors: {
      packing: {
        migrate: {
          1: ({ context }: PreviousInstance) => ({
            value: "working",
            context: { boxes: context["parcels"] },
          }),
        },
      },
    },
  });

interface Life {
  readonly end: unknown;
  readonly notes: ReadonlySet<string>;
  readonly commits: number;
}

/** Lives under version 1 for a while, then under version 2; the process of version 2 dies as told, and another one follows. */
async function life(adapter: Adapter, death?: Death): Promise<Life> {
  const notes: Notes = [];
  let end: unknown;
  let commits = 0;
  await inWorld(adapter, async (world) => {
    const old = workflow(shipment(notes, false))({ version: 1, watches });
    // It begins and does nothing of what it has begun: all of it waits for version 2.
    await world.engine({ workflows: [old], watchers }, "s");
    const workflows = [now(notes)];
    commits = await lived(world, workflows, death);
    const after = await world.running({ workflows, watchers });
    await world.pass(10 * MINUTE);
    end = await after.read("s");
    expect(await world.storage.find({ table: watchRows })).toEqual([]);
  });
  return { end, notes: new Set(notes), commits };
}
const watchers = { parcel: { intervalMs: MINUTE, poll: async () => [] } };

/** One process until its death, or until all is done; answers its commits. */
async function lived(
  { open, clock }: EngineWorld,
  workflows: readonly ReturnType<typeof now>[],
  death: Death | undefined,
): Promise<number> {
  const process = mortalProcess(death);
  const storage = process.within(await open());
  const engine = createEngine({
    storage,
    clock: process.timedBy(clock),
    logger: silentLogger,
    workflows,
    watchers,
  });
  engine.run();
  for (let minute = 0; minute < 10 && !process.isDead(); minute++) {
    await Promise.race([engine.settled(), process.died]);
    clock.advance(MINUTE);
  }
  await Promise.race([engine.stop({ timeoutMs: 0 }), process.died]);
  process.kill();
  return process.calls.filter((call) => call === "commit").length;
}

describe.each(drawn(adapters, "migrating lives"))(
  "a shipment of version 1 under version 2 on $name",
  (adapter) => {
    test(
      "D8, D9: ends the same when the process dies at any commit, each promise and effect under one key",
      async () => {
        const whole = await life(adapter);
        expect(whole.end).toMatchObject({
          status: "done",
          workflow: "shipment@2",
          context: { parcels: 1, done: ["moved"] },
        });
        // Two keys of one effect would be two notes.
        const once = ["insure s:*:2", "write s:*:1"];
        expect(withoutStamps(whole.notes)).toEqual(once);
        const all = Array.from({ length: whole.commits }, (_, index) => index + 1).flatMap((nth): Death[] => [
          { method: "commit", nth, moment: "before" },
          { method: "commit", nth, moment: "after" },
        ]);
        const sample = THOROUGH || adapter.name === "memory" ? all : all.slice(0, 6);
        for (const death of sample) {
          const { end, notes } = await life(adapter, death);
          expect(end, JSON.stringify(death)).toMatchObject({ status: "done", context: { parcels: 1 } });
          expect(withoutStamps(notes), JSON.stringify(death)).toEqual(once);
        }
      },
      EXPLORING_MS,
    );
  },
);

/** A step that is decided again has another stamp. */
function withoutStamps(notes: ReadonlySet<string>): string[] {
  return [...notes].map((note) => note.replace(/:[0-9a-v]{19}:/, ":*:")).toSorted();
}
