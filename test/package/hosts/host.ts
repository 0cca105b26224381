/** A host that is bundled: a durable chart, payments over HTTP, and a local chain that stays outside the bundle. */
import { once } from "node:events";
import { createHttpHandler, createPaymentService } from "paystate";
import { createEngine, systemClock, workflow } from "paystate/engine";
import { solanaLedger } from "paystate/solana";
import { sqliteStorage } from "paystate/storage/sqlite";
import { assign, fromPromise, setup } from "xstate";
import { serve } from "./serve.ts";

const asking = workflow(
  setup({
    types: { context: {} as { answer: number }, output: {} as number },
    actors: { oracle: fromPromise(async () => 42) },
  }).createMachine({
    id: "asking",
    context: { answer: 0 },
    initial: "waiting",
    states: {
      waiting: {
        invoke: {
          src: "oracle",
          onDone: { target: "told", actions: assign({ answer: ({ event }) => event.output }) },
        },
      },
      told: { type: "final" },
    },
    output: ({ context }) => context.answer,
  }),
)({ version: 1 });

async function askOnce(): Promise<void> {
  const storage = await sqliteStorage("asking.db");
  const engine = createEngine({ storage, workflows: [asking] });
  engine.run();
  await engine.start(asking, { id: "first", input: undefined });
  console.log("answer", (await engine.waitFor(asking, "first", "final")).output);
  await engine.stop();
  await storage.close();
}

async function takePayments(): Promise<void> {
  const { createLocalChain } = await import("paystate/local");
  const chain = await createLocalChain({ clock: systemClock, slotMs: 20 });
  const { url: rpcUrl } = await chain.listen({ port: 0, host: "127.0.0.1" });
  const alice = chain.createWallet("alice", { lamports: 5_000_000_000n });
  const bob = chain.createWallet("bob", { lamports: 1_000_000_000n });

  const storage = await sqliteStorage("payments.db");
  const ledger = solanaLedger({ endpoints: [rpcUrl] });
  const masterSecrets = [{ version: 1, secret: Buffer.alloc(32, 7) }];
  const service = createPaymentService({ storage, ledger, masterSecrets });
  await service.start();
  const { accountId } = await service.createAccount({ name: "first customer", tier: "free" });
  const { key } = await service.issueKey({ accountId, environment: "test" });

  const handler = createHttpHandler({ service });
  const server = await serve(handler);
  const baseUrl = `http://127.0.0.1:${server.port}`;
  const from = Buffer.from(alice.secretKey).toString("hex");
  console.log(JSON.stringify({ baseUrl, key, from, to: bob.address }));

  await once(process, "SIGTERM");
  server.end();
  await service.stop();
  await ledger.close();
  await storage.close();
  await chain.close();
}

// No await at the top level: a CommonJS bundle has none.
void askOnce().then(takePayments);
