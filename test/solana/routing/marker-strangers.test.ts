/** Strangers and markers: whatever they sign and send, they cannot make, block, change, use or close one. */
import {
  AuthorityType,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createBurnInstruction,
  createCloseAccountInstruction,
  createFreezeAccountInstruction,
  createInitializeAccount3Instruction,
  createRevokeInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createTransferInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, TransactionInstruction, VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Marker } from "../../../src/ledger/routing.ts";
import { keyOf, land, signed } from "../signed-transaction.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { routingTest } from "./routing-test.ts";

const SOL = 1_000_000_000n;
const WRAPPED_SOL = new PublicKey("So11111111111111111111111111111111111111112");

/** A stranger before a deposit address whose markers are attacked. */
interface Attacked extends Omit<RoutingFixture, "deposit"> {
  readonly deposit: Party;
  readonly stranger: Party;
  readonly rent: bigint;
}

const test = routingTest.extend("scene", async ({ world }): Promise<Attacked> => ({
  ...world,
  deposit: world.party({ lamports: 10n * SOL }),
  stranger: world.party({ lamports: 100n * SOL }),
  rent: await world.ledger.rentMinimum(165),
}));

const at = (scene: Attacked, seed: string): PublicKey =>
  new PublicKey(scene.ledger.markerAddress(scene.deposit.address, seed));

/** An instruction as somebody writes it who cannot have all its signatures. */
function unsignedBy(key: PublicKey, instruction: TransactionInstruction): TransactionInstruction {
  const keys = instruction.keys.map((each) =>
    each.pubkey.equals(key) ? { ...each, isSigner: false } : each,
  );
  const { programId, data } = instruction;
  return new TransactionInstruction({ programId, keys, data });
}

/** The error of what the stranger sent, once it landed; null when it succeeded. */
async function sentByStranger(scene: Attacked, instruction: TransactionInstruction): Promise<string | null> {
  const { stranger } = scene;
  const text = await signed(scene, { signers: [stranger], instructions: [instruction] });
  const bytes = Buffer.from(text, "base64");
  const [signature = ""] = VersionedTransaction.deserialize(bytes).signatures.map((each) =>
    bs58.encode(each),
  );
  await scene.ledger.broadcast(bytes);
  scene.chain.advance(33);
  const [status] = await scene.ledger.statuses([signature]);
  if (status?.commitment !== "finalized") throw new Error("a transaction did not land");
  return status.error;
}

/** Everything that the Token program does with an account, signed by the stranger, or as if it were signed. */
function attacks(scene: Attacked, seed: string): Readonly<Record<string, TransactionInstruction>> {
  const { stranger, deposit, rent } = scene;
  const [me, owner, marker] = [keyOf(stranger), keyOf(deposit), at(scene, seed)];
  const another = at(scene, seed === "payout" ? "plan" : "payout");
  const delegate = at(scene, "plan");
  const raw = (data: readonly number[], ...accounts: readonly PublicKey[]): TransactionInstruction =>
    new TransactionInstruction({
      programId: TOKEN_PROGRAM_ID,
      keys: accounts.map((pubkey) => ({
        pubkey,
        isSigner: pubkey.equals(me),
        isWritable: !pubkey.equals(owner),
      })),
      data: Buffer.from(data),
    });
  return {
    "close as oneself": createCloseAccountInstruction(marker, me, me),
    "close as the owner": unsignedBy(owner, createCloseAccountInstruction(marker, me, owner)),
    "close as the delegate": unsignedBy(delegate, createCloseAccountInstruction(marker, me, delegate)),
    "revoke as oneself": createRevokeInstruction(marker, me),
    "revoke as the owner": unsignedBy(owner, createRevokeInstruction(marker, owner)),
    "revoke as the delegate": unsignedBy(delegate, createRevokeInstruction(marker, delegate)),
    "approve as oneself": createApproveInstruction(marker, me, me, 1),
    "approve as the owner": unsignedBy(owner, createApproveInstruction(marker, me, owner, 1)),
    "take the account": createSetAuthorityInstruction(marker, me, AuthorityType.AccountOwner, me),
    "take the account's closing": createSetAuthorityInstruction(marker, me, AuthorityType.CloseAccount, me),
    "take it as its owner": unsignedBy(
      owner,
      createSetAuthorityInstruction(marker, owner, AuthorityType.AccountOwner, me),
    ),
    "open it for oneself": createInitializeAccount3Instruction(marker, WRAPPED_SOL, me),
    "open it once more": createInitializeAccount3Instruction(marker, WRAPPED_SOL, owner),
    "transfer from it": createTransferInstruction(marker, another, me, 1),
    "transfer by its delegate": unsignedBy(delegate, createTransferInstruction(marker, another, delegate, 1)),
    "burn what is in it": createBurnInstruction(marker, WRAPPED_SOL, me, 1),
    "freeze it": createFreezeAccountInstruction(marker, WRAPPED_SOL, me),
    // Instructions that newer versions of the Token program have: withdraw excess lamports, unwrap lamports.
    "withdraw its lamports": raw([38], marker, me, me),
    "unwrap its lamports": raw([45, 0], marker, me, me),
    "allocate it as the base": unsignedBy(
      owner,
      SystemProgram.allocate({
        accountPubkey: marker,
        basePubkey: owner,
        seed,
        space: 165,
        programId: TOKEN_PROGRAM_ID,
      }),
    ),
    "allocate it by a base of one's own": SystemProgram.allocate({
      accountPubkey: marker,
      basePubkey: me,
      seed,
      space: 165,
      programId: TOKEN_PROGRAM_ID,
    }),
    "assign it to another program": unsignedBy(
      owner,
      SystemProgram.assign({
        accountPubkey: marker,
        basePubkey: owner,
        seed,
        programId: SystemProgram.programId,
      }),
    ),
    "create it": unsignedBy(
      owner,
      SystemProgram.createAccountWithSeed({
        fromPubkey: me,
        newAccountPubkey: marker,
        basePubkey: owner,
        seed,
        lamports: Number(rent),
        space: 165,
        programId: TOKEN_PROGRAM_ID,
      }),
    ),
    "take its lamports by seed": unsignedBy(
      owner,
      SystemProgram.transfer({
        fromPubkey: marker,
        basePubkey: owner,
        toPubkey: me,
        lamports: 1,
        seed,
        programId: TOKEN_PROGRAM_ID,
      }),
    ),
    "make it an associated account": createAssociatedTokenAccountIdempotentInstruction(
      me,
      marker,
      owner,
      WRAPPED_SOL,
    ),
  };
}

async function attackAll(scene: Attacked, seed: string): Promise<void> {
  const { deposit } = scene;
  const before = await scene.markers(deposit, "payout", "plan");
  for (const [name, instruction] of Object.entries(attacks(scene, seed))) {
    expect(await sentByStranger(scene, instruction), `${seed}: ${name}`).not.toBeNull();
  }
  expect(await scene.markers(deposit, "payout", "plan")).toEqual(before);
}

test("M4: nothing of a marker is there for a stranger to make, and it can be made afterwards", async ({
  scene,
}) => {
  const { deposit, rent } = scene;
  const { plan, mark, carryOut, markers, chain } = scene;
  await attackAll(scene, "payout");
  // Nor when there are lamports at its address.
  chain.fund(at(scene, "payout").toBase58(), { lamports: SOL });
  chain.advance(33);
  await attackAll(scene, "payout");
  expect(await carryOut(plan(mark(deposit)), deposit)).toMatchObject({ tried: null, landed: null });
  expect(await markers(deposit, "payout")).toEqual([{ delegate: null, lamports: rent + SOL }]);
});

test("a marker that was made, one with a delegate, and a plan's marker stand against everything", async ({
  scene,
}) => {
  const { deposit, rent } = scene;
  const { plan, mark, replace, follow, unmark, carryOut, holds } = scene;
  await carryOut(plan(mark(deposit)), deposit);
  await attackAll(scene, "payout");
  await carryOut(plan(unmark(deposit)), deposit);
  await carryOut(plan(replace(deposit, "plan")), deposit);
  await attackAll(scene, "payout");
  await attackAll(scene, "plan");
  await carryOut(plan(follow(deposit, "plan")), deposit);
  const treasury = scene.party({ lamports: SOL });
  const closing = ["payout", "plan"].map((seed) => unmark(deposit, seed, treasury.address));
  expect((await carryOut(plan(...closing), deposit)).landed).toBeNull();
  expect(await holds(treasury.address)).toEqual([SOL + 2n * rent, 0n]);
});

test("lamports, wrapped SOL and a new count of both are all that a stranger can add, and hinder nothing", async ({
  scene,
}) => {
  const { deposit, rent } = scene;
  const { plan, replace, follow, mark, unmark, carryOut, markers, holds, ledger } = scene;
  await carryOut(plan(replace(deposit, "plan")), deposit);
  const wrapped = scene.party({ lamports: 10n * SOL });
  const theirs = new PublicKey(ledger.tokenAccountOf(wrapped.address, WRAPPED_SOL.toBase58() as Address));
  await land(scene, {
    signers: [wrapped],
    instructions: [
      createAssociatedTokenAccountIdempotentInstruction(keyOf(wrapped), theirs, keyOf(wrapped), WRAPPED_SOL),
      SystemProgram.transfer({ fromPubkey: keyOf(wrapped), toPubkey: theirs, lamports: SOL }),
      createSyncNativeInstruction(theirs),
      ...["payout", "plan"].flatMap((seed) => [
        createTransferInstruction(theirs, at(scene, seed), keyOf(wrapped), 5n),
        SystemProgram.transfer({ fromPubkey: keyOf(wrapped), toPubkey: at(scene, seed), lamports: 7 }),
        createSyncNativeInstruction(at(scene, seed)),
      ]),
    ],
  });
  const expected: readonly Marker[] = [
    { delegate: ledger.markerAddress(deposit.address, "plan"), lamports: rent + 12n },
    { delegate: null, lamports: rent + 12n },
  ];
  expect(await markers(deposit, "payout", "plan")).toEqual(expected);
  // There is something to take by now, and still nobody can.
  await attackAll(scene, "payout");
  await attackAll(scene, "plan");
  expect((await carryOut(plan(mark(deposit)), deposit)).landed).toMatchObject({ kind: "marked", move: 0 });
  expect((await carryOut(plan(follow(deposit, "plan"), mark(deposit, "leaf")), deposit)).landed).toBeNull();
  const treasury = scene.party({ lamports: SOL });
  const closing = ["payout", "plan", "leaf"].map((seed) => unmark(deposit, seed, treasury.address));
  expect((await carryOut(plan(...closing), deposit)).landed).toBeNull();
  expect(await holds(treasury.address)).toEqual([SOL + 3n * rent + 24n, 0n]);
});

test("the marker of one base is not that of another: a stranger's own follows, marks and closes touch its own only", async ({
  scene,
}) => {
  const { deposit, stranger } = scene;
  const { plan, mark, follow, replace, unmark, carryOut, markers } = scene;
  await carryOut(plan(replace(deposit, "plan")), deposit);
  const before = await markers(deposit, "payout", "plan");
  expect((await carryOut(plan(follow(stranger, "plan")), stranger)).landed).toMatchObject({
    kind: "unplanned",
    move: 0,
  });
  expect((await carryOut(plan(unmark(stranger)), stranger)).landed).toMatchObject({ kind: "source" });
  expect(
    (await carryOut(plan(mark(stranger), follow(deposit, "plan")), stranger, deposit)).landed,
  ).toBeNull();
  expect((await carryOut(plan(unmark(stranger)), stranger)).landed).toBeNull();
  expect(await markers(deposit, "payout", "plan")).toEqual(before);
});
