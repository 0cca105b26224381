/** One place for a process of the service: it is started, killed as its life is drawn, and started again. */
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Child } from "./child.ts";
import type { Life } from "./plan.ts";
import type { ServiceReady, ServiceSettings } from "./processes/settings.ts";

/** A start fails while the chain is away; more often in a row than this it has another reason. */
const MAX_FAILED_STARTS = 60;
const AWAKE_MS = 300;
/** A life of few happenings ends after so long. */
const MAX_LIFE_MS = 12_000;

/** Resolves when so many more things have happened. */
export type Happenings = (count: number) => Promise<void>;

export class Victim {
  #settings: ServiceSettings;
  readonly #happenings: Happenings;
  #child: Child<ServiceReady> | null = null;
  #baseUrl: string | null = null;
  #complaints = "";
  /** Resolves when a process may be started, and the life of another may end. */
  #mayStart: Promise<void> = Promise.resolve();
  #letStart: () => void = () => {};
  readonly #killed = new WeakSet<Child<ServiceReady>>();
  /** What ended without being killed. */
  readonly findings: string[] = [];

  constructor(settings: ServiceSettings, happenings: Happenings) {
    this.#settings = settings;
    this.#happenings = happenings;
  }

  /** What it is started with from now on. */
  become(settings: ServiceSettings): void {
    this.#settings = settings;
  }

  /** Puts the clock of its machine on by so much more than it is off, or back; 0 puts it right. */
  put(byMs: number): void {
    const { clockFile } = this.#settings;
    if (clockFile !== null) writeFileSync(clockFile, new Float64Array([byMs]), { flag: "r+" });
  }

  /** Where it takes requests; null while it is away. Frozen it still has its place. */
  get baseUrl(): string | null {
    return this.#baseUrl;
  }

  /** Errors that its processes logged, the last ones. */
  get complaints(): string {
    return this.#complaints + (this.#child?.complaints ?? "");
  }

  /** Starts a process, and ends it in the way of this life. */
  async live({ dies, happenings, startsMs, frozenMs }: Life): Promise<void> {
    if (dies === "starting") {
      await this.#mayStart;
      const child = (this.#child = new Child<ServiceReady>("chaos-service", this.#settings));
      await sleep(startsMs);
      return this.#kill(child);
    }
    const child = await this.start();
    await Promise.race([this.#happenings(happenings), sleep(MAX_LIFE_MS), child.exited]);
    await Promise.race([this.#mayStart, child.exited]);
    if (dies !== "working") {
      child.process.kill("SIGSTOP");
      await sleep(frozenMs);
      if (dies === "woken") {
        child.process.kill("SIGCONT");
        await Promise.race([sleep(AWAKE_MS), child.exited]);
      }
    }
    await this.#kill(child);
  }

  /** Kills what is there, started or not, and starts another without waiting for it. */
  async replace(): Promise<void> {
    await this.end();
    const child = (this.#child = new Child<ServiceReady>("chaos-service", this.#settings));
    void child.ready.then((ready) => {
      if (ready !== null && this.#child === child) this.#baseUrl = ready.baseUrl;
    });
  }

  /** Until `release` no process is started, nor ends as its life is drawn. One that is still starting is killed. */
  hold(): void {
    this.#mayStart = new Promise((resolve) => (this.#letStart = resolve));
    if (this.#child?.isReady === false) this.#child.process.kill("SIGKILL");
  }

  release(): void {
    this.#letStart();
  }

  freeze(): void {
    this.#child?.process.kill("SIGSTOP");
  }

  thaw(): void {
    this.#child?.process.kill("SIGCONT");
  }

  /** Starts a process that stays. */
  async start(): Promise<Child<ServiceReady>> {
    for (let failed = 0; failed < MAX_FAILED_STARTS; failed += 1) {
      await this.#mayStart;
      const child = (this.#child = new Child<ServiceReady>("chaos-service", this.#settings));
      const ready = await child.ready;
      if (ready !== null) {
        this.#baseUrl = ready.baseUrl;
        return child;
      }
      this.#keepComplaints(child);
    }
    throw new Error(`a service could not be started: ${this.complaints}`);
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child !== null) await this.#kill(child);
  }

  async #kill(child: Child<ServiceReady>): Promise<void> {
    const { exitCode, signalCode } = child.process;
    const isKilled = this.#killed.has(child);
    this.#killed.add(child);
    if (!isKilled && child.isReady && (exitCode !== null || signalCode !== null)) {
      this.findings.push(
        `E5: a service ended by itself (${String(exitCode ?? signalCode)}): ${child.complaints}`,
      );
    }
    this.#baseUrl = null;
    if (exitCode === null && signalCode === null) await child.kill();
    this.#keepComplaints(child);
  }

  #keepComplaints({ complaints }: Child<ServiceReady>): void {
    this.#complaints = `${this.#complaints}${complaints}`.slice(-20_000);
  }
}
