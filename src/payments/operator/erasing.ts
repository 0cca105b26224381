/** Erases what names people, of an account or of one customer: what payments are proven with stays. */
import { z } from "zod";
import { commitOne } from "../../../storage/decided.ts";
import { agingTime } from "../../core/clock-trust.ts";
import type { Clock } from "../../core/runtime.ts";
import { accountGate, rulesOf, type ActContext } from "../frame/intake/rules.ts";
import type { FrameStorage, FrameWrite } from "../frame/frame-storage.ts";
import { frameTables } from "../frame/tables.ts";
import type { IdempotencyRecord } from "../frame/tables/identity.ts";
import { isFinalStatus, type TransactionRecord } from "../frame/tables/orders.ts";
import { everyRow } from "../frame/tables/read.ts";
import { OperatorRefused } from "../frame/acts/act.ts";
import type { ActRequest, ActRow, Decision } from "../frame/acts/act-row.ts";
import type { ActRunner } from "../frame/acts/act-runner.ts";
import type { ErasureCheck } from "../frame/acts/erasure-check.ts";
import type { ModuleErasure } from "../frame/open-module.ts";
import { accountIdField } from "./gates/gate-rule-storage.ts";
import { isWatched } from "../../workflow/watch-rows.ts";

/** The subject of the erasure. */
export interface Erasure {
  readonly accountId: string;
  /** The name that the account gave to one customer's transactions; default all of the account. */
  readonly reference?: string | undefined;
}

/** An erasure that is done, or that waits until a second person asks for the same. */
export interface ErasureResult extends Erasure {
  readonly state: "done" | "awaits_approval";
  /** How many transactions it is about. */
  readonly transactions: number;
}

/** Erasing personal data. */
export interface ErasureCommands {
  /**
   * Blanks references, also in notices, excerpts of receivers' answers, and stored answers; of a whole account also its name,
   * URLs and secrets of its webhooks and its keys' addresses, and revokes the keys. The first call asks; the same by another
   * actor does it, in many commits: where it is cut off, it is called again. Rejects with `OperatorRefused` while anything of
   * it is open, held or looked at, or under a day old, or its deposit address under 60 days old; and for a whole account
   * until its suspension.
   */
  erase(erasure: Erasure, by: ActContext): Promise<ErasureResult>;
}

const wantedErasure = z.strictObject({
  accountId: accountIdField,
  reference: z.string().min(1).max(128).optional(),
});
const proposal = z.object({ reference: z.string().optional() });

interface ErasureParts {
  readonly storage: FrameStorage;
  readonly clock: Clock;
  readonly runner: ActRunner;
  /** The verdicts of modules on a transaction. */
  readonly erasureChecks: (transactionId: string) => Promise<readonly ErasureCheck[]>;
  /** Personal data of modules. */
  readonly erasures: readonly ModuleErasure[];
}

/** For each account the newest request waits. */
const decisionId = (accountId: string): string => `erase:${accountId}`;

const DAY_MS = 24 * 3_600_000;

function whatOf({ accountId, reference, transactions }: ErasureResult): Decision<never>["what"] {
  return { accountId, of: reference === undefined ? "account" : "reference", transactions };
}

/** The end of what was asked for, once all is blank. */
function endOf({ text, actor }: ActRequest): ActRow<ErasureResult, null, void> {
  return {
    given: z.custom<ErasureResult>(),
    decision: ({ accountId }) => decisionId(accountId),
    subject: async () => null,
    decide: ({ given, waiting }) => ({
      act: "erase",
      what: { ...whatOf(given), requestedBy: actor },
      subject: decisionId(given.accountId),
      // Something else that was asked for meanwhile goes on waiting.
      waiting: waiting === text ? null : waiting,
      told: () => undefined,
    }),
  };
}

export class ErasureHandler implements ErasureCommands {
  readonly #parts: ErasureParts;

  constructor(parts: ErasureParts) {
    this.#parts = parts;
  }

  erase(given: Erasure, by: ActContext): Promise<ErasureResult> {
    return this.#parts.runner.run(this.#row, given, by);
  }

  /** The first word asks; the same of another person begins, blanks, and ends. */
  readonly #row: ActRow<Erasure, readonly TransactionRecord[], ErasureResult> = {
    given: wantedErasure,
    decision: ({ accountId }) => decisionId(accountId),
    subject: (wanted) => this.#transactions(wanted),
    isAsked: ({ text }, { reference }) => proposal.parse(JSON.parse(text)).reference === reference,
    decide: async ({ given, by, subject: found, confirms }) => {
      const { accountId, reference } = given;
      if (reference !== undefined && found.length === 0 && confirms === null) {
        throw new OperatorRefused(`account ${accountId} has no transaction with this reference`);
      }
      await this.#refuseOpen(given, found);
      const { actor } = by;
      const transactions = found.length;
      const done = { ...given, state: "done" as const, transactions };
      return {
        act: "begin_erase",
        what: whatOf(done),
        subject: decisionId(accountId),
        // The request stays until all is blank: if that is cut off, the second person asks once more.
        waiting: confirms?.text ?? null,
        second: {
          by: "another",
          act: "request_erase",
          request: { actor, text: JSON.stringify({ reference, actor }) },
          how: "ask for the same",
          told: { ...given, state: "awaits_approval", transactions },
        },
        after: async () => {
          if (confirms === null) return;
          await this.#blank(given, found);
          await this.#parts.runner.carryOut(endOf(confirms), done, by);
        },
        told: () => done,
      };
    },
  };

  async #transactions({ accountId, reference }: Erasure): Promise<readonly TransactionRecord[]> {
    const only = reference === undefined ? null : { reference };
    const found: TransactionRecord[] = [];
    const rows = everyRow<TransactionRecord>((below, limit) =>
      this.#parts.storage.transactionsOf(accountId, only, { below, limit }),
    );
    for await (const transaction of rows) found.push(transaction);
    return found;
  }

  async #refuseOpen({ accountId, reference }: Erasure, found: readonly TransactionRecord[]): Promise<void> {
    const [gate] = await this.#parts.storage.gates([accountGate(accountId)]);
    if (reference === undefined && rulesOf(gate).suspended === null) {
      throw new OperatorRefused(`account ${accountId} is at work: suspend it first`);
    }
    for (const transaction of found) {
      const open = await this.#whyOpen(transaction);
      if (open !== null) throw new OperatorRefused(`transaction ${transaction.id}: ${open}`);
    }
  }

  /** Null where nothing comes for the transaction any more. */
  async #whyOpen({ id, ...row }: TransactionRecord): Promise<string | null> {
    const { storage, clock, erasureChecks } = this.#parts;
    const checks = await erasureChecks(id);
    const instances = [id, ...checks.flatMap((check) => check.instances)];
    const [pending, records] = await Promise.all([
      Promise.all(instances.map((each) => storage.tasks({ order: "instance", instance: each, limit: 1 }))),
      Promise.all(instances.map((each) => storage.load(each))),
    ]);
    if (!isFinalStatus(row.status) || row.attention !== null) return "it is open";
    const refusal = checks.find((check) => check.refusal !== null)?.refusal ?? null;
    if (refusal !== null) return refusal;
    const ageMs = agingTime(clock) - row.createdAt;
    if (ageMs < DAY_MS) return "it is under a day old, and who has lost its answer may still ask for it";
    const young = checks.find(({ leastAgeMs }) => ageMs < leastAgeMs)?.young ?? null;
    if (young !== null) return young;
    const isLookedAt =
      pending.some((tasks) => tasks.length > 0) ||
      records.some((record) => record !== null && isWatched(record));
    return isLookedAt ? "the chain is still asked about it" : null;
  }

  /** The answers first: a transaction without its reference is not found by that again. */
  async #blank({ accountId, reference }: Erasure, found: readonly TransactionRecord[]): Promise<void> {
    const { storage, erasures } = this.#parts;
    const ids = new Set(found.map(({ id }) => id));
    const byKey = { table: frameTables.idempotency, index: "key" } as const;
    const answers = everyRow<IdempotencyRecord>((last, limit) =>
      storage.find({ ...byKey, after: [last?.id ?? ""], limit }),
    );
    for await (const { id, answer } of answers) {
      const given = JSON.parse(answer) as Readonly<Record<string, string>>;
      const asked = reference === undefined ? erasures : [];
      const owners = await Promise.all(asked.map((each) => each.accountOf(given)));
      if (!ids.has(given["transactionId"] ?? "") && !owners.includes(accountId)) continue;
      await this.#commit(id, [{ table: "idempotency", remove: id }]);
    }
    if (reference === undefined) await this.#commit(accountId, await this.#accountWrites(accountId));
    for (const id of ids) await this.#commit(id, await this.#transactionWrites(id));
  }

  async #accountWrites(accountId: string): Promise<readonly FrameWrite[]> {
    const { storage, clock, erasures } = this.#parts;
    const now = clock.now();
    const [account, keys, ...others] = await Promise.all([
      storage.account(accountId),
      storage.apiKeysOf(accountId),
      ...erasures.map((each) => each.account(accountId, now)),
    ]);
    return [
      ...(account === null ? [] : [{ table: "accounts" as const, id: accountId, set: { name: "" } }]),
      ...keys.map(({ id, version: expectedVersion, revokedAt }) => {
        const set = { revokedAt: revokedAt ?? now, allowedAddresses: null };
        return { table: "apiKeys" as const, id, set, expectedVersion };
      }),
      ...others.flat(),
    ];
  }

  /** The hash of the request goes too: with the hash, a guessed reference could be proved. */
  async #transactionWrites(id: string): Promise<readonly FrameWrite[]> {
    const { storage, erasures } = this.#parts;
    const [notices, ...others] = await Promise.all([
      storage.notices(id),
      ...erasures.map((each) => each.transaction(id)),
    ]);
    return [
      { table: "transactions", id, set: { reference: null, requestHash: "" } },
      ...notices.flatMap((notice) => {
        if (notice.body === null) return [];
        const { data, ...body } = JSON.parse(notice.body) as { readonly data: object };
        const text = JSON.stringify({ ...body, data: { ...data, reference: null } });
        return [{ table: "notices" as const, id: notice.id, set: { body: text } }];
      }),
      ...others.flat(),
    ];
  }

  async #commit(whose: string, writes: readonly FrameWrite[]): Promise<void> {
    const stored = await commitOne(this.#parts.storage, { writes });
    if (!stored.ok) throw new OperatorRefused(`${whose} has just changed: ask for the same once more`);
  }
}
