/** Actors that do nothing: a step needs something to refer to as itself, its parent and its children. */
import { ChartFault } from "../chart-fault.ts";
import type { ChildLink } from "../chart.ts";
import { UNSTORABLE } from "../values.ts";

interface ActorTraits {
  readonly sessionId?: string;
  readonly src?: string | undefined;
  readonly systemId?: string | undefined;
  readonly parent?: InertActor | undefined;
  readonly link?: ChildLink;
}

/** The chart's view of a running child, of its parent, or of itself. Only the chart's own actions send to it. */
export class InertActor {
  readonly id: string;
  readonly sessionId: string;
  readonly src: string | undefined;
  readonly systemId: string | undefined;
  readonly system: InertSystem;
  /** Of a child from before the step: another one may begin under its id. */
  readonly link: ChildLink | undefined;
  /** Its snapshot before the step, of the actor that makes the step. */
  present: object | undefined;
  readonly #parent: InertActor | undefined;

  constructor(id: string, system: InertSystem, traits: ActorTraits = {}) {
    const { sessionId = id, src, systemId, parent, link } = traits;
    this.id = id;
    this.sessionId = sessionId;
    this.src = src;
    this.systemId = systemId;
    this.system = system;
    this.link = link;
    this.#parent = parent;
    if (systemId !== undefined) system.named.set(systemId, this);
  }

  get _parent(): InertActor | undefined {
    return this.#parent;
  }

  get ref(): InertActor {
    return this;
  }

  get [UNSTORABLE](): string {
    return `it is the actor "${this.id}"; keep its id, and send to it by that`;
  }

  getSnapshot(): object {
    if (this.present !== undefined) return this.present;
    throw new ChartFault(
      `getSnapshot() of "${this.id}": a step sees no other actor; let it tell by sendParent or sendTo`,
    );
  }

  send(): never {
    throw new ChartFault(
      `a step does not send to "${this.id}" directly; use the actions sendTo, sendParent or raise`,
    );
  }
}

const nothing = (): void => {};

/** The system of actors as a step sees it, one for each step: `get` finds the children that have a `systemId`. */
export class InertSystem {
  readonly named = new Map<string, unknown>();
  readonly bookId: () => string;
  readonly get: (systemId: string) => unknown;
  readonly _bookId = (): string => this.bookId();
  readonly _register = nothing;
  readonly _unregister = nothing;
  readonly _sendInspectionEvent = nothing;
  readonly inspect = nothing;
  readonly _snapshot = { _scheduledEvents: {} };
  readonly _clock = { setTimeout: nothing, clearTimeout: nothing };
  readonly _logger = nothing;

  /** `bookId` gives a name to a child that the chart has not named, `find` answers the actor of a child from before the step. */
  constructor(bookId: () => string, find: (systemId: string) => unknown) {
    this.bookId = bookId;
    this.get = (systemId) => this.named.get(systemId) ?? find(systemId);
  }

  _set(systemId: string, actor: unknown): void {
    this.named.set(systemId, actor);
  }
}

/** The children of a stored snapshot, each made when it is asked for: of thousands a step asks for few. */
export function inertChildren(
  children: Readonly<Record<string, ChildLink>>,
  self: InertActor,
): Record<string, InertActor> {
  const actors: Record<string, InertActor> = {};
  const actorOf = (id: string): InertActor | undefined => {
    const link = Object.hasOwn(children, id) ? children[id] : undefined;
    if (link === undefined || Object.hasOwn(actors, id)) return actors[id];
    const { src, systemId } = link;
    return (actors[id] = new InertActor(id, self.system, { src, systemId, parent: self, link }));
  };
  return new Proxy(actors, {
    get: (_, id) => (typeof id === "string" ? actorOf(id) : undefined),
    ownKeys() {
      for (const id in children) actorOf(id);
      return Reflect.ownKeys(actors);
    },
  });
}
