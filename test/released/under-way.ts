/** Orders that are under way, and deposit addresses at rest: each in another state. */
import {
  AccountLayout,
  createInitializeAccount3Instruction,
  createTransferCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { memoryStorage } from "../../storage/memory.ts";
import { BY } from "../kit/by.ts";
import { restoredAt } from "../kit/odd-endpoints.ts";
import { units } from "../kit/private-fixture.ts";
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

/** Addresses that rest for longer and longer: what is older rests longer. */
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
  // Markers are closed once as many blocks have passed as signed bytes live.
  await world.sweep();
  await world.pass(62 * DAY_MS);
  await done();
  await world.sweep();
  await world.pass(26 * HOUR_MS);
  await lost();
  await done();
  await world.sweep();
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
async function waiting(making: Making): Promise<Ordered> {
  await payInto(making, { ...(await order(making)).body, depositAmount: "1" });
  const take = async (verdict: "refused" | "silent"): Promise<Ordered> => {
    const { body } = await order(making);
    making.verdicts.say(body.transactionId, verdict);
    await deposit(making, body);
    return body;
  };
  await sendElsewhere(making, await take("refused"));
  await making.world.settle();
  await take("silent");
  await take("refused");
  return take("refused");
}

/** What is held goes to another address, by an operator's word. */
async function sendElsewhere({ world, payees }: Making, { ephemeralAddress }: Ordered): Promise<void> {
  const address = payees[1]?.address ?? "";
  await world.service.operator.resolve(`held:${ephemeralAddress}`, { action: "refundTo", address }, BY);
}

/** An order that the database does not know: its address was brought back from the id, with what somebody has paid. */
async function recovered(making: Making): Promise<void> {
  const { world, caller: known, alice, payees } = making;
  const elsewhere = world.another({ storage: memoryStorage() });
  await elsewhere.start();
  const { accountId } = await elsewhere.createAccount({ name: "elsewhere", tier: "pro" });
  const caller = { ...known, accountId };
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
  await world.service.operator.recover([body.transactionId], BY);
}

/** Orders that are under way, and from the first that is lost to the last fewer slots than signed bytes live. */
export async function underWay(making: Making): Promise<void> {
  const { world, caller, market } = making;
  const { chain, service } = world;
  await recovered(making);
  const refused = await waiting(making);
  const { body: swapped } = await world.orderSwap(caller, swap(making));
  const [stray, lost, paying] = [
    (await order(making, 2)).body,
    (await order(making)).body,
    (await order(making)).body,
  ];
  await order(making);
  await payBeside(making, stray);
  await payInto(making, lost);
  const loses = losing(making);
  await sendElsewhere(making, refused);
  await world.pass(4 * MINUTE_MS);
  await world.settle(1);
  await service.cancelTransaction(caller, (await prepared(making, "2.6")).id);

  market.factor = 2n;
  await payInto(making, swapped, paying);
  loses.isOn = false;
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
