/** N3: behind one URL stand nodes that are some slots apart: every question waits until the node that it met has caught up. */
import { fatesOf } from "../kit/fates.ts";
import { SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { ChainFixture, Wallet } from "../kit/chain-fixture.ts";
import { chainTest } from "../kit/chain-test.ts";
import { lyingAbout, oddEndpoint, type OddRule } from "../kit/odd-endpoints.ts";
import { signAgain } from "../kit/sign-again.ts";
import { keyOf, land, newestBlockhash, signed } from "./signed-transaction.ts";
import { turns } from "./scripted-node.ts";

const SLOT_MS = 400;
const STEP_MS = 50;

/** Lets time pass, and with it the slots of the chain, until the answer is there. */
async function answerOf<T>({ chain, clock }: ChainFixture, work: Promise<T>): Promise<T> {
  let isDone = false;
  const end = (): void => void (isDone = true);
  work.then(end, end);
  for (let ms = 0; ; ms += STEP_MS) {
    for (let turn = 0; turn < 40 && !isDone; turn += 1) await turns(1);
    if (isDone) return await work;
    clock.advance(STEP_MS);
    if ((ms + STEP_MS) % SLOT_MS === 0) chain.advance(1);
  }
}

/** Every call of this method meets a node that is so many slots behind the one that answers all others. */
const behindFor =
  (method: string, slots: number): OddRule =>
  (call) =>
    call.method === method ? { kind: "lag", slots } : undefined;

interface Scene {
  readonly world: ChainFixture;
  readonly ledger: Ledger;
  readonly alice: Wallet;
  readonly bob: Wallet;
}

async function paid({ world, alice, bob }: Scene): Promise<string> {
  const lamports = 5_000_000;
  const pay = SystemProgram.transfer({ fromPubkey: keyOf(alice), toPubkey: keyOf(bob), lamports });
  return await land(world, { signers: [alice], instructions: [pay] });
}

/** Alice's payment of which the nodes know neither a status nor a list, and which has landed under a second signature. */
async function landedAgain({ world, ledger, alice, bob }: Scene): Promise<readonly string[]> {
  const transfers = [{ recipient: bob.address, amount: 1_000n }];
  const payment = { sender: alice.address, mint: null, decimals: 9, transfers };
  const { bytes } = await answerOf(world, ledger.buildPayment(payment, new Uint8Array(32).fill(9)));
  const pay = SystemProgram.transfer({ fromPubkey: keyOf(alice), toPubkey: keyOf(bob), lamports: 1_000 });
  const blockhash = await newestBlockhash(world.chain);
  const text = await signed(world, { signers: [alice], instructions: [pay], blockhash });
  expect(bytes.length).toBeGreaterThan(0);
  const answer = await answerOf(world, ledger.verifyPayment(text, payment));
  if ("refused" in answer) throw new Error(answer.refused);
  const attempt = { ...answer.verified, reference: null };
  await world.ledger.broadcast(Buffer.from(signAgain(text, alice.secretKey), "base64"));
  world.chain.advance(attempt.lastValidBlockHeight + 2 - world.chain.blockHeight());
  world.chain.advance(31);
  return await answerOf(world, fatesOf(ledger, [attempt]));
}

/** Questions that a node behind cannot answer: the call that meets one, how far it is behind, and what is told in the end. */
const QUESTIONS: Readonly<
  Record<
    string,
    { readonly behind: OddRule; readonly ask: (scene: Scene) => Promise<unknown>; readonly told: unknown }
  >
> = {
  "the fee of a transaction over a blockhash that it does not know yet": {
    // A blockhash is taken at finalized, 32 slots ago.
    behind: behindFor("getFeeForMessage", 35),
    ask: async ({ world, ledger }) => (await answerOf(world, ledger.paymentCost(null, null))).networkFee > 0n,
    told: true,
  },
  "who signed a transaction that it does not have yet": {
    behind: behindFor("getTransaction", 3),
    ask: async (scene) => {
      const signature = await paid(scene);
      const { world, ledger, alice } = scene;
      const { transactions } = await answerOf(world, ledger.signedBy(alice.address));
      return transactions.some((each) => each.signature === signature);
    },
    told: true,
  },
  "who paid by a transaction that it does not have yet": {
    behind: behindFor("getTransaction", 3),
    ask: async (scene) => {
      const signature = await paid(scene);
      const { world, ledger, alice, bob } = scene;
      const query = { address: bob.address, mints: [], seeds: [], rentPerByte: 6_960n };
      const { changes } = await answerOf(world, ledger.changesOfOrder(query, 0));
      return changes.some((each) => each.signature === signature && each.payers[0] === alice.address);
    },
    told: true,
  },
  "whether a blockhash is alive at a slot that it has not reached": {
    behind: (call) =>
      behindFor("isBlockhashValid", JSON.stringify(call.params).includes("minContextSlot") ? 36 : 0)(call) ??
      lyingAbout("getSignaturesForAddress", () => [])(call),
    ask: landedAgain,
    told: ["dead"],
  },
};

for (const [question, { behind, ask, told }] of Object.entries(QUESTIONS)) {
  chainTest(`N3: a pool one of whose nodes is some slots behind answers ${question}`, async ({ world }) => {
    const { chain, ledgerOf } = world;
    const alice = world.wallet("alice", { lamports: 1_000_000_000n });
    const bob = world.wallet("bob", { lamports: 1_000_000_000n });
    chain.advance(60);
    const ledger = ledgerOf([oddEndpoint(chain, "pool", behind).option]);
    // Loads the libraries.
    await ledger.position();
    expect(await ask({ world, ledger, alice, bob })).toEqual(told);
    await ledger.close();
  });
}
