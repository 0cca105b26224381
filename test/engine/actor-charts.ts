/* oxlint-disable no-underscore-dangle -- XState names it so */
/** Charts that keep references of actors and send to them, as XState's pages and public charts do. */
import {
  assign,
  enqueueActions,
  forwardTo,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stopChild,
  type AnyActorRef,
  type AnyStateMachine,
} from "xstate";

interface AnyEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** XState's client and server: the server answers whoever has asked, after some time. */
const server = setup({ types: { events: {} as { type: "CODE"; sender: AnyActorRef } } }).createMachine({
  id: "server",
  initial: "waitingForCode",
  states: {
    waitingForCode: {
      on: { CODE: { actions: sendTo(({ event }) => event.sender, { type: "TOKEN" }, { delay: 1_000 }) } },
    },
  },
});

export const clientAndServer: AnyStateMachine = setup({ actors: { server } }).createMachine({
  id: "client",
  initial: "idle",
  states: {
    idle: { on: { AUTH: "authorizing" } },
    authorizing: {
      invoke: { id: "auth-server", src: "server" },
      entry: sendTo("auth-server", ({ self }) => ({ type: "CODE", sender: self }) as never),
      on: { TOKEN: "authorized" },
    },
    authorized: { type: "final" },
  },
});

/** An event for a child, which takes any. */
const told = (type: string): never => ({ type }) as never;

/** Says who it is, and repeats what it hears to whom it is told. */
export const speaker = setup({
  types: {
    context: {} as { said: number; to: AnyActorRef | null },
    input: {} as { to: AnyActorRef | null } | undefined,
  },
}).createMachine({
  id: "speaker",
  context: ({ input }) => ({ said: 0, to: input?.to ?? null }),
  initial: "well",
  on: {
    SAY: {
      actions: [
        assign({ said: ({ context }) => context.said + 1 }),
        sendTo(
          ({ context, self }) => context.to ?? self._parent ?? self,
          ({ context, self }) => ({ type: "SAID", said: context.said, sender: self }) as never,
        ),
      ],
    },
    ANSWER: {
      actions: sendTo(
        ({ event }) => (event as unknown as { sender: AnyActorRef }).sender,
        ({ self }) => ({ type: "ANSWERED", sender: self }) as never,
      ),
    },
    SAID: { actions: sendParent(({ event }) => ({ ...event, type: "HEARD" }) as never) },
    END: ".over",
  },
  states: { well: {}, over: { type: "final" } },
});

interface KeeperContext {
  readonly ref: AnyActorRef | null;
  readonly heard: readonly unknown[];
}

const setupKeeper = setup({
  types: { context: {} as KeeperContext, events: {} as AnyEvent },
  actors: { speaker },
});

/** What a chart sees of an actor and of those that it knows. */
const seen = setupKeeper.assign({
  heard: ({ context, event, self, system }) => {
    const { sender } = event as unknown as { sender?: AnyActorRef };
    const children = (self.getSnapshot() as { children: Record<string, AnyActorRef> }).children;
    const { ref } = context;
    return [
      ...context.heard,
      [
        event.type,
        event["said"],
        sender?.id,
        sender === ref,
        sender?.sessionId === ref?.sessionId,
        ref === children["kid"],
        sender !== undefined && sender === children["kid"],
        ref === system.get("kid"),
        ref === self,
        sender === self,
        JSON.stringify({ ref, sender }),
        ref?.src,
        (ref as unknown as { ref?: unknown } | null)?.ref === ref,
        (ref as unknown as { _parent?: unknown } | null)?._parent === self,
      ],
    ];
  },
});

/** Keeps what spawn has returned, and compares all that it hears with it. */
export const keeper: AnyStateMachine = setupKeeper.createMachine({
  id: "keeper",
  context: { ref: null, heard: [] },
  on: {
    SPAWN: {
      actions: assign({ ref: ({ spawn }) => spawn("speaker", { id: "kid", systemId: "kid" }) as never }),
    },
    SAY: { actions: sendTo(({ context }) => context.ref as AnyActorRef, told("SAY")) },
    ALL: {
      actions: [
        ...["SAY", "SAY", "SAY"].map((type) => sendTo("kid", told(type)) as never),
        sendTo(
          ({ context }) => context.ref as AnyActorRef,
          ({ self }) => ({ type: "ANSWER", sender: self }) as never,
        ),
      ],
    },
    FORWARD: { actions: forwardTo(({ context }) => context.ref as AnyActorRef) },
    ASK: {
      actions: sendTo(
        ({ context }) => context.ref as AnyActorRef,
        ({ self }) => ({ type: "ANSWER", sender: self }) as never,
      ),
    },
    STOP: { actions: stopChild(({ context }) => context.ref as AnyActorRef) },
    LOOK: { actions: seen },
    SAID: { actions: seen },
    ANSWERED: { actions: seen },
    "*": { actions: seen },
  },
});

/** Invokes its child, whose address it learns from the child alone. */
export const inviter: AnyStateMachine = setupKeeper.createMachine({
  id: "inviter",
  context: { ref: null, heard: [] },
  initial: "caring",
  on: {
    SAID: { actions: [seen, assign({ ref: ({ event }) => event["sender"] as AnyActorRef }), seen] },
    LOOK: { actions: seen },
    KEEP: {
      actions: enqueueActions(({ enqueue, system }) => {
        enqueue.assign({ ref: system.get("kid") as AnyActorRef });
      }),
    },
    ANSWERED: { actions: seen },
    ASK: { actions: sendTo("kid", ({ self }) => ({ type: "ANSWER", sender: self }) as never) },
    SAY: { actions: sendTo("kid", told("SAY")) },
    NEXT: ".caring",
    LEAVE: ".alone",
  },
  states: { caring: { invoke: { id: "kid", systemId: "kid", src: "speaker" } }, alone: {} },
});

/** Two children, of which the second speaks to the first. */
export const siblings: AnyStateMachine = setupKeeper.createMachine({
  id: "siblings",
  context: ({ spawn }) => {
    const ref = spawn("speaker", { id: "first", systemId: "kid" });
    spawn("speaker", { id: "second", input: { to: ref as never } });
    return { ref, heard: [] };
  },
  on: {
    SAY: { actions: sendTo("second", told("SAY")) },
    MORE: {
      actions: spawnChild("speaker", { id: "third", input: ({ context }) => ({ to: context.ref as never }) }),
    },
    LOUD: { actions: sendTo("third", told("SAY")) },
    HEARD: { actions: seen },
  },
});
