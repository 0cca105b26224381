/** Timeout ladder: a silent customer is reminded, then a manager is told, then the ticket is closed. */
import { setup } from "xstate";
import { workflow } from "paystate/engine";
import type { Play } from "./pattern.ts";

/** A day of this play, in milliseconds. In yours: 24 * 60 * 60 * 1_000. */
const DAY = 100;

const ticket = setup({
  types: { events: {} as { readonly type: "ANSWER" } },
  actions: { tell: (_, { who, what }: { who: string; what: string }) => console.log(`${who}: ${what}`) },
}).createMachine({
  id: "ticket",
  initial: "open",
  states: {
    open: {
      // From every rung: leaving the state ends the timer of the rung.
      on: { ANSWER: "answered" },
      initial: "asked",
      states: {
        asked: { after: { [DAY]: "reminded" } },
        reminded: {
          entry: { type: "tell", params: { who: "customer", what: "please answer" } },
          after: { [2 * DAY]: "escalated" },
        },
        escalated: {
          entry: { type: "tell", params: { who: "manager", what: "nobody answers" } },
          after: { [4 * DAY]: "#ticket.closed" },
        },
      },
    },
    answered: { type: "final" },
    closed: { type: "final" },
  },
});

export const flow = workflow(ticket)({ version: 1 });

export const play: Play = async (engine) => {
  for (const id of ["quick", "silent"]) await engine.start(flow, { id, input: undefined });
  await engine.waitFor(flow, "quick", { state: "open.reminded" });
  await engine.send(flow, "quick", { type: "ANSWER" });
  for (const id of ["quick", "silent"]) console.log(id, (await engine.waitFor(flow, id, "final")).value);
};
