/** Two use cases that meet at every commit: one stops at its n-th commit, the other runs whole, the first goes on. */

/** The outside of a process, as its use case must call it: a storage, a ledger. */
export type Through = <T extends object>(outside: T) => T;

/** What a use case ended with. */
export type Ending<Result> = PromiseSettledResult<Result>;

/** Two use cases, and what must hold wherever they meet. */
export interface Meeting<World, One, Other> {
  /** Prepares each meeting anew, such as a quote that nobody has used. */
  readonly arrange: () => Promise<World>;
  readonly one: (world: World, through: Through) => Promise<One>;
  readonly other: (world: World, through: Through) => Promise<Other>;
  /** Expects what must hold after a meeting. */
  readonly judge: (world: World, one: Ending<One>, other: Ending<Other>) => Promise<void>;
  /** The methods at whose calls they meet. Default: `commit`. */
  readonly at?: readonly string[];
  /** Where a call is met. Default: before and after it. */
  readonly moments?: readonly Moment[];
  /** Whether `other` stops too, and `one` runs whole meanwhile. Default: yes. */
  readonly inBothOrders?: boolean;
}

type Moment = "before" | "after";

interface Stop {
  readonly call: number;
  readonly moment: Moment;
}

/** Where processes stop. */
interface Places {
  readonly at: readonly string[];
  readonly moments: readonly Moment[];
}

/** A process that stops at one of its calls until it is let go. */
class StoppedProcess {
  readonly #methods: ReadonlySet<string>;
  readonly #stop: Stop;
  #calls = 0;
  #isOpen = false;
  #open: () => void = () => undefined;
  #arrive: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => (this.#open = resolve));
  /** Resolves when it stops. */
  readonly arrived = new Promise<void>((resolve) => (this.#arrive = resolve));

  constructor(methods: readonly string[], stop: Stop) {
    this.#methods = new Set(methods);
    this.#stop = stop;
  }

  readonly through: Through = (outside) =>
    new Proxy(outside, {
      get: (target, property, receiver) => {
        const value: unknown = Reflect.get(target, property, receiver);
        if (typeof value !== "function") return value;
        const isStop = this.#methods.has(String(property));
        return (...args: unknown[]): unknown => {
          const call = (): unknown => Reflect.apply(value, target, args);
          return isStop ? this.#passing(call) : call();
        };
      },
    });

  letGo(): void {
    this.#isOpen = true;
    this.#open();
  }

  async #passing(call: () => unknown): Promise<unknown> {
    this.#calls += 1;
    const number = this.#calls;
    const { call: stop, moment } = this.#stop;
    // Once it has stopped, nothing else of the same process passes either.
    const isHeld = number > stop || (number === stop && moment === "before");
    if (isHeld) await this.#wait(number === stop);
    const answer = await call();
    if (number === stop && moment === "after") await this.#wait(true);
    return answer;
  }

  async #wait(isStop: boolean): Promise<void> {
    if (this.#isOpen) return;
    if (isStop) this.#arrive();
    await this.#opened;
  }
}

const BOTH: readonly Moment[] = ["before", "after"];
const asItIs: Through = (outside) => outside;

/**
 * Lets them meet before and after every commit of each, each time in a world that was arranged for it, and judges every
 * meeting. Answers how many there were; throws when there was none, or when a use case never ends.
 */
export async function meetAtEveryCommit<World, One, Other>(
  meeting: Meeting<World, One, Other>,
): Promise<number> {
  const { arrange, one, other, judge, inBothOrders = true } = meeting;
  const places = { at: meeting.at ?? ["commit"], moments: meeting.moments ?? BOTH };
  const first = await meetings(
    places,
    async (stopped) => {
      const world = await arrange();
      return {
        stopping: one(world, stopped.through),
        meanwhile: () => other(world, asItIs),
        judge: (a: Ending<One>, b: Ending<Other>) => judge(world, a, b),
      };
    },
    "the one stopped",
  );
  if (!inBothOrders) return first;
  const second = await meetings(
    places,
    async (stopped) => {
      const world = await arrange();
      return {
        stopping: other(world, stopped.through),
        meanwhile: () => one(world, asItIs),
        judge: (b: Ending<Other>, a: Ending<One>) => judge(world, a, b),
      };
    },
    "the other stopped",
  );
  return first + second;
}

interface Encounter<Stopping, Whole> {
  readonly stopping: Promise<Stopping>;
  readonly meanwhile: () => Promise<Whole>;
  readonly judge: (stopping: Ending<Stopping>, whole: Ending<Whole>) => Promise<void>;
}

/** More calls than any use case makes. */
const MAX_CALLS = 200;

async function meetings<Stopping, Whole>(
  { at, moments }: Places,
  begin: (stopped: StoppedProcess) => Promise<Encounter<Stopping, Whole>>,
  who: string,
): Promise<number> {
  for (let call = 1; call <= MAX_CALLS; call++) {
    for (const moment of moments) {
      const place = `${who} ${moment} call ${call} of ${at.join(", ")}`;
      const wasMet = await meet(begin, new StoppedProcess(at, { call, moment })).catch((cause: unknown) => {
        throw new Error(place, { cause });
      });
      if (wasMet) continue;
      if (call === 1) throw new Error(`${who} nowhere: it makes no call of ${at.join(", ")}`);
      return (call - 1) * moments.length;
    }
  }
  throw new Error(`${who} ${MAX_CALLS} times, and is not at its end`);
}

/** False when the use case ended without reaching the place: then nothing was met, and nothing is judged. */
async function meet<Stopping, Whole>(
  begin: (stopped: StoppedProcess) => Promise<Encounter<Stopping, Whole>>,
  stopped: StoppedProcess,
): Promise<boolean> {
  const { stopping, meanwhile, judge } = await begin(stopped);
  const ending = settled(stopping);
  const isStopped = await Promise.race([stopped.arrived.then(() => true), ending.then(() => false)]);
  if (!isStopped) return false;
  const whole = await settled(meanwhile());
  stopped.letGo();
  await judge(await ending, whole);
  return true;
}

async function settled<T>(work: Promise<T>): Promise<Ending<T>> {
  const [ending] = await Promise.allSettled([work]);
  return ending;
}
