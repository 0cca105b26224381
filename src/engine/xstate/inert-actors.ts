/** Actors that do nothing: a step needs something to refer to as itself, its parent and its children. */
import type { ChildLink, ParentLink } from "../chart.ts";

/** What a chart sees of an actor. Sending to it is only possible by the chart's own actions. */
export interface InertActor {
  readonly id: string;
  readonly sessionId: string;
  readonly src: string | undefined;
  readonly systemId: string | undefined;
  readonly system: InertSystem;
  readonly _parent: InertActor | undefined;
  readonly ref: InertActor;
  getSnapshot(): { readonly status: "active" };
  send(): never;
}

/** The system of actors as a step sees it: `get` finds the children that have a `systemId`. */
export interface InertSystem {
  readonly named: Map<string, unknown>;
  get(systemId: string): unknown;
  _bookId(): string;
  _register(): void;
  _unregister(): void;
  _set(systemId: string, actor: unknown): void;
  _sendInspectionEvent(): void;
  inspect(): void;
  readonly _snapshot: { readonly _scheduledEvents: object };
  readonly _clock: object;
  readonly _logger: () => void;
}

const nothing = (): void => {};

/**
 * A system of its own for each step. `bookId` gives a name to a child that the chart has not named, `find` answers the actor
 * of a child from before the step.
 */
export function inertSystem(bookId: () => string, find: (systemId: string) => unknown): InertSystem {
  const named = new Map<string, unknown>();
  return {
    named,
    get: (systemId) => named.get(systemId) ?? find(systemId),
    _bookId: bookId,
    _register: nothing,
    _unregister: nothing,
    _set: (systemId, actor) => void named.set(systemId, actor),
    _sendInspectionEvent: nothing,
    inspect: nothing,
    _snapshot: { _scheduledEvents: {} },
    _clock: { setTimeout: nothing, clearTimeout: nothing },
    _logger: nothing,
  };
}

interface ActorTraits {
  readonly sessionId?: string;
  readonly src?: string;
  readonly systemId?: string;
  readonly parent?: InertActor;
}

/** The actor that stands for a running child, or for the chart itself. */
export function inertActor(
  id: string,
  system: InertSystem,
  { sessionId = id, src, systemId, parent }: ActorTraits = {},
): InertActor {
  const actor: InertActor = {
    id,
    sessionId,
    src,
    systemId,
    system,
    _parent: parent,
    get ref() {
      return actor;
    },
    getSnapshot: () => ({ status: "active" }),
    send() {
      throw new Error(
        `a step does not send to "${id}" directly; use the actions sendTo, sendParent or raise`,
      );
    },
  };
  if (systemId !== undefined) system.named.set(systemId, actor);
  return actor;
}

/** The parent of a child machine, undefined for an instance without a parent. */
export function inertParent(parent: ParentLink | undefined, system: InertSystem): InertActor | undefined {
  return parent === undefined ? undefined : inertActor(parent.instance, system);
}

/** The children of a stored snapshot. Each is made when it is asked for: a step of a chart with thousands asks for few. */
export function inertChildren(
  children: Readonly<Record<string, ChildLink>>,
  self: InertActor,
): Record<string, InertActor> {
  const actors: Record<string, InertActor> = {};
  const actorOf = (id: string): InertActor | undefined => {
    const link = Object.hasOwn(children, id) ? children[id] : undefined;
    if (link === undefined || Object.hasOwn(actors, id)) return actors[id];
    const { src, systemId } = link;
    return (actors[id] = inertActor(id, self.system, {
      src,
      parent: self,
      ...(systemId === undefined ? {} : { systemId }),
    }));
  };
  return new Proxy(actors, {
    get: (_, id) => (typeof id === "string" ? actorOf(id) : undefined),
    ownKeys() {
      for (const id in children) actorOf(id);
      return Reflect.ownKeys(actors);
    },
  });
}
