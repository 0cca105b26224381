/** The lives of a chart: under `createActor`, and durably, with as many deaths as one likes. */
import { createActor, SimulatedClock, type EventObject } from "xstate";
import {
  createEngine,
  currentRun,
  workflow,
  type AnyWorkflow,
  type ChartSnapshot,
  type Engine,
} from "paystate/engine";
import type { PaymentStorage, PaymentTables } from "../../../src/payments/payment-storage.ts";
import type { Adapter } from "../../kit/adapters.ts";
import { brokenInvariants } from "../../kit/check-invariants.ts";
import { turns } from "../../kit/engine-world.ts";
import { mortalProcess, type Death, type MortalProcess } from "../../kit/mortal.ts";
import { recordStorage, type StorageLog } from "../../kit/record-storage.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import type { ChartCase, ChartLibrary, Happening } from "./chart-case.ts";
import { ScriptedOutside } from "./scripted-outside.ts";
import { silentLogger } from "../../../src/core/runtime.ts";

/** What can be seen of a chart when everything has come to rest. */
export interface Sight {
  readonly value: unknown;
  readonly context: unknown;
  readonly status: unknown;
  readonly output: unknown;
}

/** A life told: what was seen at its start and after each happening, and the notes in order. */
export interface Life {
  readonly sights: readonly Sight[];
  readonly notes: readonly string[];
  readonly commits: number;
}

export const sightOf = ({ value, context, status, output }: Partial<Sight>): Sight => ({
  value,
  context,
  status,
  output,
});

const xstate5: ChartLibrary = {
  begin(machine, input) {
    const clock = new SimulatedClock();
    return { actor: createActor(machine, { input, clock, logger: () => {} }), clock };
  },
  register: (machine) => workflow(machine)({ version: 1 }),
};

/** What XState itself makes of it. */
export async function actorLife({ make, input, script, library = xstate5 }: ChartCase): Promise<Life> {
  let calls = 0;
  const outside = new ScriptedOutside(() => String((calls += 1)));
  const { actor, clock } = library.begin(make(outside), input);
  const sights: Sight[] = [];
  const look = async (): Promise<void> => {
    await turns(3);
    sights.push(sightOf(actor.getSnapshot() as Partial<Sight>));
  };
  actor.start();
  await look();
  for (const happening of script) {
    happen(happening, { send: (event) => actor.send(event), wait: (ms) => clock.increment(ms), outside });
    await look();
  }
  return { sights, notes: outside.notes, commits: 0 };
}

/** What things happen to. */
interface Happens<Taken> {
  send(event: EventObject): Taken;
  wait(ms: number): Taken;
  readonly outside: ScriptedOutside;
}

export function happen<Taken>(happening: Happening, to: Happens<Taken>): Taken | void {
  if (typeof happening === "number") return to.wait(happening);
  if (typeof happening === "string") return to.send({ type: happening });
  if ("type" in happening) return to.send(happening);
  if ("fail" in happening) return to.outside.end(happening.fail, { error: happening.with });
  return to.outside.end(happening.answer, { value: happening.with });
}

/** What the engine makes of it; with deaths, the next process takes over at each of them. */
export async function durableLife(
  chart: ChartCase,
  { make }: Pick<Adapter, "make">,
  ...deaths: readonly Death[]
): Promise<Life> {
  const database = await make();
  const life = new DurableLife(chart, await database.open(), deaths);
  try {
    return await life.live();
  } finally {
    await life.end();
    await database.destroy();
  }
}

const ID = "it";

// Nothing here takes a turn without a commit, a call or a note for so long.
const CALM_TURNS = 12;

class DurableLife {
  readonly #script: readonly Happening[];
  readonly #input: unknown;
  readonly #storage: PaymentStorage;
  readonly #clock = virtualClock();
  readonly #log: StorageLog = { commits: [], claims: [] };
  readonly #outside = new ScriptedOutside(() => currentRun().key);
  readonly #workflow: AnyWorkflow;
  readonly #deaths: Death[];
  #process: MortalProcess;
  #engine: Engine<PaymentTables>;

  constructor(chart: ChartCase, storage: PaymentStorage, deaths: readonly Death[]) {
    this.#script = chart.script;
    this.#input = chart.input;
    this.#storage = storage;
    const { library = xstate5 } = chart;
    this.#workflow = library.register(chart.make(this.#outside));
    this.#deaths = [...deaths];
    this.#process = mortalProcess(this.#deaths.shift());
    this.#engine = this.#open();
  }

  async live(): Promise<Life> {
    const sights: Sight[] = [];
    const look = async (): Promise<void> => {
      await this.#calm();
      sights.push(sightOf((await this.#read()) ?? {}));
    };
    const starts = [{ workflow: this.#workflow, id: ID, input: this.#input }];
    await this.#untilDone(
      () => this.#engine.commit({ starts }),
      async () => (await this.#read()) !== null,
    );
    await look();
    for (const happening of this.#script) {
      await happen(happening, {
        send: (event) => this.#send(event),
        wait: async (ms) => this.#clock.advance(ms),
        outside: this.#outside,
      });
      await look();
    }
    const commits = this.#process.calls.filter((method) => method === "commit").length;
    return { sights, notes: this.#outside.notes, commits };
  }

  /** Sentences on broken invariants; the life is over then. */
  async end(): Promise<void> {
    await this.#engine.stop({ timeoutMs: 0 });
    const run = {
      storage: this.#storage,
      log: this.#log,
      workflows: [this.#workflow],
      awaitsOutside: () => true,
    };
    const broken = await brokenInvariants(run);
    await this.#storage.close();
    if (broken.length > 0) throw new Error(broken.join("\n"));
  }

  #open(): Engine<PaymentTables> {
    const recorded = recordStorage(this.#storage, this.#log, () => this.#clock.now());
    const engine = createEngine<PaymentTables>({
      storage: this.#process.within(recorded),
      clock: this.#process.timedBy(this.#clock),
      workflows: [this.#workflow],
      leaseMs: 3_600_000,
      logger: silentLogger,
    });
    engine.run();
    return engine;
  }

  async #read(): Promise<ChartSnapshot | null> {
    const reader = createEngine<PaymentTables>({ storage: this.#storage, workflows: [this.#workflow] });
    return reader.read(ID);
  }

  /** An event is sent again unless it is known to have been taken, as a client does after a lost connection. */
  async #send(event: EventObject): Promise<void> {
    const before = (await this.#storage.load(ID))?.version ?? 0;
    await this.#untilDone(
      () => this.#engine.send(this.#workflow as never, ID, event),
      async () => {
        const rows = await this.#storage.history(ID, { after: before, limit: 100 });
        return rows.some((row) => row.event.includes(`"type":"${event.type}"`));
      },
    );
  }

  async #untilDone(act: () => Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
    const process = this.#process;
    await Promise.race([act(), process.died]);
    if (!process.isDead()) return;
    await this.#takeOver();
    if (!(await isDone())) await this.#untilDone(act, isDone);
  }

  /** A new process, at once: the leases of the dead one are given up as if they had run out. */
  async #takeOver(): Promise<void> {
    await turns(CALM_TURNS);
    const { commits, claims } = this.#log;
    const leased = commits
      .flatMap(({ commit }) => commit.arms ?? [])
      .filter(({ lease }) => lease !== undefined);
    const held = [...leased.map(({ task: { id } }) => ({ id, token: 1 })), ...claims];
    const dueAt = this.#clock.now();
    for (const { id, token } of held) await this.#storage.release({ id, token, dueAt });
    this.#process = mortalProcess(this.#deaths.shift());
    this.#engine = this.#open();
  }

  async #calm(): Promise<void> {
    let seen = -1;
    for (let calm = 0; calm < CALM_TURNS; calm++) {
      if (this.#process.isDead()) {
        await this.#takeOver();
        calm = 0;
      }
      const now = this.#log.commits.length + this.#outside.activity;
      if (now !== seen) calm = 0;
      seen = now;
      await turns(1);
    }
  }
}
