/** The deployment on another chain than mainnet, which configuration alone makes it serve. */
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, expect, test } from "vitest";
import { MAINNET_GENESIS } from "../../src/payments/frame/assets/assets.ts";
import type { Address } from "../../src/core/address.ts";
import { createLocalChain } from "../../src/local/index.ts";
import { systemClock } from "../../src/core/runtime.ts";
import { createClient } from "../../src/client/index.ts";
import { leaveNothing, newDataFolder } from "../cli/command.ts";
import { eventually } from "../kit/eventually.ts";
import { Deployment, payInEveryWay, takeOrder, type ChainToTry } from "./chain-to-try.ts";

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

/** The key of a new account. */
async function keyOf(deployment: Deployment): Promise<string> {
  const place = ["--database", deployment.env["DATABASE"] ?? "", "--json"];
  const account = await deployment.paystate("account", "create", "me", "--tier", "free", ...place);
  const { accountId } = JSON.parse(account.stdout) as { readonly accountId: string };
  const created = await deployment.paystate("key", "create", accountId, ...place);
  return (JSON.parse(created.stdout) as { readonly key: string }).key;
}

test("N12: on devnet the deployment serves two mints of its owner's in both modes, by its variables alone", async () => {
  const chain = await chainCalled(DEVNET_GENESIS);
  const deployment = await Deployment.on(chain);
  const { service, baseUrl } = await deployment.start();
  await payInEveryWay(chain, { baseUrl, apiKey: await keyOf(deployment) });
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

test("Q21: its variables give it endpoints with their rates, two people, a screen, a journal and a port for metrics", async () => {
  const chain = await chainCalled(DEVNET_GENESIS);
  const REFUSED_FILE = `${await newDataFolder()}.txt`;
  await writeFile(REFUSED_FILE, "");
  const deployment = await Deployment.on(chain, { REFUSED_FILE });
  const { DATABASE = "", RECOVERY_FILE = "" } = deployment.env;
  const { service, baseUrl } = await deployment.start();
  const client = createClient({ baseUrl, apiKey: await keyOf(deployment) });
  const order = { mode: "private", payees: chain.payees.slice(0, 1) } as const;
  const { transactionId } = await takeOrder(client, chain, order);
  expect(await readFile(RECOVERY_FILE, "utf8")).toContain(transactionId);
  const other = { ...order, payees: chain.payees.slice(1, 2) };
  await writeFile(REFUSED_FILE, `${other.payees.join()}\n`);
  await expect(takeOrder(client, chain, other)).rejects.toMatchObject({ status: 400 });

  const [, port = ""] = /"port":(\d+),"msg":"metrics are served"/.exec(service.stdout()) ?? [];
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toContain("paystate_health");

  const asked = ["--live", "--database", DATABASE, "--service", "examples/deploy/service.ts", "--json"];
  // On a busy machine a node may be asked in vain.
  await eventually(async () => {
    const { findings } = JSON.parse((await deployment.paystate("doctor", ...asked)).stdout) as {
      readonly findings: readonly { readonly check: string; readonly verdict: string }[];
    };
    const well = findings.filter(({ verdict }) => verdict === "ok").map(({ check }) => check);
    expect(well, JSON.stringify(findings)).toEqual(
      expect.arrayContaining(["two witnesses", "rate limits", "screening", "two people"]),
    );
  });
  expect(await service.end("SIGTERM")).toMatchObject({ code: 0 });
  await chain.close();
});
