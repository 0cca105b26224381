/** Debounce: of many changes only the last one counts, once nothing has changed for a while. */
import { assign, fromPromise, setup } from "xstate";
import { workflow } from "paystate/engine";
import { call, type Play } from "./pattern.ts";

const QUIET_MS = 300;

const draft = setup({
  types: {
    context: {} as { readonly text: string },
    events: {} as { readonly type: "CHANGE"; readonly text: string },
  },
  actors: {
    save: fromPromise<void, string>(({ input, signal }) => call(`saves ${JSON.stringify(input)}`, signal)),
  },
}).createMachine({
  id: "draft",
  context: { text: "" },
  on: {
    // `reenter` starts the delay of the state again, and aborts a save under way, whose text is old.
    CHANGE: { target: ".changed", reenter: true, actions: assign({ text: ({ event }) => event.text }) },
  },
  initial: "saved",
  states: {
    saved: {},
    changed: { after: { [QUIET_MS]: "saving" } },
    saving: { invoke: { src: "save", input: ({ context }) => context.text, onDone: "saved" } },
  },
});

export const flow = workflow(draft)({ version: 1 });

export const play: Play = async (engine) => {
  await engine.start(flow, { id: "letter", input: undefined });
  for (const text of ["D", "De", "Dear Ada"]) await engine.send(flow, "letter", { type: "CHANGE", text });
  await engine.waitFor(flow, "letter", { state: "saved" });
};
