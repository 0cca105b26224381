/** Orders that are under way, and orders at rest: each in another state. */
// modules: private
import {
  AccountLayout,
  createInitializeAccount3Instruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { sqliteStorage } from "../../storage/sqlite.ts";
import { paymentStorage } from "../../src/payments/payment-storage.ts";
import { BY } from "../kit/by.ts";
import { restoredAt } from "../kit/odd-endpoints.ts";
import { units } from "../kit/money.ts";
import {
  act,
  DAY_MS,
  deposit,
  HOUR_MS,
  losing,
  type Making,
  MINUTE_MS,
  order,
  type Ordered,
  pay,
  payInto,
  prepared,
  swap,
} from "./orders.ts";

/** Orders that are over for longer and longer: what is older is looked at more seldom. */
export async function atRest(making: Making): Promise<void> {
  const { world } = making;
  const lost = async (): Promise<void> => {
    const loses = losing(making);
    await world.send(making.caller, pay(making, "3"));
    await world.pass(5_000);
    world.chain.advance(200);
    await world.finalize();
    loses.isOn = false;
  };
  const done = async (): Promise<void> => {
    await deposit(making, (await order(making)).body);
    await world.settle();
  };
  await world.pass(62 * DAY_MS);
  await done();
  await world.pass(26 * HOUR_MS);
  await lost();
  await done();
  await world.pass(16 * MINUTE_MS);
  await done();
}

/** Wallet payments that landed while nobody looked, and whose nodes have lost that time. */
export async function unprovable(making: Making): Promise<void> {
  const { world, caller } = making;
  const { chain, service, ledger } = world;
  const cancelled = await prepared(making, "2.3");
  await service.cancelTransaction(caller, cancelled.id);
  await world.send(caller, pay(making, "2.4"));
  await world.pass(5_000);
  chain.advance(2);
  await world.pass(5_000);
  await world.send(caller, pay(making, "2.5"));
  await world.pass(5_000);
  await ledger.broadcast(cancelled.bytes);
  chain.advance(700);
  const restored = restoredAt(chain.slot() - 100);
  // The first rule that answers decides, and what is sent is lost by another one.
  chain.faults.add((request) => (request.method === "sendTransaction" ? undefined : restored(request)));
  await world.pass(MINUTE_MS);
}

/** Orders of private mode whose money waits: for more of it, for the host's screening, for an operator. */
async function waiting(making: Making): Promise<void> {
  await payInto(making, { ...(await order(making)).body, depositAmount: "1" });
  for (const verdict of ["silent", "refused"] as const) {
    const { body } = await order(making);
    making.verdicts.say(body.transactionId, verdict);
    await deposit(making, body);
  }
}

/** An order that the database does not know: it was brought back by its id, with what somebody has paid. */
async function recovered(making: Making): Promise<void> {
  const { world, caller: here, alice, payees } = making;
  const storage = await sqliteStorage(":memory:");
  const elsewhere = world.another({ storage });
  await elsewhere.start();
  const { accountId } = await elsewhere.createAccount({ name: "elsewhere", tier: "pro" });
  const caller = { ...here, accountId };
  const recipients = [{ address: payees[0]?.address ?? "", amount: "5" }];
  const asked = {
    inputAsset: "USDC",
    outputAsset: "USDC",
    amount: "5",
    mode: "private",
    recipients,
  } as const;
  const { quoteId } = (await elsewhere.createQuote(caller, asked)).body;
  const posted = { type: "send", mode: "private", quoteId, sender: alice.address, recipients } as const;
  const body = (await elsewhere.createTransaction(caller, posted)).body as Ordered;
  await elsewhere.stop();
  await payInto(making, { ...body, depositAmount: "3" });
  // Until its window is over another copy may know it.
  await world.pass(31 * MINUTE_MS);
  world.chain.advance(35);
  const known = await paymentStorage(storage).order(body.transactionId);
  if (known === null) throw new Error("the order is stored elsewhere");
  const { id, masterVersion, createdAt, layout, sender, mint, cut, rentPerByte, windowEnds } = known;
  const line = { id, masterVersion, createdAt, layout, sender, mint, chunks: cut.length, windowEnds };
  await world.service.operator.recover([{ ...line, rentPerByte: String(rentPerByte) }], BY);
}

/** Orders that are under way, and from the first that is lost to the last fewer slots than signed bytes live. */
export async function underWay(making: Making): Promise<void> {
  const { world, caller, market } = making;
  const { chain, service } = world;
  await recovered(making);
  await waiting(making);
  const { body: swapped } = await world.orderSwap(caller, swap(making));
  const [stray, lost, confirmed, returning, late, declined, many] = [
    (await order(making, 2)).body,
    (await order(making)).body,
    (await order(making)).body,
    (await order(making)).body,
    (await order(making)).body,
    (await order(making)).body,
    (await order(making, making.payees.length)).body,
  ];
  await order(making);
  await payBeside(making, stray);
  await service.cancelTransaction(caller, late.transactionId);
  market.factor = 2n;
  await payInto(making, swapped);
  // More than is asked for: its payee is paid, and what is too much is on its way back. Of many payees some are paid.
  await payInto(making, { ...returning, depositAmount: "9" }, many);
  await world.settle(1);
  const loses = losing(making);
  await payInto(making, lost, late, declined);
  for (let look = 0; look < 3; look += 1) {
    await world.pass(2_000);
    chain.advance(12);
    await world.service.settled();
  }
  await service.operator.resolve(declined.transactionId, { action: "decline" }, BY);
  // A go that is out may still win: it takes a second word.
  await service.operator.approve(declined.transactionId, {}, BY);
  await world.service.settled();
  loses.isOn = false;
  await payInto(making, confirmed);
  await service.cancelTransaction(caller, (await prepared(making, "2.6")).id);
  await world.send(caller, pay(making, "2"));
  for (let look = 0; look < 4; look += 1) {
    await world.pass(5_000);
    chain.advance(2);
  }
  loses.isOn = true;
  await world.send(caller, pay(making, "2.1"));
  await world.pass(5_000);
  await world.send(caller, pay(making, "2.2"));
}

/** Pays an order into a token account of its address that is not the associated one. */
async function payBeside(making: Making, { ephemeralAddress, depositAmount }: Ordered): Promise<void> {
  const { world, alice } = making;
  const account = Keypair.generate();
  const mint = new PublicKey(world.mints.USDC);
  const from = new PublicKey(alice.address);
  const source = new PublicKey(world.tokenAccountOf(alice, "USDC"));
  const opening = {
    fromPubkey: from,
    newAccountPubkey: account.publicKey,
    lamports: Number(await world.ledger.rentMinimum(AccountLayout.span)),
    space: AccountLayout.span,
    programId: TOKEN_PROGRAM_ID,
  };
  await act(making, {
    signers: [account],
    instructions: [
      SystemProgram.createAccount(opening),
      createInitializeAccount3Instruction(account.publicKey, mint, new PublicKey(ephemeralAddress)),
      createTransferCheckedInstruction(source, mint, account.publicKey, from, units(depositAmount, 6), 6),
    ],
  });
}
