/** References of actors as data: the address of an instance in one of its lives, which contexts, events and outputs may hold. */
import { ChartFault } from "./chart-fault.ts";

/** Where an actor is found. */
export interface ActorPlace {
  /** The id of its instance; of a promise one that no instance has. */
  readonly instance: string;
  /** The life of that instance. A later instance under the same id is another actor. */
  readonly life: string;
  /** The name of its workflow. Null for a promise, which takes no events. */
  readonly workflow: string | null;
  /** Why it cannot be stored. */
  readonly fault?: string | undefined;
  /** True of a child whose life the snapshot of its parent does not tell: to ask for it throws `LifeUnknown`. */
  readonly isUnknown?: boolean;
}

/** A step while it is made: it knows more of its own actors than their places. */
export interface StepActors {
  readonly system: object;
  /**
   * A step has asked for a life that is not there: XState gives an error in a guard another class, and keeps one of a child's
   * first state.
   */
  unknown: LifeUnknown | undefined;
  /** The id of the actor within the family of the step's instance; undefined for a stranger. */
  idOf(actor: ActorAddress): string | undefined;
  parentOf(actor: ActorAddress): ActorAddress | undefined;
  sourceOf(actor: ActorAddress): string | undefined;
  systemIdOf(actor: ActorAddress): string | undefined;
  /** The snapshot before the step, of the actor that makes the step. */
  snapshotOf(actor: ActorAddress): object | undefined;
}

// A step is synchronous, so there is at most one.
let present: StepActors | null = null;

/** Makes a step: meanwhile its actors answer as its chart may ask. */
export function withActors<A>(actors: StepActors, step: () => A): A {
  const outer = present;
  present = actors;
  try {
    return step();
  } finally {
    present = outer;
  }
}

/** Notes that the present step asks for this life, if a step is being made. */
export function unknownLife(error: LifeUnknown): LifeUnknown {
  if (present !== null) present.unknown = error;
  return error;
}

/** The `xstate$$type` of XState's own references in JSON. */
const REFERENCE = 1;

/**
 * A reference of an actor, as `spawn`, `self` and events give it to a chart: a value that is stored. Only the engine makes it.
 * All that a chart can see of it follows from its place and from the snapshot of the step that asks.
 */
export class ActorAddress {
  readonly #place: ActorPlace;

  constructor(place: ActorPlace) {
    this.#place = place;
  }

  /** The stored form of an address. @throws LifeUnknown */
  get place(): ActorPlace {
    const { instance, life, workflow } = this.#place;
    return { instance, life, workflow };
  }

  get instance(): string {
    return this.#place.instance;
  }

  get isUnknown(): boolean {
    return this.#place.isUnknown === true;
  }

  /** Why it cannot be stored; undefined where it can. */
  get fault(): string | undefined {
    return this.#place.fault;
  }

  isAt({ instance, life }: ActorPlace): boolean {
    return !this.isUnknown && this.#place.instance === instance && this.#place.life === life;
  }

  /** The id that its parent gave it. For a stranger, and outside of steps: as the id of its instance tells it. */
  get id(): string {
    return present?.idOf(this) ?? idIn(this.#place);
  }

  /** Names one life of one instance: no other actor has this session id. */
  get sessionId(): string {
    const { instance, life } = this.#place;
    return `${instance} ${life}`;
  }

  get src(): string | undefined {
    const { workflow } = this.#place;
    // A child's workflow is named by its parent's and its own source.
    return present?.sourceOf(this) ?? workflow?.slice(workflow.lastIndexOf("/") + 1);
  }

  get systemId(): string | undefined {
    return present?.systemIdOf(this);
  }

  get system(): object | undefined {
    return present?.system;
  }

  get _parent(): ActorAddress | undefined {
    return present?.parentOf(this);
  }

  get ref(): ActorAddress {
    return this;
  }

  getSnapshot(): object {
    const own = present?.snapshotOf(this);
    if (own !== undefined) return own;
    throw new ChartFault(
      `getSnapshot() of "${this.id}": a step sees no other actor; let it tell by sendParent or sendTo`,
    );
  }

  send(): never {
    const use =
      present === null
        ? "tell its chart by what the effect or the promise returns, or use engine.send"
        : "use the actions sendTo, sendParent or raise";
    throw new ChartFault(`send() of "${this.id}": an address sends nothing itself; ${use}`);
  }

  subscribe(): never {
    throw this.#unheard("subscribe");
  }

  on(): never {
    throw this.#unheard("on");
  }

  start(): never {
    throw new ChartFault(`start() of "${this.id}": an actor that is spawned begins with the step`);
  }

  stop(): never {
    throw new ChartFault(`stop() of "${this.id}": a step stops a child by the action stopChild`);
  }

  /** As XState's actors have it. Outside of steps, where people read it, with what tells where it is. */
  toJSON(): object {
    const reference = { xstate$$type: REFERENCE, id: this.id };
    if (present !== null) return reference;
    const { instance, workflow } = this.#place;
    return { ...reference, instance, workflow };
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `ActorAddress(${this.#place.instance})`;
  }

  #unheard(method: string): ChartFault {
    return new ChartFault(
      `${method}() of "${this.id}": a step hears no other actor; let it tell by sendParent or sendTo`,
    );
  }
}

/** A step asks for the address of a child whose life its parent has not noted: to be planned again with that life. */
export class LifeUnknown extends ChartFault {
  override readonly name = "LifeUnknown";
  /** The id of the child. */
  readonly child: string;
  readonly instance: string;
  /** Whether the child begins in this very step. */
  readonly isNew: boolean;

  constructor(child: string, instance: string, isNew: boolean) {
    super(`the address of "${child}" is not known in this step; keep what spawn returns`);
    this.child = child;
    this.instance = instance;
    this.isNew = isNew;
  }

  override in(): this {
    return this;
  }
}

/** For a child, whose workflow is its parent's: the last part of the id of its instance, without the number of its run. */
function idIn({ instance, workflow }: ActorPlace): string {
  if (workflow?.includes("/") === false) return instance;
  const name = instance.slice(instance.lastIndexOf("/") + 1);
  return name.replace(/~\d+$/, "") || instance;
}

// A chart sees one object for one actor, in events and in its context, as in XState: those that were stored or read back are
// found here for as long as anything holds them.
const revived = new Map<string, Map<string, WeakRef<ActorAddress>>>();
const forgotten = new FinalizationRegistry<ActorPlace>(({ instance, life }) => {
  const lives = revived.get(instance);
  if (lives?.get(life)?.deref() !== undefined) return;
  lives?.delete(life);
  if (lives?.size === 0) revived.delete(instance);
});

/** The address that a stored place stands for. */
export function revivedActor(place: ActorPlace): ActorAddress {
  const { instance, life } = place;
  const known = revivedAt(instance, life);
  if (known !== undefined) return known;
  const address = new ActorAddress(place);
  remember(address, place);
  return address;
}

/** The stored form of an address. Read back, that is the same object: a host may send on what the step itself has made. */
export function storedActor(address: ActorAddress): ActorPlace {
  const { place } = address;
  if (revivedAt(place.instance, place.life) === undefined) remember(address, place);
  return place;
}

function remember(address: ActorAddress, place: ActorPlace): void {
  const { instance, life } = place;
  const lives = revived.get(instance) ?? new Map<string, WeakRef<ActorAddress>>();
  revived.set(instance, lives.set(life, new WeakRef(address)));
  forgotten.register(address, place);
}

/** The address that was read back for this life, if anything holds it still. */
function revivedAt(instance: string, life: string): ActorAddress | undefined {
  return revived.size === 0 ? undefined : revived.get(instance)?.get(life)?.deref();
}

/** Whether an address of any life of this instance may be among the values of a step; `instancesIn` is sure, and looks at them all. */
export const isRevived = (instance: string): boolean => revived.size > 0 && revived.has(instance);

/** The instances whose addresses a value holds. */
export function instancesIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const seen = new Set<unknown>();
  const left: unknown[] = [value];
  while (left.length > 0) {
    const each = left.pop();
    if (typeof each !== "object" || each === null || seen.has(each) || ArrayBuffer.isView(each)) continue;
    seen.add(each);
    if (each instanceof ActorAddress) found.add(each.instance);
    else for (const part of partsOf(each)) left.push(part);
  }
  return found;
}

function partsOf(value: object): Iterable<unknown> {
  if (value instanceof Map) return [...(value as ReadonlyMap<unknown, unknown>)];
  if (value instanceof Set) return value;
  const own = Object.values(value) as unknown[];
  if (value instanceof Error) own.push(value.cause);
  if (value instanceof AggregateError) own.push(value.errors);
  return own;
}

/** The addresses of the actors in one commit, so that all its steps see the same object. */
export class ActorTable {
  #made: Map<string, ActorAddress> | undefined;

  at(place: ActorPlace): ActorAddress {
    const { instance, life } = place;
    const known = this.of(instance);
    if (known?.isAt(place) === true) return known;
    return this.keep(instance, revivedAt(instance, life) ?? new ActorAddress(place));
  }

  of(instance: string): ActorAddress | undefined {
    return this.#made?.get(instance);
  }

  keep(instance: string, address: ActorAddress): ActorAddress {
    (this.#made ??= new Map()).set(instance, address);
    return address;
  }
}

/** Whether a value looks like an actor of XState, of whatever making. */
export function isActorLike(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof ActorAddress) return false;
  const { sessionId, send, getSnapshot } = value as Readonly<Record<string, unknown>>;
  return sessionId !== undefined && typeof send === "function" && typeof getSnapshot === "function";
}
