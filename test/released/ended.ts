/** Orders that have ended, and deliveries, each in another way. */
// modules: private, webhooks
import type { Wallet } from "../kit/chain-fixture.ts";
import { lyingAbout } from "../kit/odd-endpoints.ts";
import type { SwapFixture } from "../kit/swap-fixture.ts";
import {
  deposit,
  HOUR_MS,
  losing,
  type Making,
  MINUTE_MS,
  order,
  pay,
  payInto,
  prepared,
  swap,
} from "./orders.ts";

/** All events. */
const EVENTS = [
  "transaction.pending",
  "transaction.confirmed",
  "transaction.completed",
  "transaction.failed",
];

/** A receiver that takes notices, one that never does, and one that is taken away while it does not. */
async function register({ world: { service }, receiver, caller }: Making): Promise<() => Promise<void>> {
  const at = async (path: string): Promise<string> => {
    const url = receiver.url.replace("/hook", path);
    return (await service.registerWebhook(caller, { url, events: EVENTS })).body.webhookId;
  };
  receiver.answer(({ path }, response) => void response.writeHead(path === "/taken" ? 200 : 500).end());
  await at("/taken");
  await at("/refused");
  const gone = await at("/gone");
  return async () => void (await service.deleteWebhook(caller, gone));
}

/** Orders that have ended, each in another way. */
export async function ended(making: Making): Promise<void> {
  const { world, caller, payees } = making;
  const { service, chain } = world;
  const takeAway = await register(making);
  await world.send(caller, pay(making, "3"));
  await world.pass(5_000);
  await world.finalize();
  await takeAway();

  const { transactionId } = await world.send(caller, pay(making, "3"));
  await service.cancelTransaction(caller, transactionId);
  const loses = losing(making);
  await world.send(caller, pay(making, "3"));
  await world.pass(5_000);
  chain.advance(200);
  await world.finalize();
  loses.isOn = false;

  await world.swap(caller, swap(making));
  await world.pass(5_000);
  await world.finalize();

  await oddEnds(making);
  const paid = await order(making, 3);
  await deposit(making, paid.body);
  await world.settle();
  const swapped = await world.orderSwap(caller, swap(making));
  await deposit(making, swapped.body);
  await world.settle();
  const short = await order(making, 3);
  await order(making);
  await service.cancelTransaction(caller, (await order(making)).body.transactionId);
  await payInto(making, { ...short.body, depositAmount: "1" });
  const frozen = await order(making, 3);
  await world.freeze(payees[2] as Wallet, "USDC");
  await deposit(making, frozen.body);
  await world.pass(2 * HOUR_MS);
  await world.settle();
}

/** Wallet payments that came to another end than was said first, or to none for their payees. */
async function oddEnds(making: Making): Promise<void> {
  const { world, caller } = making;
  const { chain, service, ledger } = world;
  const late = await prepared(making, "3");
  await service.cancelTransaction(caller, late.id);
  await ledger.broadcast(late.bytes);
  await world.finalize();

  const poor = world.wallet("erin", { lamports: 1_000_000_000n, usdc: 3_000_000n });
  await world.send(caller, { ...pay(making, "2"), from: poor });
  await world.send(caller, { ...pay(making, "2"), from: poor });
  await world.pass(5_000);
  await world.finalize();

  // Every node hides that it has landed, until it is judged dead.
  const hidden = await prepared(making, "4");
  const hides = hiding(world, hidden.signature);
  await world.pass(5_000);
  chain.advance(200);
  await world.finalize();
  hides();
  await world.pass(MINUTE_MS);
  await world.finalize();
}

function hiding({ chain }: SwapFixture, signature: string): () => void {
  const lifts = [
    chain.faults.add((request) => {
      const [asked] = request.params as readonly [readonly string[]];
      if (request.method !== "getSignatureStatuses") return undefined;
      return lyingAbout(
        request.method,
        ({ context, value }: { context: object; value: readonly unknown[] }) => ({
          context,
          value: value.map((status, at) => (asked[at] === signature ? null : status)),
        }),
      )(request);
    }),
    chain.faults.add(({ method, params }) =>
      method === "getTransaction" && params[0] === signature
        ? { kind: "lie", answer: () => null }
        : undefined,
    ),
    chain.faults.add(({ method }) =>
      method === "getSignaturesForAddress"
        ? {
            kind: "lie",
            answer: (rows) =>
              (rows as readonly { signature: string }[]).filter((row) => row.signature !== signature),
          }
        : undefined,
    ),
  ];
  return () => lifts.forEach((lift) => lift());
}
