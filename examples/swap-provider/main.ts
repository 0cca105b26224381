/**
 * A service whose swaps come from a provider of one's own: `npx tsx examples/swap-provider/main.ts`.
 *
 * Everything runs in this process, the chain included. Alice gives 40 USDC and gets USDT for it.
 */
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import { createPaymentService, keypairSigner, SCOPES } from "paystate";
import { systemClock } from "paystate/engine";
import { createLocalChain } from "paystate/local";
import { solanaLedger } from "paystate/solana";
import { sqliteStorage } from "paystate/storage/sqlite";
import { moneyChanger } from "./changer.ts";

const chain = await createLocalChain({ clock: systemClock, slotMs: 25 });
const till = chain.createWallet("till", { usdc: 1_000_000_000n, usdt: 1_000_000_000n });
const alice = chain.createWallet("alice", { lamports: 1_000_000_000n, usdc: 100_000_000n });
// What everybody begins with is final before anybody asks for it.
chain.advance(33);

const ledger = solanaLedger({ endpoints: [{ url: "http://local", fetch: chain.fetch }] });
const service = createPaymentService({
  storage: await sqliteStorage(":memory:"),
  ledger,
  masterSecrets: [{ version: 1, secret: new Uint8Array(32).fill(7) }],
  stablecoins: chain.mints,
  ledgerPollMs: 50,
  swap: { provider: moneyChanger(keypairSigner(till.secretKey)) },
});
await service.start();

const { accountId } = await service.createAccount({ name: "example", tier: "free" });
const caller = { accountId, tier: "free", scopes: SCOPES } as const;
const ended = new Promise<string>((resolve) => {
  service.subscribe({ accountId }, ({ event, data }) => {
    console.log(`${event}: ${data.recipients[0]?.amount ?? ""} USDT`);
    if (event === "transaction.completed" || event === "transaction.failed") resolve(data.status);
  });
});

const { body: quote } = await service.createQuote(caller, {
  inputAsset: "USDC",
  outputAsset: "USDT",
  amount: "40",
  sender: alice.address,
});
console.log(`quoted: ${quote.inputAmount} USDC for ${quote.outputAmount} USDT`);

// What Alice's wallet does: it shows both sides, and signs.
const transaction = VersionedTransaction.deserialize(Buffer.from(quote.transaction ?? "", "base64"));
transaction.sign([Keypair.fromSecretKey(alice.secretKey)]);

await service.createTransaction(caller, {
  type: "swap",
  quoteId: quote.quoteId,
  sender: alice.address,
  recipients: [{ address: alice.address, amount: quote.outputAmount }],
  signedTransaction: Buffer.from(transaction.serialize()).toString("base64"),
});
console.log(`ended: ${await ended}`);
for (const { symbol, balance } of (await service.balances(alice.address)).tokens) {
  console.log(`alice has ${balance} ${symbol}`);
}

await service.stop();
await ledger.close();
await chain.close();
