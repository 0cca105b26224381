/** Fan-out: a child for each of very many items, so many at a time, and joined when the last one has ended. */
import { assign, enqueueActions, fromPromise, sendParent, setup } from "xstate";
import { workflow } from "paystate/engine";
import type { Play } from "./pattern.ts";

type Mail = { readonly n: number };

const mail = setup({
  types: { input: {} as Mail, context: {} as Mail },
  actors: {
    // Finds its address by its number: what is long stays in your table, not in the charts.
    send: fromPromise<void, Mail>(async ({ input: { n } }) => {
      if (n % 250 === 0) console.log(`mail ${n}`);
    }),
  },
}).createMachine({
  context: ({ input }) => input,
  initial: "sending",
  states: {
    sending: { invoke: { src: "send", input: ({ context }) => context, onDone: "sent" } },
    sent: { type: "final", entry: sendParent({ type: "SENT" }) },
  },
});

const mailing = setup({
  types: {
    input: {} as { readonly mails: number },
    context: {} as { readonly mails: number; readonly begun: number; readonly sent: number },
    events: {} as { readonly type: "SENT" },
  },
  actors: { mail },
  actions: {
    /** As many as have room: a hundred at a time. */
    begin: enqueueActions(({ context: { mails, begun, sent }, enqueue }) => {
      const end = Math.min(mails, sent + 100);
      for (let n = begun + 1; n <= end; n++) enqueue.spawnChild("mail", { id: `mail-${n}`, input: { n } });
      enqueue.assign({ begun: Math.max(begun, end) });
    }),
  },
}).createMachine({
  id: "mailing",
  context: ({ input }) => ({ ...input, begun: 0, sent: 0 }),
  initial: "sending",
  states: {
    sending: {
      entry: "begin",
      on: { SENT: { actions: [assign({ sent: ({ context }) => context.sent + 1 }), "begin"] } },
      always: { guard: ({ context }) => context.sent === context.mails, target: "sent" },
    },
    sent: { type: "final" },
  },
});

export const flow = workflow(mailing)({ version: 1 });

export const play: Play = async (engine) => {
  await engine.start(flow, { id: "autumn", input: { mails: 1_000 } });
  console.log((await engine.waitFor(flow, "autumn", "final")).value);
};
