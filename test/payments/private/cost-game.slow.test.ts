/** C25: the game of costs against the program, on a real chain: strangers who pay for each of their moves, and who loses more. */
// modules: private
import { createCloseAccountInstruction, createTransferCheckedInstruction } from "@solana/spl-token";
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { expect } from "vitest";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { keyOf, land } from "../../solana/signed-transaction.ts";
import { lamportsAt, photograph } from "./photograph.ts";
import { MINUTE, SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest } from "./scene-test.ts";

/** Lamports of a base unit of USDC, at 150 dollars, in thirds. */
const UNIT_THIRDS = 20n;

/** A world in which somebody moves between the signing of each transaction and its landing. */
const test = sceneTest.extend("game", async ({ open }) => {
  const seen = new Set<string>();
  const moves: (() => Promise<void>)[] = [];
  const world = await open({}, { feeBps: 0 }, ({ chain, ledgerOf }) => {
    const ledger = ledgerOf([{ url: "http://node.example", fetch: chain.fetch }]);
    return {
      ...ledger,
      async broadcast(bytes) {
        const isFirst = seen.size < seen.add(Buffer.from(bytes).toString("hex")).size;
        if (isFirst) await moves.shift()?.();
        return ledger.broadcast(bytes);
      },
    };
  });
  return { world, moves };
});

/** What the operator and all others have in lamports, tokens and rent included, without what lies at the order. */
async function wealthOf(world: Scene, order: Ordered): Promise<readonly [house: bigint, others: bigint]> {
  world.chain.advance(35);
  const { accounts } = await photograph(world.chain);
  const house = new Set<string>([world.sponsor.address, world.treasury.address]);
  const worth = (isMeant: (owner: string) => boolean): bigint =>
    accounts.reduce((sum, { owner, lamports, tokens }) => {
      if (owner === order.address || !isMeant(owner)) return sum;
      return sum + lamports + ((tokens?.amount ?? 0n) * UNIT_THIRDS) / 3n;
    }, 0n);
  return [worth((owner) => house.has(owner)), worth((owner) => !house.has(owner))];
}

class Strangers {
  readonly #world: Scene;
  readonly #order: Ordered;
  readonly #rich: Wallet;

  constructor(world: Scene, order: Ordered) {
    this.#world = world;
    this.#order = order;
    this.#rich = world.wallet("a stranger", { lamports: 10n * SOL, usdc: 100_000_000n });
  }

  /** A lamport; with a base unit, if there is an account for it. */
  readonly dust = async (): Promise<void> => {
    const { alice } = this.#world;
    const account = this.#account({ ...alice, address: this.#order.address as Wallet["address"] });
    const isThere = (await lamportsAt(this.#world.chain, account.toBase58())) > 0n;
    const toPubkey = isThere ? account : new PublicKey(this.#order.address);
    await this.#land(this.#rich, [
      ...(isThere ? [this.#give(this.#rich, account, 1n)] : []),
      SystemProgram.transfer({ fromPubkey: keyOf(this.#rich), toPubkey, lamports: 1 }),
    ]);
  };

  /** The sender gives its tokens away and keeps the rent of its account. */
  readonly close = async (): Promise<void> => {
    const { alice, chain } = this.#world;
    const account = this.#account(alice);
    if ((await lamportsAt(chain, account.toBase58())) === 0n) return this.dust();
    const [, held] = await this.#world.held(alice.address);
    await this.#land(alice, [
      this.#give(alice, this.#account(this.#rich), held),
      createCloseAccountInstruction(account, keyOf(alice), keyOf(alice)),
    ]);
  };

  /** The sender's wallet is swept. */
  readonly sweep = async (): Promise<void> => {
    const { alice, chain } = this.#world;
    const lamports = Number((await lamportsAt(chain, alice.address)) - 5_000n);
    const toPubkey = keyOf(this.#rich);
    await this.#land(alice, [SystemProgram.transfer({ fromPubkey: keyOf(alice), toPubkey, lamports })]);
  };

  /** Pays in so much of the order's asset. */
  async pay(asset: "USDC" | "SOL", amount: bigint): Promise<void> {
    const { alice } = this.#world;
    const address = { ...alice, address: this.#order.address as Wallet["address"] };
    if (asset === "SOL") return this.#world.pay(this.#rich, this.#order.address, amount);
    await this.#world.openAccount(address, "USDC");
    await this.#world.payTokens(this.#rich, this.#order.address, "USDC", amount);
  }

  #account(wallet: Wallet): PublicKey {
    return new PublicKey(this.#world.tokenAccountOf(wallet, "USDC"));
  }

  #give(from: Wallet, to: PublicKey, amount: bigint): TransactionInstruction {
    const mint = new PublicKey(this.#world.mints.USDC);
    return createTransferCheckedInstruction(this.#account(from), mint, to, keyOf(from), amount, 6);
  }

  async #land(signer: Wallet, instructions: readonly TransactionInstruction[]): Promise<void> {
    await land(this.#world, { signers: [signer], instructions: [...instructions] });
  }
}

/** Moves before the service reads, those as its transactions land one after the other, and what is paid in between. */
interface Round {
  readonly before?: readonly Act[];
  readonly landing?: readonly Act[];
  readonly late?: bigint;
}
type Act = "dust" | "close" | "sweep";

/** The first to land is the go or the no-go. */
const PLAYS: readonly (readonly ["USDC" | "SOL", "paid" | "refused", readonly Round[]])[] = [
  ["USDC", "refused", [{ landing: ["dust", "close"] }]],
  ["SOL", "paid", [{ before: ["sweep"], landing: ["dust", "dust"] }]],
  [
    "USDC",
    "paid",
    [
      {},
      { late: 900_000n, landing: ["close", "dust", "dust"] },
      { late: 1n, landing: ["dust", "close", "dust", "dust"] },
      { late: 500_000n, landing: ["close", "dust", "close", "sweep", "dust"] },
    ],
  ],
  ["SOL", "refused", [{ landing: ["dust", "dust"] }, { late: 3_000_000n, landing: ["dust", "dust"] }]],
];

test.for(PLAYS)(
  "C25: who sends dust as a rest of %s lands, comes late, closes accounts or sweeps wallets loses more than the sponsor of an order that is %s",
  async ([asset, end, rounds], { game: { world, moves } }) => {
    const order = await world.sendTo({ asset, amount: asset === "SOL" ? "0.01" : "1.5" });
    const strangers = new Strangers(world, order);
    const [house, others] = await wealthOf(world, order);
    for (const [index, { before = [], landing = [], late = 0n }] of rounds.entries()) {
      for (const act of before) await strangers[act]();
      moves.push(...landing.map((act) => strangers[act]));
      const deposit = order.due + (end === "paid" ? 3n : -3n);
      await strangers.pay(asset, index === 0 ? deposit : late);
      for (let look = 0; look < 4; look++) await world.passAndSettle(61 * MINUTE, 6);
      moves.length = 0;
      if (index + 1 < rounds.length) await world.openAccount(world.alice, "USDC");
    }
    const [houseAfter, othersAfter] = await wealthOf(world, order);
    const [sponsorLoses, othersLose] = [house - houseAfter, others - othersAfter];
    expect(othersLose).toBeGreaterThan(0n);
    expect(sponsorLoses).toBeLessThan(othersLose);
    await world.judge();
  },
);
