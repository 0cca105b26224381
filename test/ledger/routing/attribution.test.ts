/** Who did it: whose money came to an address. */
import { createTransferCheckedInstruction } from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { land } from "../signed-transaction.ts";
import { routingFixture, type RoutingFixture } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;

let fixture: RoutingFixture;
beforeEach(async () => {
  fixture = await routingFixture();
});
afterEach(() => fixture.close());

test("whose tokens and lamports came is told by what each transaction took from whom, and who paid for it", async () => {
  const { ledger, mints, party, ata, sponsor } = fixture;
  const carol = party({ lamports: SOL, usdc: 50n });
  const dave = party({ lamports: SOL });
  const payer = party({ lamports: SOL });
  const target = party({ usdc: 1n });
  await land(fixture, {
    signers: [payer, carol],
    instructions: [
      createTransferCheckedInstruction(
        ata(carol.address),
        new PublicKey(mints.USDC),
        ata(target.address),
        new PublicKey(carol.address),
        20n,
        6,
      ),
    ],
  });
  await land(fixture, {
    signers: [dave],
    instructions: [
      SystemProgram.transfer({
        fromPubkey: new PublicKey(dave.address),
        toPubkey: new PublicKey(target.address),
        lamports: SOL / 2n,
      }),
    ],
  });
  const { addresses, isWhole } = await ledger.payersOf(target.address, [mints.USDC]);
  expect(isWhole).toBe(true);
  for (const { address } of [carol, dave, payer]) expect(addresses).toContain(address);
  // The faucet gave the first unit; nobody else did anything.
  expect(addresses.filter((each) => ![carol.address, dave.address, payer.address].includes(each))).toEqual([
    fixture.chain.faucet.address,
  ]);
  expect(addresses).not.toContain(sponsor.address);
});

test("P15: a hundred dust transactions make an attribution that says it is not whole", async () => {
  const { ledger, mints, chain, nobody } = fixture;
  const flooded = nobody();
  for (let index = 0; index < 100; index++) chain.fund(flooded, { lamports: SOL });
  chain.advance(33);
  expect((await ledger.payersOf(flooded, [mints.USDC])).isWhole).toBe(false);
});
