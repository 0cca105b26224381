/** Saga: what was done is undone in reverse order when a later step is refused, or the customer cancels. */
import { assign, fromPromise, setup } from "xstate";
import { currentRun, workflow } from "paystate/engine";
import { call, type Play } from "./pattern.ts";

/** A call to an airline or a hotel. It may run twice: the key, the same on each run, lets them do it once. */
const ask = (what: string, signal: AbortSignal) =>
  call(`${what}, key …${currentRun().key.slice(-4)}`, signal);
/** Resolves with the booking, or null for a refusal. An error is neither: the promise runs again under its key. */
const book = (what: string) =>
  fromPromise<string | null, string>(async ({ input, signal }) => {
    await ask(`book ${what}`, signal);
    return what === "hotel" && input === "full" ? null : `${what} 7`;
  });
const cancel = fromPromise<void, string>(({ input, signal }) => ask(`cancel ${input}`, signal));

const trip = setup({
  types: {
    input: {} as string,
    context: {} as {
      readonly to: string;
      readonly isCancelled: boolean;
      readonly flight: string;
      readonly hotel: string;
    },
    events: {} as { readonly type: "CANCEL" },
  },
  actors: { bookFlight: book("flight"), bookHotel: book("hotel"), cancel },
  guards: { isCancelled: ({ context }) => context.isCancelled },
}).createMachine({
  id: "trip",
  context: ({ input }) => ({ to: input, isCancelled: false, flight: "", hotel: "" }),
  // Kept in mind until the call under way has ended: only then it is known what has to be undone.
  on: { CANCEL: { actions: assign({ isCancelled: true }) } },
  initial: "flight",
  // No call has an `onError`: each is tried until it is answered, and listed as failing meanwhile.
  states: {
    flight: {
      invoke: {
        src: "bookFlight",
        input: ({ context }) => context.to,
        onDone: [
          { guard: ({ event }) => event.output === null, target: "off" },
          { target: "flightBooked", actions: assign({ flight: ({ event }) => event.output ?? "" }) },
        ],
      },
    },
    flightBooked: { always: [{ guard: "isCancelled", target: "cancellingFlight" }, "hotel"] },
    hotel: {
      invoke: {
        src: "bookHotel",
        input: ({ context }) => context.to,
        onDone: [
          { guard: ({ event }) => event.output === null, target: "cancellingFlight" },
          { target: "hotelBooked", actions: assign({ hotel: ({ event }) => event.output ?? "" }) },
        ],
      },
    },
    hotelBooked: { always: [{ guard: "isCancelled", target: "cancellingHotel" }, "booked"] },
    cancellingHotel: {
      invoke: { src: "cancel", input: ({ context }) => context.hotel, onDone: "cancellingFlight" },
    },
    cancellingFlight: { invoke: { src: "cancel", input: ({ context }) => context.flight, onDone: "off" } },
    booked: { type: "final" },
    off: { type: "final" },
  },
});

export const flow = workflow(trip)({ version: 1 });

export const play: Play = async (engine) => {
  for (const to of ["Adlon", "full"]) await engine.start(flow, { id: to, input: to });
  await engine.send(flow, "Adlon", { type: "CANCEL" });
  for (const id of ["Adlon", "full"]) console.log(id, (await engine.waitFor(flow, id, "final")).value);
};
