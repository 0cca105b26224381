/** N13: the Solana ledger passes the published contract on surfpool, but for what surfpool itself does in another way. */
import { describe, expect, test } from "vitest";
import { ledgerContract, type LedgerContractCase } from "../../contracts/ledger.ts";
import { surfpoolWorld } from "./ledger-world.ts";
import { HAS_SURFPOOL } from "./surfpool-node.ts";

const NO_FORKS = "it has one fork";
const ONE_RENT = "its price of storage is fixed";
const NO_PROCESSED = "a transaction has no status before its block is over";
const NO_PRIORITY = "meta.fee and getFeeForMessage leave the priority fee out";
const TIP = "accounts at finalized are those of the tip";
const LISTED_EARLY = "getSignaturesForAddress at finalized lists what is not final";
const LISTED_REFUSED = "getSignaturesForAddress lists what was refused, under a signature of noughts";
const RUN_AGAIN = "a simulation without signatures does not know what has landed";

/** The cases that cannot hold on surfpool 1.5, and what of surfpool is to blame. One that holds after all is an error. */
const NOT_HERE: Readonly<Record<string, string>> = {
  "what is only processed is in no balance, and what is confirmed is": NO_PROCESSED,
  "a payment costs its sender the amount and exactly what was estimated": NO_PRIORITY,
  "E15: a price that the chain has changed is followed within a minute": ONE_RENT,
  "a sender who has too little is told how much of what": NO_PRIORITY,
  "a transaction is unknown, then processed, then confirmed, then finalized with a receipt": NO_PROCESSED,
  "what failed on the chain has landed, with its error and its fee, and nothing was paid": NO_PRIORITY,
  "E9: what vanishes on a fork is unknown again, is no failure, and lands once when sent again": NO_FORKS,
  "E7: what nobody saw is open until the last block that takes it is finalized, then dead": LISTED_REFUSED,
  "E7: what lands in the very last block is never dead on the way": NO_PROCESSED,
  "E9: what vanished on a fork and was not taken again dies as if it had never been there": NO_FORKS,
  "a late answer is an answer": NO_PROCESSED,
  "E10: answers that are lost leave it unknown, not failed: it has landed, and may be sent again":
    NO_PROCESSED,
  "E9, P3: readOrder: a deposit seen at processed is gone after a fork, and was never there at finalized":
    TIP,
  "E9, P3: amountsIn: each commitment has its own answer": TIP,
  "E15: rentMinimum: more for more bytes, and what the chain asks for within a minute": ONE_RENT,
  "signedBy: what is not finalized yet is not listed, since it may vanish": LISTED_EARLY,
  "E8: tryOrder: bytes that have landed are already processed": RUN_AGAIN,
  "E9: readOrder: a marker that may still vanish is not told at finalized, and one that did vanish never was":
    TIP,
};

/** Slots pass on surfpool while these ask: they hold by chance. */
const BY_CHANCE: ReadonlySet<string> = new Set([
  "heights: of every endpoint that answers; one that lags is told by the agreed height",
]);

// Where there is no addon for a machine the run tells these tests as skipped.
describe.skipIf(!HAS_SURFPOOL)("N13: ledger contract: surfpool", () => {
  const cases = ledgerContract.filter(({ name }) => !BY_CHANCE.has(name));
  const isHere = ({ name }: LedgerContractCase): boolean => NOT_HERE[name] === undefined;

  test.each(cases.filter(isHere).map(({ name, run }) => [name, run] as const))("%s", (_, run) =>
    run(surfpoolWorld),
  );

  test.each(
    cases.filter((each) => !isHere(each)).map(({ name, run }) => [NOT_HERE[name] ?? "", name, run] as const),
  )("not here, since %s: %s", async (_reason, _name, run) => {
    await expect(run(surfpoolWorld)).rejects.toBeInstanceOf(Error);
  });

  test("each case that is left out is one of the contract", () => {
    const names = new Set(ledgerContract.map(({ name }) => name));
    expect([...Object.keys(NOT_HERE), ...BY_CHANCE].filter((name) => !names.has(name))).toEqual([]);
  });
});
