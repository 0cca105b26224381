/** Charts of business processes: saga, approval, booking, order, subscription. */
import { assign, emit, enqueueActions, fromPromise, log, raise, setup } from "xstate";
import type { ChartCase, Outside } from "./chart-case.ts";

const service = ({ call }: Outside, name: string) =>
  fromPromise<string, { readonly of: unknown } | undefined>(({ input }) => call(name, input));

const saga: ChartCase = {
  name: "saga with compensation",
  make: (outside) =>
    setup({
      types: { context: {} as { undo: string[]; trip: string }, input: {} as { trip: string } },
      actors: {
        bookFlight: service(outside, "bookFlight"),
        bookHotel: service(outside, "bookHotel"),
        charge: service(outside, "charge"),
        compensate: service(outside, "compensate"),
      },
      actions: { note: (_, { text }: { text: string }) => outside.note(text) },
    }).createMachine({
      id: "saga",
      context: ({ input }) => ({ undo: [], trip: input.trip }),
      initial: "flight",
      states: {
        flight: {
          invoke: {
            src: "bookFlight",
            input: ({ context }) => ({ of: context.trip }),
            onDone: {
              target: "hotel",
              actions: assign({ undo: ({ context, event }) => [...context.undo, event.output] }),
            },
            onError: "compensating",
          },
        },
        hotel: {
          invoke: {
            src: "bookHotel",
            onDone: {
              target: "charging",
              actions: assign({ undo: ({ context, event }) => [...context.undo, event.output] }),
            },
            onError: "compensating",
          },
        },
        charging: { invoke: { src: "charge", onDone: "booked", onError: "compensating" } },
        compensating: {
          entry: { type: "note", params: ({ context }) => ({ text: `undo ${context.undo.join()}` }) },
          always: { guard: ({ context }) => context.undo.length === 0, target: "undone" },
          invoke: {
            src: "compensate",
            input: ({ context }) => ({ of: context.undo.at(-1) }),
            onDone: {
              target: "compensating",
              reenter: true,
              actions: assign({ undo: ({ context }) => context.undo.slice(0, -1) }),
            },
            onError: "stuck",
          },
        },
        booked: { type: "final" },
        undone: { type: "final", output: "nothing is booked" },
        stuck: { type: "final" },
      },
      output: ({ event }) => (event as { output?: unknown }).output,
    }),
  input: { trip: "Rome" },
  script: [
    { answer: "bookFlight", with: "flight 7" },
    { answer: "bookHotel", with: "room 9" },
    { fail: "charge", with: new Error("card declined") },
    { answer: "compensate" },
    { answer: "compensate" },
  ],
  ends: "undone",
};

const approval = (name: string, script: ChartCase["script"], ends: string): ChartCase => ({
  name,
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { reminders: number; by: string | null },
        events: {} as { type: "APPROVE"; by: string } | { type: "REJECT"; by: string },
      },
      actions: {
        remind: ({ context }) => note(`reminder ${context.reminders}`),
        tell: ({ event }) => note(`told of ${event.type}`),
        decidedBy: assign({ by: ({ event }) => (event as { by: string }).by }),
      },
    }).createMachine({
      id: "approval",
      context: { reminders: 0, by: null },
      initial: "waiting",
      states: {
        waiting: {
          after: { 60_000: "expired" },
          initial: "quiet",
          states: {
            quiet: {
              after: {
                25_000: {
                  target: "quiet",
                  reenter: true,
                  actions: [assign({ reminders: ({ context }) => context.reminders + 1 }), "remind"],
                },
              },
            },
          },
          on: {
            APPROVE: { target: "approved", actions: ["decidedBy", "tell"] },
            REJECT: { target: "rejected", actions: ["decidedBy", "tell"] },
          },
        },
        approved: { type: "final" },
        rejected: { type: "final" },
        expired: { type: "final", entry: "tell" },
      },
    }),
  script,
  ends,
});

const booking: ChartCase = {
  name: "nested booking",
  make: (outside) =>
    setup({
      types: {
        context: {} as { seats: string[] },
        events: {} as { type: "PICK"; seat: string } | { type: "BACK" } | { type: "NEXT" } | { type: "PAY" },
      },
      actors: { reserve: service(outside, "reserve"), pay: service(outside, "pay") },
    }).createMachine({
      id: "booking",
      context: { seats: [] },
      initial: "choosing",
      entry: () => outside.note("welcome"),
      states: {
        choosing: {
          initial: "seats",
          states: {
            seats: {
              on: {
                PICK: { actions: assign({ seats: ({ context, event }) => [...context.seats, event.seat] }) },
                NEXT: { guard: ({ context }) => context.seats.length > 0, target: "extras" },
              },
            },
            extras: { on: { BACK: "seats", NEXT: "#booking.reserving" } },
          },
          exit: () => outside.note("chosen"),
        },
        reserving: {
          invoke: {
            src: "reserve",
            input: ({ context }) => ({ of: context.seats }),
            onDone: "paying",
            onError: "choosing",
          },
        },
        paying: {
          initial: "open",
          states: {
            open: { on: { PAY: "charging" } },
            charging: { invoke: { src: "pay", onDone: "paid", onError: "open" } },
            paid: { type: "final" },
          },
          after: { 90_000: "choosing" },
          onDone: "done",
        },
        done: { type: "final" },
      },
      output: ({ context }) => ({ seats: context.seats }),
    }),
  script: [
    "NEXT",
    { type: "PICK", seat: "1A" },
    { type: "PICK", seat: "1B" },
    "NEXT",
    "NEXT",
    { fail: "reserve", with: "taken" },
    "NEXT",
    "NEXT",
    { answer: "reserve", with: "r1" },
    "PAY",
    { fail: "pay", with: "declined" },
    "PAY",
    { answer: "pay", with: "p1" },
  ],
  ends: "done",
};

const order: ChartCase = {
  name: "order with raised and emitted events",
  make: ({ note }) =>
    setup({
      types: {
        context: {} as { total: bigint; paid: bigint },
        events: {} as { type: "ADD"; price: bigint } | { type: "PAY"; amount: bigint } | { type: "SETTLED" },
        emitted: {} as { type: "paid"; amount: bigint },
      },
      actions: { thank: () => note("thank you") },
      guards: { covers: ({ context }) => context.paid >= context.total },
    }).createMachine({
      id: "order",
      context: { total: 0n, paid: 0n },
      initial: "open",
      states: {
        open: {
          on: {
            ADD: { actions: assign({ total: ({ context, event }) => context.total + event.price }) },
            PAY: {
              actions: enqueueActions(({ enqueue, context, event, check }) => {
                enqueue.assign({ paid: context.paid + event.amount });
                enqueue(emit({ type: "paid", amount: event.amount }));
                enqueue(log("a payment"));
                enqueue("thank");
                const isCovered = check(() => context.paid + event.amount >= context.total);
                if (isCovered) enqueue(raise({ type: "SETTLED" }));
              }),
            },
            SETTLED: "settled",
          },
        },
        settled: { type: "final" },
      },
      output: ({ context }) => context.paid - context.total,
    }),
  script: [
    { type: "ADD", price: 10n ** 20n },
    { type: "PAY", amount: 1n },
    { type: "PAY", amount: 10n ** 20n },
  ],
  ends: "settled",
};

export const processes: readonly ChartCase[] = [
  saga,
  approval("approval in time", [25_000, { type: "APPROVE", by: "Ada" }], "approved"),
  approval("approval with timeout", [25_000, 25_000, 10_000], "expired"),
  booking,
  order,
];
