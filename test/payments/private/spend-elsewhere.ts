/** Spends of a deposit address as another copy of the database could: no row of this one knows of it. */
// modules: private
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import type { MoveOf } from "../../../src/ledger/routing.ts";
import { depositKeys } from "../../../src/payments/frame/secrets/deposit-keys.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import type { Ordered } from "./scene.ts";

/** Moves lamports from the address to the sponsor, or what `spent` says, as another copy of the database could. */
export async function spendElsewhere(
  world: Pick<PrivateFixture, "sponsor" | "chain" | "ledger">,
  { id, address }: Pick<Ordered, "id" | "address">,
  spent: Partial<MoveOf<"transfer">> = {},
): Promise<string> {
  const { sponsor, chain, ledger } = world;
  const keys = depositKeys([TEST_MASTER_SECRET], () => chain.genesisHash);
  const unsigned = await ledger.buildTransaction({
    feePayer: sponsor.address,
    moves: [
      {
        does: "transfer",
        mint: null,
        decimals: 9,
        from: address as never,
        to: sponsor.address,
        amount: 1n,
        accountPayer: null,
        ...spent,
      },
    ],
  });
  const signers = [keypairSigner(sponsor.secretKey), keys.signer({ masterVersion: 1, transactionId: id })];
  const { bytes, signature } = await signTransaction(unsigned, signers);
  await ledger.broadcast(bytes).catch(() => undefined);
  chain.advance(35);
  return signature;
}
