/** Three deliveries of one transaction to one webhook, in every order in which their work can be done. */
// modules: webhooks
import { initialTransition, transition, type EventFromLogic, type SnapshotFrom } from "xstate";
import { expect, test } from "vitest";
import { webhookDelivery } from "paystate/machines";
import type { PureAction } from "./pure-steps.ts";

type Event = EventFromLogic<typeof webhookDelivery>;
type Snapshot = SnapshotFrom<typeof webhookDelivery>;

/** Something that is waiting to be done: any of them may be next. */
type Work =
  | { readonly kind: "start"; readonly id: string }
  | { readonly kind: "attempt" | "timer"; readonly id: string }
  | { readonly kind: "message"; readonly id: string; readonly event: Event; readonly otherwise: Work | null };

interface Moment {
  readonly deliveries: Readonly<Record<string, Snapshot>>;
  readonly work: readonly Work[];
  /** First attempts in the order in which they ended, and those under way. */
  readonly firstEnded: readonly string[];
}

const pausesMs = [1_000];
const before: Readonly<Record<string, string | null>> = { a: null, b: "a", c: "b" };
const outcomes: readonly Event[] = [
  { type: "DELIVERED" },
  { type: "ATTEMPT_FAILED", durationMs: 0 },
  { type: "WEBHOOK_GONE" },
];

function asked(id: string, actions: readonly PureAction[]): Work[] {
  return actions.flatMap(({ type, params }): Work[] => {
    if (type === "attempt") return [{ kind: "attempt", id }];
    if (type === "giveUp") return [{ kind: "message", id, event: { type: "GIVEN_UP" }, otherwise: null }];
    if (type === "xstate.raise") return [{ kind: "timer", id }];
    if (type !== "tell") return [];
    const { id: target, event, otherwise } = params as { id: string; event: Event; otherwise?: Event };
    const back: Work | null =
      otherwise === undefined ? null : { kind: "message", id, event: otherwise, otherwise: null };
    return [{ kind: "message", id: target, event, otherwise: back }];
  });
}

/** All moments that can follow when this piece of work is the next to be done. */
function done(moment: Moment, work: Work): Moment[] {
  const rest = moment.work.filter((other) => other !== work);
  const moved = (id: string, event: Event, firstEnded = moment.firstEnded): Moment => {
    const now = moment.deliveries[id];
    if (now === undefined) throw new Error(`${id} is told something before it is there`);
    if (now.status === "done") return { ...moment, work: rest, firstEnded };
    const [next, actions] = transition(webhookDelivery, now, event);
    return {
      deliveries: { ...moment.deliveries, [id]: next },
      work: [...rest, ...asked(id, actions)],
      firstEnded,
    };
  };
  const { id } = work;
  switch (work.kind) {
    case "start": {
      const [next, actions] = initialTransition(webhookDelivery, {
        deliveryId: id,
        webhookId: "w",
        noticeId: id,
        accountId: "a",
        follows: before[id] ?? null,
        pausesMs,
      });
      return [
        {
          ...moment,
          deliveries: { ...moment.deliveries, [id]: next },
          work: [...rest, ...asked(id, actions)],
        },
      ];
    }
    case "attempt": {
      const { attempts = 0 } = moment.deliveries[id]?.context ?? {};
      const firstEnded = attempts === 0 ? [...moment.firstEnded, id] : moment.firstEnded;
      return outcomes.map((outcome) => moved(id, outcome, firstEnded));
    }
    case "timer":
      return [moved(id, { type: "xstate.after.pause.webhook-delivery.pausing" } as unknown as Event)];
    case "message": {
      // The engine keeps a message to somebody absent until its start has come.
      if (moment.deliveries[id] === undefined) return [];
      if (moment.deliveries[id].status === "done" && work.otherwise !== null) {
        return [{ ...moment, work: [...rest, work.otherwise] }];
      }
      return [moved(id, work.event)];
    }
  }
}

const fingerprint = ({ deliveries, work, firstEnded }: Moment): string =>
  JSON.stringify([
    Object.entries(deliveries)
      .map(([id, { value, context }]) => JSON.stringify([id, value, context.attempts, context.follower]))
      .toSorted(),
    work.map((each) => JSON.stringify(each)).toSorted(),
    firstEnded,
  ]);

test("in every order of starts, messages, attempts and timers, first attempts follow the notices and all come to an end", () => {
  const open: Moment[] = [
    { deliveries: {}, work: ["a", "b", "c"].map((id): Work => ({ kind: "start", id })), firstEnded: [] },
  ];
  const seen = new Set<string>();
  const ends: string[][] = [];
  for (let moment = open.pop(); moment !== undefined; moment = open.pop()) {
    const mark = fingerprint(moment);
    if (seen.has(mark)) continue;
    seen.add(mark);
    const now = moment;
    const { deliveries, work, firstEnded } = now;
    expect(firstEnded).toEqual(["a", "b", "c"].slice(0, firstEnded.length));
    if (work.length === 0) ends.push(Object.values(deliveries).map(({ status }) => status));
    open.push(...work.flatMap((each) => done(now, each)));
  }
  expect(ends.length).toBeGreaterThan(20);
  for (const statuses of ends) expect(statuses).toEqual(["done", "done", "done"]);
});
