/** What a service compares with its chain before it begins, and says instead of getting stuck later (M12, M13). */
import {
  createInitializeMint2Instruction,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { memoryStorage } from "../kit/storages.ts";
import type { Address } from "../../src/address.ts";
import { SOL_MINT } from "../../src/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import { MAINNET_GENESIS } from "../../src/payments/assets/assets.ts";
import { fixedPrices } from "../../src/payments/prices/prices.ts";
import { deskProvider } from "../../src/payments/swap-provider/desk-provider.ts";
import { silentLogger } from "../../src/runtime.ts";
import { land } from "../solana/signed-transaction.ts";
import { freezeAccount, privateFixture } from "../kit/private-fixture.ts";
import type { PrivateFixture } from "../kit/private-fixture.ts";

let world: PrivateFixture;
beforeEach(async () => {
  world = await privateFixture();
});
afterEach(() => world.close());

/** A mint of so many decimals, whose issuer is the chain's faucet. */
async function mintOf(decimals: number, program = TOKEN_PROGRAM_ID): Promise<Address> {
  const { publicKey, secretKey } = Keypair.generate();
  const issuer = new PublicKey(world.chain.faucet.address);
  const space = getMintLen([]);
  await land(world, {
    signers: [world.chain.faucet, { secretKey }],
    instructions: [
      SystemProgram.createAccount({
        ...{ fromPubkey: issuer, newAccountPubkey: publicKey, space, programId: program },
        lamports: 10_000_000,
      }),
      createInitializeMint2Instruction(publicKey, decimals, issuer, issuer, program),
    ],
  });
  return publicKey.toBase58() as Address;
}

/** The error of a start that must be refused. */
async function refusalOf(options: Parameters<PrivateFixture["another"]>[0]): Promise<string> {
  const service = world.another({ storage: memoryStorage(), ...options });
  const error: unknown = await service.start().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  await service.stop();
  expect(error).toMatchObject({ name: "StartRefused" });
  return (error as Error).message;
}

/** Starts, and answers what was warned of. */
async function warnings(options: Parameters<PrivateFixture["another"]>[0]): Promise<readonly object[]> {
  const said: object[] = [];
  const logger = {
    ...silentLogger,
    warn: (fields: object, message: string) => void said.push({ ...fields, message }),
  };
  const service = world.another({ storage: memoryStorage(), ...options, logger });
  await service.start();
  await service.stop();
  return said;
}

test("a service without a logger warns on stderr", async () => {
  const written: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    const options = { storage: memoryStorage(), stablecoins: undefined, logger: undefined };
    const service = world.another(options as never);
    await service.start();
    await service.stop();
  } finally {
    spy.mockRestore();
  }
  expect(written.filter((line) => line.includes("only SOL can be moved"))).toEqual([
    expect.stringMatching(/^warn .*\n$/),
  ]);
});

describe("M12: the mints", () => {
  test("a USDC of nine decimals does not start, and the option is named", async () => {
    const USDC = await mintOf(9);
    expect(await refusalOf({ stablecoins: { ...world.mints, USDC } })).toBe(
      "stablecoins.USDC: the mint has 9 decimals on this chain, the service takes 6",
    );
  });

  test("what is no mint of the Token program does not start, and every wrong one is named", async () => {
    const USDC = await mintOf(6, TOKEN_2022_PROGRAM_ID);
    const USDT = world.sponsor.address;
    const said = await refusalOf({ stablecoins: { USDC, USDT } });
    expect(said.split("\n")).toEqual([
      expect.stringMatching(/^stablecoins\.USDC: \w+ is a mint of Token-2022/),
      expect.stringMatching(/^stablecoins\.USDT: \w+ is no mint on this chain \(found: wallet\)/),
    ]);
  });

  test("no mint at all does not start", async () => {
    const USDT = Keypair.generate().publicKey.toBase58();
    const said = await refusalOf({ stablecoins: { ...world.mints, USDT } });
    expect(said).toBe(
      `stablecoins.USDT: there is no account at ${USDT} on this chain; name the mint of USDT on this chain`,
    );
  });

  test("a start that was refused for its mints leaves a new database free for another chain", async () => {
    const storage = memoryStorage();
    await refusalOf({ storage, stablecoins: { ...world.mints, USDC: await mintOf(9) } });
    expect(await storage.fact("genesisHash")).toBeNull();
  });

  test("a chain without stablecoins, none of which were configured, is started on for SOL, with a warning", async () => {
    const said = await warnings({ stablecoins: undefined } as never);
    expect(said).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("only SOL can be moved") as string }),
    );
    expect(await refusalOf({ stablecoins: undefined, ledger: onMainnet(world.ledger) } as never)).toContain(
      "stablecoins.USDC: there is no account",
    );
  });

  test("two stablecoins of one mint, or SOL as one, are refused before anything runs", () => {
    const { USDC } = world.mints;
    expect(() => world.another({ stablecoins: { USDC, USDT: USDC } })).toThrow(
      "stablecoins.USDT: expected another mint than that of USDC",
    );
    expect(() => world.another({ stablecoins: { ...world.mints, USDC: SOL_MINT } })).toThrow(
      "stablecoins.USDC: expected the mint of a stablecoin, found that of SOL",
    );
  });

  test("a freeze on our treasury's account is said, and the service starts", async () => {
    world.chain.fund(world.treasury.address, { usdc: 1n, usdt: 1n });
    world.chain.advance(35);
    expect(await warnings({})).toEqual([]);
    await freezeAccount(world, world.treasury, "USDT");
    expect(await warnings({})).toMatchObject([
      { purse: "treasury", owner: world.treasury.address, asset: "USDT", found: "frozen" },
    ]);
  });
});

describe("M13: prices that never move", () => {
  test("on mainnet they are refused, for private mode and for the desk", async () => {
    const ledger = onMainnet(world.ledger);
    expect(await refusalOf({ ledger })).toMatch(/^privateRouting\.prices: these prices never move/);
    const prices = fixedPrices({ [SOL_MINT]: 1n });
    const provider = deskProvider({ desk: keypairSigner(new Uint8Array(32).fill(3)), prices });
    expect(await refusalOf({ ledger, swap: { provider } })).toMatch(/^deskProvider: prices: these prices/);
  });
});

describe("purses that are another's", () => {
  const at = (fill: number) => keypairSigner(new Uint8Array(32).fill(fill));
  const make = (sponsor: number, treasury: number, desk: number) => () =>
    world.another({
      privateRouting: {
        sponsor: at(sponsor),
        treasury: at(treasury).address,
        prices: fixedPrices({ [SOL_MINT]: 1n }),
      },
      swap: { provider: deskProvider({ desk: at(desk) }) },
    });

  test("two purses in one wallet are refused, all of them at once", () => {
    expect(make(1, 1, 2)).toThrow(/privateRouting\.treasury: it is the sponsor/);
    expect(make(1, 2, 1)).toThrow(/swap\.provider: its signer is the sponsor/);
    expect(make(1, 2, 2)).toThrow(/swap\.provider: its signer is the treasury/);
    expect(make(1, 1, 1)).toThrow(/privateRouting\.treasury[^]*is the sponsor[^]*is the treasury/);
    make(1, 2, 3)();
  });
});

describe("bounds out of range", () => {
  test.each([
    [{ maxAgeMs: 999 }, "privateRouting.priceBounds.maxAgeMs"],
    [{ maxAgeMs: 3_600_001 }, "privateRouting.priceBounds.maxAgeMs"],
    [{ maxDeviationBps: 9 }, "privateRouting.priceBounds.maxDeviationBps"],
    [{ maxDeviationBps: 5_001 }, "privateRouting.priceBounds.maxDeviationBps"],
    [{ maxDeviationBps: 0.5 }, "privateRouting.priceBounds.maxDeviationBps"],
  ])("%o is refused by name", (priceBounds, option) => {
    const privateRouting = {
      sponsor: keypairSigner(world.sponsor.secretKey),
      treasury: world.treasury.address,
      prices: fixedPrices({}),
      priceBounds,
    };
    expect(() => world.another({ privateRouting })).toThrow(option);
  });
});

/** The same chain under mainnet's name. */
function onMainnet(ledger: Ledger): Ledger {
  return { ...ledger, genesisHash: async () => MAINNET_GENESIS };
}
