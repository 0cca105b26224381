/** Tests of an order's history: an order that was never named, and two wallets that pay in. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import type { OrderHistory } from "../../../src/ledger/order-reading.ts";
import { oddEndpoint, type OddRule } from "../../kit/odd-endpoints.ts";
import { elapsed } from "../scripted-node.ts";
import { keyOf, land } from "../signed-transaction.ts";
import { RATE, type OrderFixture } from "./order-fixture.ts";
import { orderTest } from "./order-test.ts";
import type { Party } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;

export interface HistoryWorld extends OrderFixture {
  /** Holds nothing, and was never named. */
  readonly order: Party;
  readonly dave: Party;
  readonly erin: Party;
  /** A ledger over endpoints that follow these rules, of which two must agree, where there are two. */
  over(...rules: readonly (OddRule | undefined)[]): Ledger;
  /** All of it, as the honest ledger tells it, where nothing else is said. */
  history(ledger?: Ledger, since?: number): Promise<OrderHistory>;
  /** Dave pays so many base units of USDC, and makes the account. */
  pays(units: bigint): Promise<string>;
}

export const historyTest = orderTest.extend(
  "world",
  async ({ open, onTestFinished }): Promise<HistoryWorld> => {
    const world = await open();
    const { party, chain, ledgerOf, mints, ata, ledger: honest, clock } = world;
    const [order, dave, erin] = [
      party(),
      party({ lamports: 9n * SOL, usdc: 50n * USDC }),
      party({ lamports: SOL }),
    ];
    const query = {
      address: order.address,
      mints: [mints.USDC, mints.USDT],
      seeds: ["0", "1", "r0"],
      rentPerByte: RATE,
    };
    return {
      ...world,
      order,
      dave,
      erin,
      over: (...rules) => {
        const ledger = ledgerOf(rules.map((rule, index) => oddEndpoint(chain, `node${index}`, rule).option));
        onTestFinished(() => ledger.close());
        return ledger;
      },
      history: async (ledger = honest, since = 0) => {
        const read = ledger.changesOfOrder(query, since);
        await elapsed(clock, read);
        return await read;
      },
      pays: async (units) => {
        const [payer, mint, to] = [keyOf(dave), new PublicKey(mints.USDC), ata(order.address)];
        return await land(world, {
          signers: [dave],
          instructions: [
            createAssociatedTokenAccountIdempotentInstruction(payer, to, keyOf(order), mint),
            createTransferCheckedInstruction(ata(dave.address), mint, to, payer, units, 6),
          ],
        });
      },
    };
  },
);
