/** What a service compares with its chain before it begins, and says instead of getting stuck later (M12, M13). */
import { agreed } from "../../src/ledger/agreed.ts";
import {
  createInitializeMint2Instruction,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { describe, expect, vi } from "vitest";
import { memoryStorage } from "../kit/storages.ts";
import { type Address, SOL_MINT } from "../../src/core/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { keypairSigner } from "../../src/ledger/sign-transaction.ts";
import { MAINNET_GENESIS } from "../../src/payments/frame/assets/assets.ts";
import type { EndpointOptions } from "../../src/solana/index.ts";
import type { PriceBounds } from "../../src/payments/frame/prices/guarded-prices.ts";
import { fixedPrices } from "../../src/payments/frame/prices/prices.ts";
import { deskProvider } from "../../src/payments/swap/desk/desk-provider.ts";
import { silentLogger } from "../../src/core/runtime.ts";
import { land } from "../solana/signed-transaction.ts";
import type { PrivateFixture } from "../kit/private-fixture.ts";
import { freezeAccount } from "../kit/money.ts";
import { privateTest as test } from "../kit/private-test.ts";

/** A mint of so many decimals, whose issuer is the chain's faucet. */
async function mintOf(world: PrivateFixture, decimals: number, program = TOKEN_PROGRAM_ID): Promise<Address> {
  const { publicKey, secretKey } = Keypair.generate();
  const issuer = new PublicKey(world.chain.faucet.address);
  const space = getMintLen([]);
  await land(world, {
    signers: [world.chain.faucet, { secretKey }],
    instructions: [
      SystemProgram.createAccount({
        fromPubkey: issuer,
        newAccountPubkey: publicKey,
        space,
        programId: program,
        lamports: 10_000_000,
      }),
      createInitializeMint2Instruction(publicKey, decimals, issuer, issuer, program),
    ],
  });
  return publicKey.toBase58() as Address;
}

/** The error of a start that must be refused. */
async function refusalOf(
  world: PrivateFixture,
  options: Parameters<PrivateFixture["another"]>[0],
): Promise<string> {
  const service = world.another({ storage: await memoryStorage(), ...options });
  const error: unknown = await service.start().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  await service.stop();
  expect(error).toMatchObject({ name: "StartRefused" });
  return (error as Error).message;
}

/** Starts, and answers what was warned of. */
async function warnings(
  world: PrivateFixture,
  options: Parameters<PrivateFixture["another"]>[0],
): Promise<readonly object[]> {
  const said: object[] = [];
  const logger = {
    ...silentLogger,
    warn: (fields: object, message: string) => void said.push({ ...fields, message }),
  };
  const service = world.another({ storage: await memoryStorage(), ...options, logger });
  await service.start();
  await service.stop();
  return said;
}

test("U4: a start says what is off", async ({ world }) => {
  const said: object[] = [];
  const logger = { ...silentLogger, info: (fields: object) => void said.push(fields) };
  const service = world.another({ storage: await memoryStorage(), logger });
  await service.start();
  await service.stop();
  expect(said.filter((fields) => "off" in fields)).toEqual([{ off: ["swaps"] }]);
});

// modules: private
test("U4: a start says that private mode is off, beside what else is", async ({ world }) => {
  const said: object[] = [];
  const logger = { ...silentLogger, info: (fields: object) => void said.push(fields) };
  const options = { storage: await memoryStorage(), privateRouting: undefined, logger };
  const service = world.another(options);
  await service.start();
  await service.stop();
  expect(said.filter((fields) => "off" in fields)).toEqual([{ off: ["private mode", "swaps"] }]);
});

test("a service without a logger warns on stderr", async ({ world }) => {
  const written: string[] = [];
  const spy = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
  try {
    const options = { storage: await memoryStorage(), stablecoins: undefined, logger: undefined };
    const service = world.another(options);
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
  test("a USDC of nine decimals does not start, and the option is named", async ({ world }) => {
    const USDC = await mintOf(world, 9);
    expect(await refusalOf(world, { stablecoins: { ...world.mints, USDC } })).toBe(
      "stablecoins.USDC: the mint has 9 decimals on this chain, the service takes 6",
    );
  });

  test("what is no mint of the Token program does not start, and every wrong one is named", async ({
    world,
  }) => {
    const USDC = await mintOf(world, 6, TOKEN_2022_PROGRAM_ID);
    const USDT = world.sponsor.address;
    const said = await refusalOf(world, { stablecoins: { USDC, USDT } });
    expect(said.split("\n")).toEqual([
      expect.stringMatching(/^stablecoins\.USDC: \w+ is a mint of Token-2022/),
      expect.stringMatching(/^stablecoins\.USDT: \w+ is no mint on this chain \(found: wallet\)/),
    ]);
  });

  test("no mint at all does not start", async ({ world }) => {
    const USDT = Keypair.generate().publicKey.toBase58();
    const said = await refusalOf(world, { stablecoins: { ...world.mints, USDT } });
    expect(said).toBe(
      `stablecoins.USDT: there is no account at ${USDT} on this chain; name the mint of USDT on this chain`,
    );
  });

  test("a start that was refused for its mints leaves a new database free for another chain", async ({
    world,
  }) => {
    const storage = await memoryStorage();
    await refusalOf(world, { storage, stablecoins: { ...world.mints, USDC: await mintOf(world, 9) } });
    expect(await storage.fact("genesisHash")).toBeNull();
  });

  test("a chain without stablecoins, none of which were configured, is started on for SOL, with a warning", async ({
    world,
  }) => {
    const said = await warnings(world, { stablecoins: undefined });
    expect(said).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining("only SOL can be moved") as string }),
    );
    expect(await refusalOf(world, { stablecoins: undefined, ledger: onMainnet(world.ledger) })).toContain(
      "stablecoins.USDC: there is no account",
    );
  });

  test("two stablecoins of one mint, or SOL as one, are refused before anything runs", ({ world }) => {
    const { USDC } = world.mints;
    expect(() => world.another({ stablecoins: { USDC, USDT: USDC } })).toThrow(
      "stablecoins.USDT: expected another mint than that of USDC",
    );
    expect(() => world.another({ stablecoins: { ...world.mints, USDC: SOL_MINT } })).toThrow(
      "stablecoins.USDC: expected the mint of a stablecoin, found that of SOL",
    );
  });

  // modules: private
  test("a freeze on our treasury's account is said, and the service starts", async ({ world }) => {
    world.chain.fund(world.treasury.address, { usdc: 1n, usdt: 1n });
    world.chain.advance(35);
    expect(await warnings(world, {})).toEqual([]);
    await freezeAccount(world, world.treasury, "USDT");
    expect(await warnings(world, {})).toMatchObject([
      { purse: "treasury", owner: world.treasury.address, asset: "USDT", found: "frozen" },
    ]);
  });
});

describe("M13: prices that never move", () => {
  // modules: private
  test("on mainnet they are refused for private mode", async ({ world }) => {
    const ledger = onMainnet(world.ledger);
    expect(await refusalOf(world, { ledger })).toMatch(/^privateRouting\.prices: these prices never move/);
  });

  // modules: swap/desk
  test("on mainnet they are refused for the desk", async ({ world }) => {
    const ledger = onMainnet(world.ledger);
    const prices = fixedPrices({ [SOL_MINT]: 1n });
    const provider = deskProvider({ desk: keypairSigner(new Uint8Array(32).fill(3)), prices });
    expect(await refusalOf(world, { ledger, swap: { provider } })).toMatch(
      /^deskProvider: prices: these prices/,
    );
  });
});

// modules: webhooks
test("H32: receivers without TLS are refused on mainnet, and taken elsewhere", async ({ world }) => {
  const webhooks = { allowLoopbackHttp: true };
  expect(await refusalOf(world, { ledger: onMainnet(world.ledger), webhooks })).toMatch(
    /^webhooks\.allowLoopbackHttp: for development only/,
  );
  expect(await warnings(world, { webhooks })).toEqual([]);
});

// modules: private
describe("purses that are another's", () => {
  const at = (fill: number) => keypairSigner(new Uint8Array(32).fill(fill));
  const make = (world: PrivateFixture, sponsor: number, treasury: number, desk: number) => () =>
    world.another({
      privateRouting: {
        sponsor: at(sponsor),
        treasury: at(treasury).address,
        prices: fixedPrices({ [SOL_MINT]: 1n }),
      },
      swap: { provider: deskProvider({ desk: at(desk) }) },
    });

  test("two purses in one wallet are refused, all of them at once", ({ world }) => {
    expect(make(world, 1, 1, 2)).toThrow(/privateRouting\.treasury: it is the sponsor/);
    expect(make(world, 1, 2, 1)).toThrow(/swap\.provider: its signer is the sponsor/);
    expect(make(world, 1, 2, 2)).toThrow(/swap\.provider: its signer is the treasury/);
    expect(make(world, 1, 1, 1)).toThrow(/privateRouting\.treasury[^]*is the sponsor[^]*is the treasury/);
    make(world, 1, 2, 3)();
  });
});

// modules: private
describe("bounds out of range", () => {
  test.for<[Partial<PriceBounds>, string]>([
    [{ maxAgeMs: 999 }, "privateRouting.priceBounds.maxAgeMs"],
    [{ maxAgeMs: 3_600_001 }, "privateRouting.priceBounds.maxAgeMs"],
    [{ maxDeviationBps: 9 }, "privateRouting.priceBounds.maxDeviationBps"],
    [{ maxDeviationBps: 5_001 }, "privateRouting.priceBounds.maxDeviationBps"],
    [{ maxDeviationBps: 0.5 }, "privateRouting.priceBounds.maxDeviationBps"],
  ])("%o is refused by name", ([priceBounds, option], { world }) => {
    const privateRouting = {
      sponsor: keypairSigner(world.sponsor.secretKey),
      treasury: world.treasury.address,
      prices: fixedPrices({}),
      priceBounds,
    };
    expect(() => world.another({ privateRouting })).toThrow(option);
  });
});

test("with one endpoint a start says that its word alone decides, and with two it does not", async ({
  world,
}) => {
  const said = async (ledger: Ledger): Promise<readonly string[]> => {
    const lines: string[] = [];
    const logger = { ...silentLogger, info: (_: object, message: string) => void lines.push(message) };
    const service = world.another({ storage: await memoryStorage(), logger, ledger });
    await service.start();
    expect((await service.health()).witnesses?.needed).toBe((await ledger.witnesses()).needed);
    await service.stop();
    return lines.filter((line) => line.startsWith("one endpoint's word decides"));
  };
  const node = (name: string): EndpointOptions => ({
    url: `http://${name}.example`,
    fetch: world.chain.fetch,
  });
  expect(await said(world.ledgerOf([node("one")]))).toHaveLength(1);
  expect(await said(world.ledgerOf([node("one"), node("two")]))).toEqual([]);
});

/** The same chain under mainnet's name. */
function onMainnet(ledger: Ledger): Ledger {
  return { ...ledger, genesisHash: async () => agreed(MAINNET_GENESIS) };
}
