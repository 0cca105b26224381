/** Stores an order again of which a journal or a stub is left: in one commit with rows and chart. */
import { z } from "zod";
import { MAX_AMOUNT } from "../../../core/amount.ts";
import type { Engine } from "../../../engine/index.ts";
import { ledgerMint } from "../../frame/assets/assets.ts";
import type { PrivateRouting } from "../private-routing.ts";
import { begunRows, WAITING } from "../fresh-order.ts";
import { reservedFor } from "../protocol/cost.ts";
import { NOBODY } from "../protocol/outcome.ts";
import { startOrder } from "../order-workflow.ts";
import { reserveOrder } from "../../frame/purses/sponsor-limit.ts";
import type { PrivateContext, PrivateTables, PrivateWrite } from "../private-storage.ts";
import type { TransactionRecord } from "../../frame/tables/orders.ts";
import type { OrderRecord, OrderStubRecord } from "../tables.ts";
import type { ActRow } from "../../frame/acts/act-row.ts";
import type { OrderLine } from "./journal.ts";

export interface RestoringParts extends PrivateContext {
  readonly engine: Pick<Engine<PrivateTables>, "commit" | "send">;
  readonly routing: PrivateRouting;
}

/** The account of recovered orders: a journal does not record who ordered. */
const RECOVERED_ACCOUNT = "recovered";

/** Lamports of two signatures. */
const FEE = 10_000n;

/**
 * Restoring as an act: an order whose window is over, that no deposit is ever enough for, and whose chunks are to pay nobody:
 * what its markers say is adopted, the gaps are given up, and what is there goes back to its sender. Throws if the commit is
 * refused and the order is not there.
 */
export function restoring(
  parts: RestoringParts,
): ActRow<OrderLine, OrderStubRecord | null, void, PrivateWrite> {
  const { storage, engine, assets, routing } = parts;
  return {
    given: z.custom<OrderLine>(),
    // If two operators restore at once, one writes the rows.
    decision: () => null,
    subject: ({ id }) => storage.orderStub(id),
    async decide({ given: line, subject: stub }) {
      const order = { ...orderOf(parts, line), loanBack: stub?.loanBack ?? null };
      const { id, sponsor, createdAt } = order;
      const { chunks, levels } = begunRows(order, assets);
      const reserved = await reserveOrder(storage, {
        id,
        sponsor,
        caller: { accountId: RECOVERED_ACCOUNT, tier: "enterprise" },
        amount: reservedFor({ ...order, chunks: order.cut.length, priced: 0, fee: FEE }),
        // The money of customers goes back however little there is to reserve.
        held: MAX_AMOUNT,
        mostPerDay: null,
        createdAt,
      });
      return {
        act: "recover",
        what: { transactionId: id, address: order.address },
        subject: id,
        writes: [
          { table: "transactions", insert: transactionOf(order) },
          { table: "orders", insert: order },
          ...chunks.map((chunk) => ({ table: "chunks" as const, insert: { ...chunk, wanted: NOBODY } })),
          ...levels.map((insert) => ({ table: "levels" as const, insert })),
          ...(stub === null ? [] : [{ table: "orderStubs" as const, remove: stub.id }]),
          ...reserved,
        ],
        async send({ writes }) {
          const result = await engine.commit({ starts: [startOrder(routing.orders, order)], writes });
          // Refused when another operator has restored it meanwhile: then nothing is left to do.
          if (result.ok || (await storage.transaction(id)) !== null) return { ok: true };
          throw new Error(`order ${id} could not be restored`);
        },
        told: () => undefined,
      };
    },
  };
}

function orderOf({ ledger, assets, routing }: RestoringParts, line: OrderLine): OrderRecord {
  const { id, masterVersion, layout, sender, mint, chunks, windowEnds, createdAt } = line;
  const { keys, terms } = routing;
  const key = { masterVersion, transactionId: id };
  const address = keys.address(key);
  const mints = assets.tokens.map(ledgerMint).filter((each) => each !== null);
  const rentPerByte = BigInt(line.rentPerByte);
  return {
    id,
    version: 1,
    layout,
    accountId: RECOVERED_ACCOUNT,
    address,
    masterVersion,
    accounts: Object.fromEntries(mints.map((each) => [each, ledger.tokenAccountOf(address, each)])),
    referenceKey: keys.referenceKey(key),
    type: chunks === 1 ? "send" : "payroll",
    sender,
    sponsor: terms.sponsor.address,
    treasury: terms.treasury,
    mint,
    required: MAX_AMOUNT,
    fee: 0n,
    paidBid: 0n,
    // Its recipients are not known.
    cut: Array.from({ length: chunks }, () => 0),
    priced: [],
    rentPerByte,
    rentTaken: rentPerByte,
    windowEnds,
    createdAt,
    ...WAITING,
  };
}

function transactionOf({ id, type, sender, mint, createdAt }: OrderRecord): TransactionRecord {
  return {
    id,
    accountId: RECOVERED_ACCOUNT,
    quoteId: "",
    type,
    mode: "private",
    sender,
    senderAllowOffCurve: false,
    inputMint: mint,
    inputAmount: 0n,
    outputMint: mint,
    outputAmount: 0n,
    feeMint: mint,
    requestHash: "",
    status: "pending",
    reason: null,
    signature: null,
    blockTime: null,
    fee: 0n,
    refundOf: null,
    landedAfterCancel: false,
    broadcastAt: null,
    cancelledAt: null,
    finalAt: null,
    createdAt,
    reference: null,
    attention: null,
    landedSignature: null,
  };
}
