/** Saga: what was done is undone in reverse order when a later step is refused, or the customer cancels. */
import { assign, fromPromise, setup } from "xstate";
import { currentRun, workflow } from "paystate/engine";
import { call, type Play } from "./pattern.ts";

/** A call to an airline or a hotel. It may run twice: the key, the same on each run, lets them do it once. */
const ask = (what: string) =>
  fromPromise<void, string>(async ({ input, signal }) => {
    await call(`${what}, key …${currentRun().key.slice(-4)}`, signal);
    if (what === "book hotel" && input === "full") throw new Error("no room is free");
  });
const input = ({ context }: { readonly context: { readonly hotel: string } }) => context.hotel;

const trip = setup({
  types: {
    input: {} as string,
    context: {} as { readonly hotel: string; readonly isCancelled: boolean },
    events: {} as { readonly type: "CANCEL" },
  },
  actors: {
    bookFlight: ask("book flight"),
    bookHotel: ask("book hotel"),
    cancelHotel: ask("cancel hotel"),
    cancelFlight: ask("cancel flight"),
  },
  guards: { isCancelled: ({ context }) => context.isCancelled },
}).createMachine({
  id: "trip",
  context: ({ input: hotel }) => ({ hotel, isCancelled: false }),
  // Kept in mind until the call under way has ended: only then it is known what has to be undone.
  on: { CANCEL: { actions: assign({ isCancelled: true }) } },
  initial: "flight",
  states: {
    flight: { invoke: { src: "bookFlight", input, onDone: "flightBooked", onError: "off" } },
    flightBooked: { always: [{ guard: "isCancelled", target: "cancellingFlight" }, "hotel"] },
    hotel: { invoke: { src: "bookHotel", input, onDone: "hotelBooked", onError: "cancellingFlight" } },
    hotelBooked: { always: [{ guard: "isCancelled", target: "cancellingHotel" }, "booked"] },
    // Without `onError` an undoing is tried until it succeeds, and listed as failing meanwhile.
    cancellingHotel: { invoke: { src: "cancelHotel", input, onDone: "cancellingFlight" } },
    cancellingFlight: { invoke: { src: "cancelFlight", input, onDone: "off" } },
    booked: { type: "final" },
    off: { type: "final" },
  },
});

export const flow = workflow(trip)({ version: 1 });

export const play: Play = async (engine) => {
  for (const hotel of ["Adlon", "full"]) await engine.start(flow, { id: hotel, input: hotel });
  await engine.send(flow, "Adlon", { type: "CANCEL" });
  for (const id of ["Adlon", "full"]) console.log(id, (await engine.waitFor(flow, id, "final")).value);
};
