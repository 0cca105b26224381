/** The deployment on another chain than mainnet, which configuration alone makes it serve. */
import { afterAll, expect, test } from "vitest";
import { MAINNET_GENESIS } from "../../src/payments/assets/assets.ts";
import type { Address } from "../../src/address.ts";
import { createLocalChain } from "../../src/local/index.ts";
import { systemClock } from "../../src/runtime.ts";
import { leaveNothing } from "../cli/command.ts";
import { Deployment, payInEveryWay, type ChainToTry } from "./chain-to-try.ts";

afterAll(leaveNothing);

const DEVNET_GENESIS = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
const SLOT_MS = 50;
const SOL = 1_000_000_000n;

/** A local chain that says it is this one. */
async function chainCalled(genesisHash: string): Promise<ChainToTry> {
  const chain = await createLocalChain({ clock: systemClock, slotMs: SLOT_MS });
  chain.faults.add(({ method }) =>
    method === "getGenesisHash" ? { kind: "lie", answer: () => genesisHash } : undefined,
  );
  const { url } = await chain.listen({ host: "127.0.0.1", port: 0 });
  const wallet = (name: string, funds: Parameters<typeof chain.createWallet>[1]) => {
    const { address, secretKey } = chain.createWallet(name, funds);
    return { address: address as Address, secretKey };
  };
  return {
    rpcUrl: url,
    mints: chain.mints,
    sponsor: wallet("sponsor", { lamports: 100n * SOL }),
    treasury: wallet("treasury", { lamports: SOL }),
    alice: wallet("alice", { lamports: SOL, usdc: 1_000_000_000n }),
    payees: ["bob", "carol", "dave"].map((name) => wallet(name, {}).address),
    giveUsdc: async (owner, amount) => void chain.fund(owner, { usdc: amount }),
    close: () => chain.close(),
  };
}

test("N12: on devnet the deployment serves two mints of its owner's in both modes, by its variables alone", async () => {
  const chain = await chainCalled(DEVNET_GENESIS);
  const deployment = await Deployment.on(chain);
  const { service, baseUrl } = await deployment.start();
  const { DATABASE = "" } = deployment.env;
  const account = await deployment.paystate(
    "accounts",
    "create",
    "me",
    "--tier",
    "free",
    "--database",
    DATABASE,
    "--json",
  );
  const { accountId } = JSON.parse(account.stdout) as { readonly accountId: string };
  const created = await deployment.paystate("keys", "create", accountId, "--database", DATABASE, "--json");
  const { key: apiKey } = JSON.parse(created.stdout) as { readonly key: string };
  await payInEveryWay(chain, { baseUrl, apiKey });
  expect(await service.end("SIGTERM")).toMatchObject({ code: 0 });
  await chain.close();
});

test("N12: on mainnet the same deployment does not start, since its prices never move", async () => {
  const chain = await chainCalled(MAINNET_GENESIS);
  const deployment = await Deployment.on(chain);
  const { code, stderr } = await deployment.run("examples/deploy/main.ts").ended;
  expect(code).toBe(1);
  expect(stderr).toContain("these prices never move");
  await chain.close();
});
