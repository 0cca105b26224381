/** A host's own chart with everything that a drawing has to show: nested, parallel, history, invoked, guarded, delayed. */
import { assign, fromPromise, setup } from "xstate";
import { createEngine, workflow, type Engine, type Workflow } from "../../src/engine/index.ts";
import { sqliteStorage } from "../../storage/sqlite.ts";
import type { EngineStorage } from "../../storage/storage.ts";
import { middleRandom } from "../kit/middle-random.ts";
import { virtualClock, type VirtualClock } from "../kit/virtual-clock.ts";

export const parcel = setup({
  types: {
    context: {} as { note: string; weight: number },
    input: {} as { note: string },
    events: {} as
      | { type: "SEND"; weight: number }
      | { type: "PAUSE" | "RESUME" | "SIGNED" | "SCANNED" | "LOST" }
      | { type: "ASK"; apiKey: string },
  },
  actors: { weigh: fromPromise<number, { note: string }>(async () => 3) },
  actions: { label: (_, _params: { colour: string }) => {}, remind: () => {} },
  guards: { isHeavy: ({ context }) => context.weight > 20 },
}).createMachine({
  id: "parcel",
  context: ({ input }) => ({ note: input.note, weight: 0 }),
  initial: "packing",
  states: {
    packing: {
      initial: "weighing",
      on: { PAUSE: "paused", ASK: {} },
      states: {
        weighing: {
          invoke: {
            id: "scale",
            src: "weigh",
            input: ({ context }) => ({ note: context.note }),
            onDone: { target: "labelling", actions: assign({ weight: ({ event }) => event.output }) },
            onError: "labelling",
          },
        },
        labelling: {
          entry: { type: "label", params: { colour: "red" } },
          on: {
            SEND: { target: "#parcel.travelling", actions: assign({ weight: ({ event }) => event.weight }) },
          },
        },
        last: { type: "history", history: "deep" },
      },
    },
    paused: { on: { RESUME: "packing.last" }, after: { 900_000: "lost" } },
    travelling: {
      type: "parallel",
      on: { LOST: "lost" },
      states: {
        papers: {
          initial: "open",
          states: { open: { on: { SIGNED: "signed" } }, signed: { type: "final" } },
        },
        wheels: {
          initial: "rolling",
          states: {
            rolling: {
              on: { SCANNED: "scanned" },
              after: { 5_400_000: { target: "late", actions: "remind" } },
            },
            late: { on: { SCANNED: "scanned" } },
            scanned: { type: "final" },
          },
        },
      },
      onDone: [{ guard: "isHeavy", target: "lifted" }, { target: "delivered" }],
    },
    lifted: { always: "delivered" },
    delivered: { type: "final" },
    lost: { type: "final" },
  },
});

/** How the effects of the chart go. */
export interface ParcelOutside {
  readonly label?: () => Promise<undefined>;
}

export const parcels = ({ label = async () => undefined }: ParcelOutside = {}): Workflow<
  typeof parcel,
  unknown
> => workflow(parcel)({ version: 1, effects: { label, remind: async () => undefined } });

/** An engine at work on one storage, on a clock that the test turns. */
export interface ParcelWorld {
  readonly clock: VirtualClock;
  readonly storage: EngineStorage;
  readonly workflow: ReturnType<typeof parcels>;
  readonly engine: Engine<unknown>;
}

/** A world with its end: the engine is stopped. */
export async function openParcels(
  outside: ParcelOutside = {},
): Promise<ParcelWorld & { close(): Promise<unknown> }> {
  const clock = virtualClock();
  const storage = await sqliteStorage(":memory:");
  const registered = parcels(outside);
  const engine = createEngine<unknown>({ storage, workflows: [registered], clock, random: middleRandom });
  return { clock, storage, workflow: registered, engine, close: () => engine.stop({ timeoutMs: 0 }) };
}
