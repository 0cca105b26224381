/** A cancelled order whose address holds what a refused payer has sent to it: it waits for an operator. */
import { expect } from "vitest";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { Address } from "../../../src/address.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { MINUTE, SOL, type Ordered, type scene, type Scene } from "./scene.ts";

/** The world of such an order. */
export interface HeldOrder {
  readonly world: Scene;
  readonly order: Ordered;
  /** The refused payer. */
  readonly carol: Wallet;
  /** A wallet that an operator may send the money to. */
  readonly dave: Wallet;
}

/** Opens the world with a host that refuses carol, who pays what the order asks for once it was cancelled. */
export async function heldOrder(
  open: (...given: Parameters<typeof scene>) => Promise<Scene>,
  options: Partial<PaymentServiceOptions> = {},
): Promise<HeldOrder> {
  const refused = new Set<string>();
  const world = await open(options, {
    screen: async (address) => (refused.has(address) ? "refused" : "ok"),
  });
  const carol = world.wallet("carol", { lamports: 5n * SOL, usdc: 90_000_000n });
  const dave = world.wallet("dave", { lamports: SOL });
  refused.add(carol.address);
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  await world.openAccount({ ...carol, address: order.address as Address }, "USDC");
  await world.payTokens(carol, order.address, "USDC", order.due);
  await world.passAndSettle(6 * MINUTE, 4);
  expect((await world.storage.deposits([order.address]))[0]?.heldReason).toBe("screening");
  return { world, order, carol, dave };
}
