/** The delivery of a notice to a webhook: attempts with growing pauses, then the delivery is abandoned. */
// modules: webhooks
import { assign, setup } from "xstate";

/** The input of a delivery. */
export interface WebhookDeliveryInput {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly noticeId: string;
  /** The webhook's owner. */
  readonly accountId: string;
  /** The delivery of the transaction's notice before, to the same webhook; null without one. */
  readonly follows: string | null;
  /** Attempts before a redelivery: their numbers go on. Default 0. */
  readonly attemptsBefore?: number;
  /** Pause between the starts of attempt n and n + 1, in milliseconds; there is one attempt more than pauses. */
  readonly pausesMs: readonly number[];
}

/** The context of a delivery: neither the notice's body nor the webhook's secret. */
export interface WebhookDeliveryContext extends WebhookDeliveryInput {
  /** Attempts that have ended. */
  readonly attempts: number;
  /** The delivery that waits for the first attempt of this delivery; null without a waiting delivery. */
  readonly follower: string | null;
  /** The rest of the pause, after subtracting the time of the failed attempt. */
  readonly pauseLeftMs: number;
}

/** Events of a delivery. */
export type WebhookDeliveryEvent =
  /** The earlier delivery has had its first attempt, or has ended. */
  | { readonly type: "TURN_CAME" }
  /** A later delivery waits for the first attempt of this delivery. */
  | { readonly type: "FOLLOWED"; readonly by: string }
  | { readonly type: "DELIVERED" }
  | { readonly type: "ATTEMPT_FAILED"; readonly durationMs: number }
  /** The owner asks for a retry before the end of the pause. */
  | { readonly type: "RETRY" }
  /** The webhook was deleted or disabled: nothing more is sent to it. */
  | { readonly type: "WEBHOOK_GONE" }
  /** The consequences of abandoning were decided. */
  | { readonly type: "GIVEN_UP" };

/** A due attempt of a delivery. */
export interface WebhookAttempt extends Pick<
  WebhookDeliveryInput,
  "deliveryId" | "webhookId" | "noticeId" | "accountId"
> {
  /** Counted from 1, those before a redelivery included. */
  readonly number: number;
}

/** The source of params. @inline */
interface ContextOnly {
  readonly context: WebhookDeliveryContext;
}

const countAttempt = assign<
  WebhookDeliveryContext,
  WebhookDeliveryEvent,
  undefined,
  WebhookDeliveryEvent,
  never
>({ attempts: ({ context }) => context.attempts + 1 });

const tellFollower = {
  type: "tell",
  params: ({ context }: ContextOnly) => ({
    machine: "webhook-delivery",
    id: context.follower ?? "",
    event: { type: "TURN_CAME" as const },
    known: true as const,
  }),
} as const;

/**
 * Notices of one transaction reach a webhook in the order of their first attempts: a follower announces itself to the
 * delivery before it and waits. Where the earlier delivery has ended, and so is gone, the engine hands the follower
 * TURN_CAME instead.
 */
export const webhookDelivery = setup({
  types: {
    context: {} as WebhookDeliveryContext,
    input: {} as WebhookDeliveryInput,
    events: {} as WebhookDeliveryEvent,
  },
  actions: {
    attempt: (_, _params: WebhookAttempt) => {},
    giveUp: (_, _params: { deliveryId: string; webhookId: string }) => {},
    tell: (
      _,
      _params: {
        machine: string;
        id: string;
        event: WebhookDeliveryEvent;
        otherwise?: WebhookDeliveryEvent;
        known: true;
      },
    ) => {},
  },
  guards: {
    isFollowing: ({ context }) => context.follows !== null,
    isFollowed: ({ context }) => context.follower !== null,
    hasBeenAttempted: ({ context }) => context.attempts > 0,
    hasPauseLeft: ({ context }) => context.attempts <= context.pausesMs.length,
  },
  delays: {
    pause: ({ context }) => context.pauseLeftMs,
  },
}).createMachine({
  id: "webhook-delivery",
  context: ({ input }) => ({ ...input, attempts: 0, follower: null, pauseLeftMs: 0 }),
  initial: "queued",
  on: {
    FOLLOWED: [
      {
        guard: "hasBeenAttempted",
        actions: {
          type: "tell",
          params: ({ event }) => ({
            machine: "webhook-delivery",
            id: event.by,
            event: { type: "TURN_CAME" as const },
            known: true as const,
          }),
        },
      },
      { actions: assign({ follower: ({ event }) => event.by }) },
    ],
  },
  states: {
    queued: {
      always: [{ guard: "isFollowing", target: "waiting" }, { target: "attempting" }],
    },
    waiting: {
      entry: {
        type: "tell",
        params: ({ context }) => ({
          machine: "webhook-delivery",
          id: context.follows ?? "",
          event: { type: "FOLLOWED" as const, by: context.deliveryId },
          otherwise: { type: "TURN_CAME" as const },
          known: true as const,
        }),
      },
      on: { TURN_CAME: "attempting" },
    },
    attempting: {
      entry: {
        type: "attempt",
        params: ({ context }) => ({
          deliveryId: context.deliveryId,
          webhookId: context.webhookId,
          noticeId: context.noticeId,
          accountId: context.accountId,
          number: (context.attemptsBefore ?? 0) + context.attempts + 1,
        }),
      },
      on: {
        DELIVERED: [
          { guard: "isFollowed", target: "delivered", actions: [countAttempt, tellFollower] },
          { target: "delivered", actions: countAttempt },
        ],
        ATTEMPT_FAILED: {
          target: "failed",
          actions: assign({
            attempts: ({ context }) => context.attempts + 1,
            // The delays run from start to start, so the attempt's own time counts.
            pauseLeftMs: ({ context, event }) =>
              Math.max(0, (context.pausesMs[context.attempts] ?? 0) - event.durationMs),
          }),
        },
        WEBHOOK_GONE: [
          { guard: "isFollowed", target: "dropped", actions: tellFollower },
          { target: "dropped" },
        ],
      },
    },
    failed: {
      always: [
        {
          guard: "isFollowed",
          target: "failed",
          reenter: true,
          actions: [tellFollower, assign({ follower: null })],
        },
        { guard: "hasPauseLeft", target: "pausing" },
        { target: "givingUp" },
      ],
    },
    // A separate state, so that a refused commit can be tried again without a further attempt.
    givingUp: {
      entry: {
        type: "giveUp",
        params: ({ context: { deliveryId, webhookId } }) => ({ deliveryId, webhookId }),
      },
      on: { GIVEN_UP: "abandoned" },
    },
    pausing: { after: { pause: "attempting" }, on: { RETRY: "attempting" } },
    delivered: { type: "final" },
    abandoned: { type: "final" },
    dropped: { type: "final" },
  },
});
