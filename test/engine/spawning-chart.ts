/** A chart that begins children in every way in which an `assign` can, beside other actions. */
import {
  assign,
  enqueueActions,
  raise,
  sendTo,
  setup,
  stopChild,
  type AnyActorRef,
  type AnyStateMachine,
} from "xstate";
import { speaker } from "./actor-charts.ts";

interface AnyEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}
interface Spawning {
  readonly heard: readonly string[];
  readonly count: number;
  readonly first: AnyActorRef;
  readonly kid?: AnyActorRef;
  readonly kids?: readonly AnyActorRef[];
  readonly same?: readonly unknown[];
}

const setupSpawning = setup({
  types: { context: {} as Spawning, events: {} as AnyEvent },
  actors: { speaker },
  actions: {
    counts: assign({
      count: ({ context }, by: { by: number }) => context.count * by.by,
      kids: ({ spawn }) => [spawn("speaker", { id: "kid" }) as AnyActorRef],
    }),
  },
});

const say = { type: "SAY" } as never;

const again = setupSpawning.assign({ kid: ({ spawn }) => spawn("speaker", { id: "kid" }) as AnyActorRef });

/** Whom the chart has heard, and what it has heard. */
const heard = setupSpawning.assign({
  heard: ({ context, event }) => {
    const { type, said, sender } = event as AnyEvent & { readonly sender?: AnyActorRef };
    return [...context.heard, [type, said, sender?.id, sender === context.kid].join()];
  },
});

export const spawning: AnyStateMachine = setupSpawning.createMachine({
  id: "spawning",
  context: ({ spawn, self }) => ({
    heard: [],
    count: 0,
    first: spawn("speaker", { id: "first", systemId: "the first", input: { to: self } }),
  }),
  entry: [
    assign({
      count: ({ context }) => context.count + 1,
      kids: ({ spawn }) => [spawn("speaker", { id: "second" }) as AnyActorRef],
    }),
    sendTo(({ context }) => context.kids?.[0] as AnyActorRef, say),
    sendTo("first", say),
  ],
  on: {
    WHOLE: {
      actions: assign(({ context, spawn, system, self }) => {
        const { children } = self.getSnapshot() as { children: Record<string, AnyActorRef> };
        return {
          count: context.count + 10,
          kids: [spawn("speaker", { id: "third" }) as AnyActorRef, spawn("speaker") as AnyActorRef],
          same: [context.first === system.get("the first"), context.first === children["first"]],
        };
      }),
    },
    COUNT: { actions: { type: "counts", params: { by: 7 } } },
    MANY: {
      actions: enqueueActions(({ enqueue }) => {
        enqueue.assign({ count: ({ context }) => context.count + 100 });
        enqueue(again);
        enqueue.sendTo(({ context }) => context.kid as AnyActorRef, say);
        enqueue.stopChild("kid");
        enqueue(again);
        enqueue.sendTo(({ context }) => context.kid as AnyActorRef, say);
      }),
    },
    ANEW: {
      actions: [
        stopChild(({ context }) => context.kid as AnyActorRef),
        again,
        sendTo("kid", say),
        sendTo(({ context }) => context.kid as AnyActorRef, say),
      ],
    },
    BRIEFLY: { actions: [stopChild("kid"), again, sendTo("kid", say), stopChild("kid")] },
    RAISE: { actions: raise(({ self }) => ({ type: "RAISED", sender: self })) },
    RAISED: { actions: assign({ same: ({ event, self }) => [event["sender"] === self] }) },
    ASK: {
      actions: sendTo(
        ({ context }) => context.first,
        ({ self }) => ({ type: "ANSWER", sender: self }) as never,
      ),
    },
    "*": { actions: heard },
  },
});
