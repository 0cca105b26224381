/** Token accounts beside the associated one: found, and paid from. */
import {
  AccountLayout,
  createFreezeAccountInstruction,
  createInitializeAccount3Instruction,
  createMintToCheckedInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { lyingAbout, oddEndpoint } from "../../kit/odd-endpoints.ts";
import { land } from "../signed-transaction.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { routingTest } from "./routing-test.ts";

/** A deposit address that holds something. */
interface Scene extends Omit<RoutingFixture, "deposit"> {
  readonly deposit: Party;
}

const test = routingTest.extend("scene", async ({ world }): Promise<Scene> => ({
  ...world,
  deposit: world.party({ lamports: 1_000_000_000n, usdc: 7n }),
}));

async function stray(scene: Scene, owner: Address, mint: Address, amount: bigint): Promise<Address> {
  const { chain, ledger } = scene;
  const account = Keypair.generate();
  const faucet = new PublicKey(chain.faucet.address);
  await land(scene, {
    signers: [chain.faucet, account],
    instructions: [
      SystemProgram.createAccount({
        fromPubkey: faucet,
        newAccountPubkey: account.publicKey,
        lamports: Number(await ledger.rentMinimum(AccountLayout.span)),
        space: AccountLayout.span,
        programId: TOKEN_PROGRAM_ID,
      }),
      createInitializeAccount3Instruction(account.publicKey, new PublicKey(mint), new PublicKey(owner)),
      ...(amount === 0n
        ? []
        : [createMintToCheckedInstruction(new PublicKey(mint), account.publicKey, faucet, amount, 6)]),
    ],
  });
  return account.publicKey.toBase58() as Address;
}

test("a payment from an account that holds too little, is frozen, or is somebody else's fails at that payment", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { mints, plan, mark, usdc, nobody, carryOut, asIssuer, chain } = scene;
  const short = await stray(scene, deposit.address, mints.USDC, 3n);
  const frozen = await stray(scene, deposit.address, mints.USDC, 9n);
  await asIssuer([
    createFreezeAccountInstruction(
      new PublicKey(frozen),
      new PublicKey(mints.USDC),
      new PublicKey(chain.faucet.address),
    ),
  ]);
  const foreign = await stray(scene, nobody(), mints.USDC, 9n);
  for (const [index, [fromAccount, custom]] of (
    [
      [short, 1],
      [frozen, 17],
      [foreign, 4],
    ] as const
  ).entries()) {
    const move = { ...usdc(deposit, deposit.address, 5n), fromAccount };
    const { tried } = await carryOut(plan(mark(deposit, String(index)), move), deposit);
    expect(tried).toMatchObject({ at: { move: 1, step: "pay" }, error: { custom } });
  }
});

test("a transfer of SOL from another account than its owner is refused before a node is asked", async ({
  scene,
}) => {
  const { deposit } = scene;
  const { ledger, plan, sol, nobody } = scene;
  const move = { ...sol(deposit, nobody(), 1n), fromAccount: nobody() };
  await expect(ledger.buildTransaction(plan(move))).rejects.toThrow(/SOL is paid from its owner/);
});

test("an account of another owner or of another mint is none of the address's, whatever a node says", async ({
  scene,
}) => {
  const { deposit, chain, ledgerOf, mints, nobody } = scene;
  const somebody = nobody();
  const own = await stray(scene, deposit.address, mints.USDC, 3n);
  await stray(scene, somebody, mints.USDC, 9n);
  await stray(scene, deposit.address, mints.USDT, 9n);
  chain.advance(2);
  const told: unknown[] = [];
  const mixing = lyingAbout("getTokenAccountsByOwner", (honest: { value: readonly unknown[] }) => {
    told.push(...honest.value);
    return { ...honest, value: [...told] };
  });
  const ledger = ledgerOf([oddEndpoint(chain, "mixing", mixing).option]);
  await ledger.holdingsOf(somebody, [mints.USDC], "confirmed");
  await ledger.holdingsOf(deposit.address, [mints.USDT], "confirmed");
  const { accounts } = await ledger.holdingsOf(deposit.address, [mints.USDC], "confirmed");
  expect(told.length).toBeGreaterThanOrEqual(4);
  expect(accounts).toEqual([{ address: own, mint: mints.USDC, amount: 3n }]);
  await ledger.close();
});

/** An answer of getTokenAccountsByOwner, as far as it is read here. */
interface Listed {
  readonly value: readonly { readonly account: { readonly data: readonly [string, string] } }[];
}

/** The same accounts, as if they were of this mint. */
function renamed({ value, ...rest }: Listed, mint: Address): Listed {
  return {
    ...rest,
    value: value.map(({ account: { data, ...facts }, ...each }) => {
      const bytes = Buffer.concat([
        new PublicKey(mint).toBuffer(),
        Buffer.from(data[0], "base64").subarray(32),
      ]);
      return { ...each, account: { ...facts, data: [bytes.toString("base64"), data[1]] } };
    }),
  };
}

test("P13: an endpoint that tells an account under another mint makes it one of neither, and both mints stay disputed", async ({
  scene,
}) => {
  const { deposit, chain, ledgerOf, mints } = scene;
  await stray(scene, deposit.address, mints.USDC, 3n);
  chain.advance(40);
  let listed: Listed = { value: [] };
  const liar = oddEndpoint(
    chain,
    "liar",
    lyingAbout("getTokenAccountsByOwner", (honest: Listed) => (listed = honest)),
  );
  const ledger = ledgerOf([oddEndpoint(chain, "honest").option, liar.option]);
  const { accounts: honest } = await ledger.holdingsOf(deposit.address, [mints.USDC], "finalized");
  expect(honest).toMatchObject([{ mint: mints.USDC, amount: 3n }]);
  liar.rule = ({ method, params }) => {
    if (method !== "getTokenAccountsByOwner") return undefined;
    const isOfUsdc = JSON.stringify(params).includes(mints.USDC);
    const told = isOfUsdc ? { ...listed, value: [] } : renamed(listed, mints.USDT);
    return { kind: "lie", answer: () => told };
  };
  const asked = [mints.USDC, mints.USDT];
  const { tokens, accounts } = await ledger.holdingsOf(deposit.address, asked, "finalized");
  expect({ tokens, accounts }).toEqual({ tokens: [0n, 0n], accounts: [] });
  const disputed = asked.map((mint) => ({ subject: `the token accounts of ${deposit.address} for ${mint}` }));
  expect(await ledger.disputes()).toMatchObject(disputed);
  liar.rule = undefined;
  await ledger.holdingsOf(deposit.address, [mints.USDT], "finalized");
  expect(await ledger.disputes()).toMatchObject(disputed.slice(0, 1));
  await ledger.holdingsOf(deposit.address, asked, "finalized");
  expect(await ledger.disputes()).toEqual([]);
  await ledger.close();
});
