/** The ledger contract on endpoints that fail: what one of them costs, what both cost, and how it ends. */
import assert from "node:assert/strict";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { RoutingLedger } from "../../../src/ledger/routing.ts";
import { promise, type EndpointFault, type LedgerContractCase, type LedgerWorld } from "./contract.ts";
import {
  fateOf,
  finalizeHeight,
  native,
  PLENTY,
  readyBetweenStrangers,
  reference,
  settle,
  statusOf,
  type Ready,
} from "./payments.ts";
import { receiptsOf } from "../../kit/receipts.ts";

/** What has an answer to silence, or needs more than one endpoint. */
type Gathering =
  | "look"
  | "landings"
  | "namedLanding"
  | "witnesses"
  | "restricted"
  | "endpoints"
  | "disputes"
  | "rateLimited"
  | "takeSendPlace"
  | "time";
type Question = Exclude<
  keyof Ledger,
  keyof RoutingLedger | "isOnCurve" | "mostRecipients" | "readLimit" | "close" | Gathering
>;
type Evidence =
  | "takesVersion1"
  | "accountKinds"
  | "paymentCost"
  | "buildPayment"
  | "verifyPayment"
  | "tokenAccountStates"
  | "landingWindow"
  | "sightings"
  | "landings";

/** Every method that one endpoint can answer. */
function hints(
  { ledger, token }: LedgerWorld,
  attempt: Ready,
): Record<Exclude<Question, Evidence>, () => Promise<unknown>> {
  const { payment, signature, bytes } = attempt;
  return {
    genesisHash: () => ledger.genesisHash(),
    position: () => ledger.position(),
    balances: () => ledger.balances(payment.sender),
    mints: () => ledger.mints([token.mint]),
    // The run succeeds; a failure would be evidence.
    simulatePayment: () => ledger.simulatePayment(attempt, payment),
    broadcast: () => ledger.broadcast(bytes),
    statuses: () => ledger.statuses([signature]),
  };
}

/** Every method that needs as many endpoints as must agree. */
function evidence(
  { ledger, token }: LedgerWorld,
  { payment, signature, bytes, blockhash }: Ready,
): Record<Evidence, () => Promise<unknown>> {
  const text = Buffer.from(bytes).toString("base64");
  return {
    takesVersion1: () => ledger.takesVersion1(),
    accountKinds: () => ledger.accountKinds([payment.sender]),
    tokenAccountStates: () => ledger.tokenAccountStates([{ owner: payment.sender, mint: token.mint }]),
    paymentCost: () => ledger.paymentCost(token.mint, null),
    buildPayment: () => ledger.buildPayment(payment, reference()),
    verifyPayment: () => ledger.verifyPayment(text, payment),
    landingWindow: () => ledger.landingWindow(blockhash),
    sightings: () => ledger.sightings([signature]),
    landings: () => receiptsOf(ledger, [signature]),
  };
}

/** The error of work that must fail. */
async function failureOf(world: LedgerWorld, work: Promise<unknown>): Promise<Error> {
  const error = await world.wait(
    work.then(
      () => null,
      (reason: unknown) => reason,
    ),
  );
  assert(error instanceof Error, "an answer, where nobody could be asked");
  return error;
}

const NO_ANSWER: readonly EndpointFault[] = ["silent", "refusing", "busy", "losing_answers"];
// Enough for every rest that an endpoint may have been given.
const A_MINUTE = 60_000;

/** Outages: errors throw, unknown is not failed, and one whole endpoint is enough for hints, and for no evidence. */
export const outageCases: readonly LedgerContractCase[] = [
  promise(
    "each endpoint tells its chain, its slot and its block's time, and a silent one why it is silent",
    async (world) => {
      const whole = await world.wait(world.ledger.endpoints());
      const genesisHash = await world.wait(world.ledger.genesisHash());
      assert.deepEqual(
        whole.map((each) => [each.endpoint, each.genesisHash, each.trouble]),
        world.endpoints.map((endpoint) => [endpoint, genesisHash, null]),
      );
      for (const { slot, blockTime, readAt } of whole) {
        assert(slot !== null && slot > 0);
        assert(blockTime !== null && blockTime > 0 && readAt > 0);
      }
      for (const fault of NO_ANSWER) {
        const mend = world.breakEndpoint(1, fault);
        const [well, ill] = await world.wait(world.ledger.endpoints());
        assert.equal(well?.trouble, null);
        assert.equal(ill?.slot, null, `slot while it is ${fault}`);
        assert.equal(ill.trouble?.endpoint, world.endpoints[1]);
        assert(!JSON.stringify(ill).includes(world.secret), "tells a secret");
        mend();
        await world.elapse(A_MINUTE);
      }
    },
  ),
  promise(
    "H20: what nobody answers throws LedgerUnavailable without the endpoints' secrets",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      for (const fault of NO_ANSWER) {
        const mends = ([0, 1] as const).map((index) => world.breakEndpoint(index, fault));
        const questions = { ...hints(world, attempt), ...evidence(world, attempt) };
        for (const [method, ask] of Object.entries(questions)) {
          const error = await failureOf(world, ask());
          assert.equal(error.name, "LedgerUnavailable", `${method} while both are ${fault}`);
          const everything = `${String(error)} ${error.stack ?? ""} ${JSON.stringify(error)}`;
          assert(!everything.includes(world.secret), `${method} tells a secret`);
          for (const endpoint of world.endpoints) assert(error.message.includes(endpoint));
        }
        for (const mend of mends) mend();
        await world.elapse(A_MINUTE);
      }
    },
  ),
  promise("E10: one whole endpoint answers every hint, whatever is wrong with the other", async (world) => {
    for (const index of [0, 1] as const) {
      for (const fault of [...NO_ANSWER, "slow", "duplicating"] as const) {
        const attempt = await readyBetweenStrangers(world);
        const mend = world.breakEndpoint(index, fault);
        for (const ask of Object.values(hints(world, attempt))) await world.wait(ask());
        if (NO_ANSWER.includes(fault)) {
          // A price that was agreed on a moment ago is still one.
          await world.elapse(A_MINUTE);
          for (const [method, ask] of Object.entries(evidence(world, attempt))) {
            const error = await failureOf(world, ask());
            assert.equal(error.name, "LedgerUnavailable", `${method} on the word of one endpoint`);
          }
          const { endpoint } = await world.wait(world.ledger.balances(attempt.payer));
          assert.equal(endpoint, world.endpoints[1 - index]);
        }
        mend();
        await world.elapse(A_MINUTE);
      }
    }
  }),
  promise("a late answer is an answer", async (world) => {
    const attempt = await readyBetweenStrangers(world);
    world.breakEndpoint(0, "slow");
    world.breakEndpoint(1, "slow");
    const questions = { ...hints(world, attempt), ...evidence(world, attempt) };
    for (const ask of Object.values(questions)) await world.wait(ask());
    assert.notEqual(await statusOf(world, attempt), null);
  }),
  promise(
    "bytes go to all endpoints: one that drops, lags or is gone does not keep them from the chain",
    async (world) => {
      for (const index of [0, 1] as const) {
        for (const fault of ["dropping", "lagging", ...NO_ANSWER] as const) {
          const attempt = await readyBetweenStrangers(world);
          const mend = world.breakEndpoint(index, fault);
          await world.wait(world.ledger.broadcast(attempt.bytes));
          mend();
          // The one that took them last may still be at it.
          await world.elapse(A_MINUTE);
          await world.pass(world.blocksToFinality);
          assert.equal((await statusOf(world, attempt))?.commitment, "finalized", `${index} is ${fault}`);
        }
      }
    },
  ),
  promise(
    "E10: answers that are lost leave it unknown, not failed: it has landed, and may be sent again",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      const mends = ([0, 1] as const).map((index) => world.breakEndpoint(index, "losing_answers"));
      const error = await failureOf(world, world.ledger.broadcast(attempt.bytes));
      assert.equal(error.name, "LedgerUnavailable");
      assert.equal(await fateOf(world, attempt), "open");
      for (const mend of mends) mend();
      await world.elapse(A_MINUTE);
      assert.equal((await statusOf(world, attempt))?.error, null);
      await settle(world, attempt);
    },
  ),
  promise(
    "W9: bytes that every endpoint took and dropped are open as long as they could land, then dead",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      world.breakEndpoint(0, "dropping");
      world.breakEndpoint(1, "dropping");
      await world.ledger.broadcast(attempt.bytes);
      assert.equal(await statusOf(world, attempt), null);
      assert.equal(await fateOf(world, attempt), "open");
      await finalizeHeight(world, attempt.lastValidBlockHeight + 1);
      assert.equal(await fateOf(world, attempt), "dead");
    },
  ),
  promise(
    "W8: a payment is verified though the preferred endpoint lags and has not heard of its blockhash",
    async (world) => {
      const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
      const payment = native(from, to);
      const { bytes } = await world.ledger.buildPayment(payment, reference());
      world.breakEndpoint(0, "lagging");
      const answer = await world.ledger.verifyPayment(from.sign(bytes), payment);
      assert("verified" in answer);
      assert.equal(await world.ledger.simulatePayment(answer.verified, payment), null);
      assert(answer.verified.lastValidBlockHeight >= world.height());
    },
  ),
  promise("E10: after an outage of both everything is as before, within a minute", async (world) => {
    const attempt = await readyBetweenStrangers(world);
    for (const fault of NO_ANSWER) {
      const mends = ([0, 1] as const).map((index) => world.breakEndpoint(index, fault));
      for (let question = 0; question < 5; question += 1) {
        await failureOf(world, world.ledger.balances(attempt.payer));
      }
      for (const mend of mends) mend();
      await world.elapse(A_MINUTE);
      for (const ask of Object.values(hints(world, attempt))) await world.wait(ask());
    }
  }),
  promise("a closed ledger throws LedgerUnavailable, and closing it again is no error", async (world) => {
    const attempt = await readyBetweenStrangers(world);
    await world.ledger.close();
    await world.ledger.close();
    for (const ask of Object.values({ ...hints(world, attempt), ...evidence(world, attempt) })) {
      assert.equal((await failureOf(world, ask())).name, "LedgerUnavailable");
    }
    assert.equal(await fateOf(world, attempt), "open");
  }),
];
