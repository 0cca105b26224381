/** The endpoints of a life: who of them lies, what they say, and how much of the past they have. */
import type { ChainFixture } from "../../kit/chain-fixture.ts";
import { type OddEndpoint, oddEndpoint } from "../../kit/odd-endpoints.ts";
import type { Life } from "./random-life.ts";
import { rulesOf, type ToldLie } from "./random-lies.ts";

const NAMES = ["first", "second", "third"] as const;

/** Endpoints of one chain. */
export class LifeNodes {
  readonly #endpoints: readonly OddEndpoint[];
  readonly #liars: Life["liars"];
  readonly #slot: () => number;
  #lies: readonly ToldLie[] = [];
  /** The names of those that an operator has ever put out of service. */
  readonly suspended = new Set<string>();
  /** All slots before this one are forgotten. */
  #firstSlot: number | null = null;

  constructor(
    { chain }: Pick<ChainFixture, "chain">,
    { endpoints, liars }: Pick<Life, "endpoints" | "liars">,
  ) {
    this.#endpoints = NAMES.slice(0, endpoints).map((name) => oddEndpoint(chain, name));
    this.#liars = liars;
    this.#slot = () => chain.slot();
  }

  get options(): readonly OddEndpoint["option"][] {
    return this.#endpoints.map(({ option }) => option);
  }

  /** What the ledger calls each of them. */
  get names(): readonly string[] {
    return this.#endpoints.map(({ option }) => new URL(option.url).host);
  }

  /** The names of those that never lie. */
  get honest(): readonly string[] {
    return this.names.filter((_, index) => this.#liars !== "all" && this.#liars !== index);
  }

  /** From now on these are told, and no others. */
  tell(lies: readonly ToldLie[]): void {
    this.#lies = lies;
    this.#obey();
  }

  /** From now on nobody has any history from before so many slots ago. */
  forget(slots: number): void {
    this.#firstSlot = Math.max(this.#firstSlot ?? 0, this.#slot() - slots);
    this.#obey();
  }

  /** Everybody tells the truth, and has all of the history. */
  mend(): void {
    this.#firstSlot = null;
    this.tell([]);
  }

  /** Does something while no lie is told. */
  async honestly<T>(deed: () => Promise<T>): Promise<T> {
    const lies = this.#lies;
    this.tell([]);
    const result = await deed();
    this.tell(lies);
    return result;
  }

  #obey(): void {
    const firstSlot = this.#firstSlot;
    for (const [index, endpoint] of this.#endpoints.entries()) {
      const tells = rulesOf(this.#liesOf(index), this.#slot);
      const forgets = firstSlot === null ? undefined : ({ kind: "restored", firstSlot } as const);
      endpoint.rule = (request) => tells(request) ?? forgets;
    }
  }

  /** A liar alone tells every lie; of several, one that is not told by all is told by one. */
  #liesOf(index: number): readonly ToldLie[] {
    if (this.#liars !== "all") return this.#liars === index ? this.#lies : [];
    return this.#lies.filter(({ by }) => by === "all" || by === index);
  }
}
