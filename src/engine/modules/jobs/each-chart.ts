/** The chart of jobs for many instances: it reads a page, tells the instances of the page, and reads the next. */
import { assign, enqueueActions, setup, type EventObject } from "xstate";
import type { TellParams } from "../../../workflow/messages.ts";
import type { InstanceView } from "../../reading/views.ts";
import type { FieldValues } from "../../../workflow/instance-finder.ts";
import { nameOf } from "../../../workflow/workflow-key.ts";

/** The instances that a job is for, and the event that it tells them. */
export interface EachOrder {
  /** The chart and version, as `name@version`. */
  readonly workflow: string;
  readonly where: FieldValues;
  /** The path of a state; null for any. */
  readonly state: string | null;
  readonly event: EventObject;
}

export interface EachInput extends EachOrder {
  /** The newest instance at the beginning: later ones are not told. */
  readonly newest: Pick<InstanceView, "createdAt" | "id">;
  /** The number of instances with the value of the first field of `where`; null without one. */
  readonly total: number | null;
}

export interface EachState extends EachInput {
  /** The place in the list from where the next page goes on; null at the beginning. */
  readonly after: string | null;
  readonly touched: number;
}

export interface PageEvent {
  readonly type: "PAGE";
  readonly targets: readonly Pick<InstanceView, "id" | "life">[];
  /** Null behind the last page. */
  readonly next: string | null;
}

export const eachChart = setup({
  types: { input: {} as EachInput, context: {} as EachState, events: {} as PageEvent },
  actions: {
    readPage: (_, _state: EachState) => {},
    tell: (_, _params: TellParams) => {},
  },
}).createMachine({
  id: "paystate.each",
  context: ({ input }) => ({ ...input, after: null, touched: 0 }),
  initial: "reading",
  states: {
    reading: {
      entry: { type: "readPage", params: ({ context }) => context },
      on: {
        PAGE: {
          target: "told",
          actions: [
            enqueueActions(({ context, event, enqueue }) => {
              const { workflow: key, where, state } = context;
              for (const { id, life } of event.targets) {
                const only = { life, where, ...(state !== null && { state }) };
                enqueue({ type: "tell", params: { machine: nameOf(key), id, event: context.event, only } });
              }
            }),
            assign({
              after: ({ event }) => event.next,
              touched: ({ context, event }) => context.touched + event.targets.length,
            }),
          ],
        },
      },
    },
    told: {
      always: [{ guard: ({ context }) => context.after === null, target: "done" }, { target: "reading" }],
    },
    done: { type: "final" },
  },
});
