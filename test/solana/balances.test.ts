/** What an address holds and what stands at an address, hostile mints included. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createInitializeAccount3Instruction,
  createInitializeMetadataPointerInstruction,
  createInitializeMint2Instruction,
  createInitializeMultisigInstruction,
  createMintToCheckedInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { NONCE_ACCOUNT_LENGTH, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js";
import fc from "fast-check";
import { expect } from "vitest";
import type { Address } from "../../src/core/address.ts";
import { readTokenSymbol } from "../../src/solana/balances.ts";
import type { ChainFixture, Wallet } from "../kit/chain-fixture.ts";
import { assetsWith } from "../../src/payments/frame/assets/assets.ts";
import { readBalances } from "../../src/payments/frame/assets/read-balances.ts";
import { keyOf, land } from "./signed-transaction.ts";
import { sharedChainTest } from "../kit/chain-test.ts";

/** Alice, who holds a little. */
interface Scene extends ChainFixture {
  readonly alice: Wallet;
}

const test = sharedChainTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  alice: world.wallet("alice", { lamports: 10_000_000_000n, usdc: 1_000n }),
}));

const create = (scene: Scene, account: Wallet, space: number, programId: PublicKey): TransactionInstruction =>
  SystemProgram.createAccount({
    fromPubkey: keyOf(scene.alice),
    newAccountPubkey: keyOf(account),
    lamports: 20_000_000,
    space,
    programId,
  });

/** Makes a Token-2022 mint whose metadata stands on itself, and gives Alice `amount` of it. */
async function mintTwentyTwo(scene: Scene, name: string, symbol: string, amount: bigint): Promise<Address> {
  const { alice } = scene;
  const mint = scene.wallet(name);
  const key = keyOf(mint);
  const ata = getAssociatedTokenAddressSync(key, keyOf(alice), false, TOKEN_2022_PROGRAM_ID);
  const string = (text: string): Buffer => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  // sha256("spl_token_metadata_interface:initialize_account"), first 8 bytes.
  const initialiseMetadata = new TransactionInstruction({
    programId: TOKEN_2022_PROGRAM_ID,
    keys: [
      { pubkey: key, isSigner: false, isWritable: true },
      { pubkey: keyOf(alice), isSigner: false, isWritable: false },
      { pubkey: key, isSigner: false, isWritable: false },
      { pubkey: keyOf(alice), isSigner: true, isWritable: false },
    ],
    data: Buffer.concat([Buffer.from("d2e11ea258b84d8d", "hex"), string(name), string(symbol), string("")]),
  });
  await land(scene, {
    signers: [alice, mint],
    instructions: [
      // 82 padded to 165, the type byte, and a metadata pointer of 4 + 64; the metadata makes the account grow.
      create(scene, mint, 165 + 1 + 68, TOKEN_2022_PROGRAM_ID),
      createInitializeMetadataPointerInstruction(key, keyOf(alice), key, TOKEN_2022_PROGRAM_ID),
      createInitializeMint2Instruction(key, 9, keyOf(alice), null, TOKEN_2022_PROGRAM_ID),
      initialiseMetadata,
      createAssociatedTokenAccountIdempotentInstruction(
        keyOf(alice),
        ata,
        keyOf(alice),
        key,
        TOKEN_2022_PROGRAM_ID,
      ),
      createMintToCheckedInstruction(key, ata, keyOf(alice), amount, 9, [], TOKEN_2022_PROGRAM_ID),
    ],
  });
  return mint.address;
}

test("a holding is the sum over all of the owner's token accounts, and a mint with nothing left is not listed", async ({
  scene,
}) => {
  const { alice } = scene;
  const owner = scene.wallet("owner", { lamports: 1_000_000_000n, usdc: 700n, usdt: 5n });
  const second = scene.wallet("owner's second account");
  const mint = new PublicKey(scene.mints.USDC);
  const from = getAssociatedTokenAddressSync(mint, keyOf(alice));
  const usdt = new PublicKey(scene.mints.USDT);
  const [usdtOwner, usdtAlice] = [owner, alice].map((each) =>
    getAssociatedTokenAddressSync(usdt, keyOf(each)),
  );
  if (usdtOwner === undefined || usdtAlice === undefined) throw new Error("two accounts");
  await land(scene, {
    signers: [alice, second, owner],
    instructions: [
      create(scene, second, 165, TOKEN_PROGRAM_ID),
      createInitializeAccount3Instruction(keyOf(second), mint, keyOf(owner)),
      createTransferCheckedInstruction(from, mint, keyOf(second), keyOf(alice), 35n, 6),
      createAssociatedTokenAccountIdempotentInstruction(keyOf(alice), usdtAlice, keyOf(alice), usdt),
      createTransferCheckedInstruction(usdtOwner, usdt, usdtAlice, keyOf(owner), 5n, 6),
    ],
  });
  const { holdings } = await scene.ledger.balances(owner.address);
  expect(holdings).toEqual([
    { mint: scene.mints.USDC, amount: 735n, decimals: 6, program: "token", symbol: null },
  ]);
});

test("H19: Token-2022 mints are listed with raw amounts and their own symbol", async ({ scene }) => {
  const { alice } = scene;
  const mint = await mintTwentyTwo(scene, "Some Dollar", "USDC", 2n ** 64n - 1n);
  const { holdings } = await scene.ledger.balances(alice.address);
  expect(holdings.find((each) => each.mint === mint)).toEqual({
    mint,
    amount: 2n ** 64n - 1n,
    decimals: 9,
    program: "token-2022",
    symbol: "USDC",
  });
  // The symbol is a claim of the mint: the twin is another mint in another program.
  expect(mint).not.toBe(scene.mints.USDC);
  expect(holdings.find((each) => each.mint === scene.mints.USDC)?.program).toBe("token");
});

test("Q6: a stranger's mint by the name of an asset, or one that looks like it, is shown without a symbol", async ({
  scene,
}) => {
  const assets = assetsWith(scene.mints);
  const names = ["USDC", "ＵＳＤＣ", "USDС", "Usdt", "EURX"];
  const mints: Address[] = [];
  for (const name of names) mints.push(await mintTwentyTwo(scene, `Dollar ${name}`, name, 7n));
  const { tokens } = await readBalances({ ledger: scene.ledger, assets }, scene.alice.address);
  const symbols = mints.map((mint) => tokens.find((each) => each.mint === mint)?.symbol);
  expect(symbols).toEqual(["", "", "", "", "EURX"]);
  expect(tokens.find(({ mint }) => mint === scene.mints.USDC)?.symbol).toBe("USDC");
});

test("H19: a mint with an unknown extension is listed, without a symbol if need be", async ({ scene }) => {
  const { alice } = scene;
  const mint = await mintTwentyTwo(scene, "Odd", "ODD", 17n);
  // An extension nobody has heard of before the metadata, and one that claims to be longer than the account.
  for (const [type, length, symbol] of [
    [60_000, 64, "ODD"],
    [60_000, 65_535, null],
  ] as const) {
    const lift = scene.chain.faults.add(({ method }) =>
      method === "getMultipleAccounts"
        ? {
            kind: "lie",
            answer: (result) => {
              const { context, value } = result as { context: unknown; value: { data: [string, string] }[] };
              return {
                context,
                value: value.map((account) => {
                  const data = Buffer.from(account.data[0], "base64");
                  if (data.length > 166) {
                    data.writeUInt16LE(type, 166);
                    data.writeUInt16LE(length, 168);
                  }
                  return { ...account, data: [data.toString("base64"), "base64"] };
                }),
              };
            },
          }
        : undefined,
    );
    const { holdings } = await scene.ledger.balances(alice.address);
    expect(holdings.find((each) => each.mint === mint)).toMatchObject({ amount: 17n, decimals: 9, symbol });
    lift();
  }
});

test("H19: no bytes of a mint make its symbol throw, and no symbol hides characters", () => {
  const mint = (symbol: Uint8Array, length = symbol.length): Buffer => {
    const head = Buffer.alloc(166);
    head[165] = 1;
    const metadata = Buffer.concat([Buffer.alloc(64 + 4), Buffer.alloc(4), symbol, Buffer.alloc(8)]);
    metadata.writeUInt32LE(length, 68);
    const header = Buffer.alloc(4);
    header.writeUInt16LE(19, 0);
    header.writeUInt16LE(metadata.length, 2);
    return Buffer.concat([head, header, metadata]);
  };
  expect(readTokenSymbol(mint(Buffer.from("EURC")))).toBe("EURC");
  for (const hidden of ["US\u200bDC", "US\u202eDC", "US\u0000", "", "   ", "x".repeat(33), "\n"]) {
    const symbol = readTokenSymbol(mint(Buffer.from(hidden)));
    expect(symbol).toBeNull();
  }
  expect(readTokenSymbol(mint(Buffer.from([0xff, 0xfe])))).toBeNull();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(2 ** 32 - 1), (bytes, length) => {
      readTokenSymbol(Buffer.from(bytes));
      readTokenSymbol(mint(bytes, length));
      readTokenSymbol(Buffer.concat([Buffer.alloc(165), Buffer.from([1]), bytes]));
    }),
  );
});

test("a node that lists somebody else's token accounts is not believed", async ({ scene }) => {
  const { alice } = scene;
  scene.chain.faults.add(({ method }) =>
    method === "getTokenAccountsByOwner"
      ? {
          kind: "lie",
          answer: (result) => {
            const { context, value } = result as {
              context: unknown;
              value: { account: { data: [string, string] } }[];
            };
            return {
              context,
              value: value.map((each) => {
                const data = Buffer.from(each.account.data[0], "base64");
                data.fill(9, 32, 64);
                return { ...each, account: { ...each.account, data: [data.toString("base64"), "base64"] } };
              }),
            };
          },
        }
      : undefined,
  );
  await expect(scene.ledger.balances(alice.address)).rejects.toThrow("token account of somebody else");
  scene.chain.faults.clear();
});

test("every kind of account is told apart", async ({ scene }) => {
  const { alice } = scene;
  const [multisig, nonce, twentyTwo] = ["multisig", "nonce", "plain 2022 account"].map((name) =>
    scene.wallet(name),
  );
  if (multisig === undefined || nonce === undefined || twentyTwo === undefined) {
    throw new Error("three accounts");
  }
  const mint = await mintTwentyTwo(scene, "Kind", "KIND", 1n);
  // A signer's key stands where Token-2022 has the account type; all its bytes say "mint".
  const multisigners = [2, 3, 4, 5, 6, 1].map((byte) => new PublicKey(new Uint8Array(32).fill(byte)));
  await land(scene, {
    signers: [alice, multisig, nonce, twentyTwo],
    instructions: [
      create(scene, multisig, 355, TOKEN_PROGRAM_ID),
      createInitializeMultisigInstruction(keyOf(multisig), multisigners, 1),
      create(scene, nonce, NONCE_ACCOUNT_LENGTH, SystemProgram.programId),
      SystemProgram.nonceInitialize({ noncePubkey: keyOf(nonce), authorizedPubkey: keyOf(alice) }),
      create(scene, twentyTwo, 165, TOKEN_2022_PROGRAM_ID),
      createInitializeAccount3Instruction(
        keyOf(twentyTwo),
        new PublicKey(mint),
        keyOf(alice),
        TOKEN_2022_PROGRAM_ID,
      ),
    ],
  });
  const address = (key: PublicKey): Address => key.toBase58() as Address;
  const usdc = new PublicKey(scene.mints.USDC);
  const asked: [Address, string][] = [
    [scene.wallet("absent").address, "absent"],
    [alice.address, "wallet"],
    [address(getAssociatedTokenAddressSync(usdc, keyOf(alice))), "token_account"],
    [
      address(getAssociatedTokenAddressSync(new PublicKey(mint), keyOf(alice), false, TOKEN_2022_PROGRAM_ID)),
      "token_account",
    ],
    [twentyTwo.address, "token_account"],
    [scene.mints.USDC, "mint"],
    [mint, "mint"],
    [address(TOKEN_PROGRAM_ID), "program"],
    [address(SystemProgram.programId), "program"],
    [multisig.address, "other"],
    [nonce.address, "other"],
  ];
  const kinds = await scene.ledger.accountKinds(asked.map(([each]) => each));
  expect(kinds).toEqual(asked.map(([, kind]) => kind));
});

test("250 addresses are asked for in three calls and answered in order", async ({ scene }) => {
  const { alice } = scene;
  const absent = scene.wallet("absent").address;
  const kinds = await scene.ledger.accountKinds(Array<Address>(250).fill(absent).with(201, alice.address));
  expect(kinds).toHaveLength(250);
  expect(kinds.findIndex((kind) => kind === "wallet")).toBe(201);
});

test("a wallet is on the curve, an associated token account is not", ({ scene }) => {
  const { alice } = scene;
  const ata = getAssociatedTokenAddressSync(
    new PublicKey(scene.mints.USDC),
    keyOf(alice),
  ).toBase58() as Address;
  expect(scene.ledger.isOnCurve(alice.address)).toBe(true);
  expect(scene.ledger.isOnCurve(ata)).toBe(false);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const key = new PublicKey(bytes);
      expect(scene.ledger.isOnCurve(key.toBase58() as Address)).toBe(PublicKey.isOnCurve(key.toBytes()));
    }),
  );
});
