/** Human approval: money is spent only after a person has said so, who may take days, and is asked once. */
import { assign, setup } from "xstate";
import { currentRun, workflow } from "paystate/engine";
import type { Play } from "./pattern.ts";

interface Request {
  readonly what: string;
  readonly approver: string;
}

type Answer =
  | { readonly type: "APPROVE"; readonly by: string }
  | { readonly type: "REFUSE"; readonly by: string; readonly reason: string };

const spending = setup({
  types: {
    input: {} as Request,
    context: {} as Request & { readonly reason: string | null },
    events: {} as Answer,
  },
  actions: {
    ask: (_, { what, approver }: Request) => console.log(`to ${approver}: may we buy ${what}?`),
    // May run twice: the key, the same on each run, lets the shop sell it once.
    buy: (_, { what }: Request) => console.log(`bought: ${what}, key …${currentRun().key.slice(-4)}`),
  },
  guards: {
    // The host tells who has answered, from its own session: never from what the browser has sent.
    isApprover: ({ context, event }) => event.by === context.approver,
  },
}).createMachine({
  id: "spending",
  context: ({ input }) => ({ ...input, reason: null }),
  initial: "asked",
  states: {
    asked: {
      entry: { type: "ask", params: ({ context }) => context },
      on: {
        APPROVE: { guard: "isApprover", target: "approved" },
        REFUSE: {
          guard: "isApprover",
          target: "refused",
          actions: assign({ reason: ({ event }) => event.reason }),
        },
      },
    },
    approved: { type: "final", entry: { type: "buy", params: ({ context }) => context } },
    refused: { type: "final" },
  },
});

export const flow = workflow(spending)({ version: 1 });

export const play: Play = async (engine) => {
  await engine.start(flow, { id: "desk", input: { what: "a desk", approver: "ada" } });
  await engine.settled(); // the question has left the house; the answer may come in a year
  const early = await engine.send(flow, "desk", { type: "APPROVE", by: "the one who asked" });
  console.log(early.kind);
  await engine.send(flow, "desk", { type: "APPROVE", by: "ada" });
  await engine.settled();
};
