/** The chart of one delivery, pure: its whole table, six attempts and no seventh, and pauses from start to start. */
// modules: webhooks
import fc from "fast-check";
import { getShortestPaths } from "xstate/graph";
import { initialTransition, transition, type EventFromLogic, type SnapshotFrom } from "xstate";
import { describe, expect, test } from "vitest";
import { webhookDelivery } from "paystate/machines";
import { effectsOf, restored } from "./pure-steps.ts";
import type { WebhookDeliveryContext } from "../../machines/webhook-delivery.ts";

type Event = EventFromLogic<typeof webhookDelivery>;
type Snapshot = SnapshotFrom<typeof webhookDelivery>;

const MINUTE = 60_000;
const pausesMs = [MINUTE, 5 * MINUTE, 15 * MINUTE, 60 * MINUTE, 360 * MINUTE];
const input = {
  deliveryId: "d2",
  webhookId: "w",
  noticeId: "n",
  accountId: "a",
  follows: null,
  pausesMs,
};
const timer = "xstate.after.pause.webhook-delivery.pausing";
const events = {
  PAUSE_OVER: { type: timer } as unknown as Event,
  TURN_CAME: { type: "TURN_CAME" },
  FOLLOWED: { type: "FOLLOWED", by: "d3" },
  DELIVERED: { type: "DELIVERED" },
  ATTEMPT_FAILED: { type: "ATTEMPT_FAILED", durationMs: 1_000 },
  WEBHOOK_GONE: { type: "WEBHOOK_GONE" },
  RETRY: { type: "RETRY" },
  GIVEN_UP: { type: "GIVEN_UP" },
} as const satisfies Record<string, Event>;
type EventName = keyof typeof events;

const attempt = (number: number): string =>
  `attempt {"deliveryId":"d2","webhookId":"w","noticeId":"n","accountId":"a","number":${number}}`;
const giveUp = 'giveUp {"deliveryId":"d2","webhookId":"w"}';
const turnTo = (id: string): string =>
  `tell {"machine":"webhook-delivery","id":"${id}","event":{"type":"TURN_CAME"},"known":true}`;

interface Situation {
  readonly state: string;
  readonly context?: Partial<WebhookDeliveryContext>;
  /** What it makes of each event; whatever is not in here changes nothing. */
  readonly takes: Partial<Record<EventName, readonly [to: string, ...effects: string[]]>>;
}

const situations: Readonly<Record<string, Situation>> = {
  "waiting for its turn": {
    state: "waiting",
    context: { follows: "d1" },
    takes: { TURN_CAME: ["attempting", attempt(1)], FOLLOWED: ["waiting"] },
  },
  "in its first attempt": {
    state: "attempting",
    takes: {
      FOLLOWED: ["attempting"],
      DELIVERED: ["delivered"],
      ATTEMPT_FAILED: ["pausing", `arm ${timer} ${MINUTE - 1_000}`],
      WEBHOOK_GONE: ["dropped"],
    },
  },
  "in its first attempt, with a follower": {
    state: "attempting",
    context: { follower: "d3" },
    takes: {
      DELIVERED: ["delivered", turnTo("d3")],
      ATTEMPT_FAILED: ["pausing", turnTo("d3"), `arm ${timer} ${MINUTE - 1_000}`],
      WEBHOOK_GONE: ["dropped", turnTo("d3")],
    },
  },
  "in its second attempt": {
    state: "attempting",
    context: { attempts: 1 },
    takes: {
      FOLLOWED: ["attempting", turnTo("d3")],
      DELIVERED: ["delivered"],
      ATTEMPT_FAILED: ["pausing", `arm ${timer} ${5 * MINUTE - 1_000}`],
      WEBHOOK_GONE: ["dropped"],
    },
  },
  "in its last attempt": {
    state: "attempting",
    context: { attempts: 5 },
    takes: {
      FOLLOWED: ["attempting", turnTo("d3")],
      DELIVERED: ["delivered"],
      ATTEMPT_FAILED: ["givingUp", giveUp],
      WEBHOOK_GONE: ["dropped"],
    },
  },
  "giving up": {
    state: "givingUp",
    context: { attempts: 6 },
    takes: { GIVEN_UP: ["abandoned"], FOLLOWED: ["givingUp", turnTo("d3")] },
  },
  pausing: {
    state: "pausing",
    context: { attempts: 1 },
    takes: {
      PAUSE_OVER: ["attempting", `disarm ${timer}`, attempt(2)],
      RETRY: ["attempting", `disarm ${timer}`, attempt(2)],
      FOLLOWED: ["pausing", turnTo("d3")],
    },
  },
};

function placed({ state, context = {} }: Situation): Snapshot {
  const [{ context: initial }] = initialTransition(webhookDelivery, input);
  return webhookDelivery.resolveState({ value: state, context: { ...initial, ...context } });
}

const pairs = Object.entries(situations).flatMap(([name, situation]) =>
  (Object.keys(events) as EventName[]).map((event) => ({
    name,
    situation,
    event,
    row: situation.takes[event],
  })),
);
const ends = ["delivered", "abandoned", "dropped"];

describe("webhook-delivery", () => {
  test("begins with its first attempt, or by announcing itself to the delivery before it", () => {
    const [alone, actions] = initialTransition(webhookDelivery, input);
    expect([alone.value, ...effectsOf(actions)]).toEqual(["attempting", attempt(1)]);
    const [waiting, asked] = initialTransition(webhookDelivery, { ...input, follows: "d1" });
    expect([waiting.value, ...effectsOf(asked)]).toEqual([
      "waiting",
      'tell {"machine":"webhook-delivery","id":"d1","event":{"type":"FOLLOWED","by":"d2"},"otherwise":{"type":"TURN_CAME"},"known":true}',
    ]);
  });

  test("a redelivery goes on with the numbers of the attempts before it", () => {
    const again = { ...input, attemptsBefore: 6 };
    expect(effectsOf(initialTransition(webhookDelivery, again)[1])).toEqual([attempt(7)]);
    const [, asked] = initialTransition(webhookDelivery, { ...again, follows: "d1" });
    expect(effectsOf(asked)[0]).toContain('"event":{"type":"FOLLOWED","by":"d2"}');
  });

  test.each(pairs.filter(({ row }) => row !== undefined))(
    "$name: takes $event",
    ({ situation, event, row }) => {
      const [next, actions] = transition(webhookDelivery, placed(situation), events[event]);
      expect([next.value, ...effectsOf(actions)]).toEqual(row);
    },
  );

  // Two followers of one delivery do not happen: a follower's `follows` is the notice right before it.
  const ignored = pairs.filter(
    ({ row, event, situation }) =>
      row === undefined && !(event === "FOLLOWED" && situation.context?.follower !== undefined),
  );
  test.each(ignored)("$name: ignores $event", ({ situation, event }) => {
    const before = placed(situation);
    const [next, actions] = transition(webhookDelivery, before, events[event]);
    expect(next).toBe(before);
    expect(actions).toEqual([]);
  });

  // FOLLOWED would be taken by the root: the engine hands no event to who has ended.
  const late = ends.flatMap((state) =>
    (Object.keys(events) as EventName[])
      .filter((event) => event !== "FOLLOWED")
      .map((event) => ({ state, event })),
  );
  test.each(late)("$state is the end: ignores $event", ({ state, event }) => {
    const before = placed({ state, takes: {} });
    const [next, actions] = transition(webhookDelivery, before, events[event]);
    expect(next).toBe(before);
    expect(actions).toEqual([]);
  });

  const paths = [null, "d1"].flatMap((follows) =>
    getShortestPaths(webhookDelivery, {
      input: { ...input, follows },
      events: Object.values(events),
      serializeState: ({ value, context }) => JSON.stringify([value, context]),
      // A delivery has one follower; its announcement goes back and forth for ever otherwise.
      stopWhen: ({ status }) => status !== "active",
    }),
  );

  test("every state that rests, and every final one among them, is on a shortest path", () => {
    const reached = new Set(paths.map(({ state }) => state.value));
    expect([...reached].toSorted()).toEqual(
      [...ends, "attempting", "givingUp", "pausing", "waiting"].toSorted(),
    );
  });

  test("H3: on no path is there a seventh attempt, and only the sixth failure gives up", () => {
    for (const { state } of paths) {
      expect(state.context.attempts).toBeLessThanOrEqual(6);
      expect(state.value === "givingUp" || state.value === "abandoned", JSON.stringify(state)).toBe(
        state.context.attempts === 6 && state.value !== "delivered",
      );
    }
  });

  test("H3: attempts start at 0, 1, 6, 21, 81 and 441 minutes, whatever each of them takes", () => {
    // An attempt of ours ends after 10 s; each pause is longer than that.
    const durations = fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(durations, (takes) => {
        let [at, actions] = initialTransition(webhookDelivery, input);
        let time = 0;
        const startedAt: number[] = [];
        for (const durationMs of takes) {
          expect(effectsOf(actions)).toContain(attempt(startedAt.length + 1));
          startedAt.push(time / MINUTE);
          time += durationMs;
          [at, actions] = transition(webhookDelivery, at, { type: "ATTEMPT_FAILED", durationMs });
          const armed = effectsOf(actions).find((effect) => effect.startsWith("arm "));
          if (armed === undefined) continue;
          time += Number(armed.split(" ").at(-1));
          [at, actions] = transition(webhookDelivery, at, events.PAUSE_OVER);
        }
        expect(startedAt).toEqual([0, 1, 6, 21, 81, 441]);
        expect(at.value).toBe("givingUp");
      }),
    );
  });

  test("an attempt that took longer than the pause after it is followed at once", () => {
    const failed: Event = { type: "ATTEMPT_FAILED", durationMs: 2 * MINUTE };
    const [next, actions] = transition(webhookDelivery, placed({ state: "attempting", takes: {} }), failed);
    expect(next.value).toBe("pausing");
    expect(effectsOf(actions)).toEqual([`arm ${timer} 0`]);
  });

  test("every snapshot that can be reached survives JSON and goes on as if nothing had been", () => {
    for (const { state } of paths) {
      for (const event of Object.values(events)) {
        const [expected, asked] = transition(webhookDelivery, state, event);
        const [next, actions] = transition(webhookDelivery, restored(webhookDelivery, state), event);
        expect(next.toJSON()).toEqual(expected.toJSON());
        expect(effectsOf(actions)).toEqual(effectsOf(asked));
      }
    }
  });
});
