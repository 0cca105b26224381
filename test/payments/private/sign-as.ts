/** Signs with the keys of an order as anybody could who has got hold of them, and sends it. */
// modules: private
import { PublicKey, VersionedTransaction, type VersionedMessage } from "@solana/web3.js";
import bs58 from "bs58";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { depositKeys } from "../../../src/payments/frame/secrets/deposit-keys.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { publicKeyOf } from "../../solana/signed-transaction.ts";
import type { Ordered } from "./scene.ts";

/** Signs as the sponsor and as the order's address; gives the signature. */
export async function signAs(
  { sponsor, chain, ledger }: Pick<PrivateFixture, "sponsor" | "chain" | "ledger">,
  { id, address }: Pick<Ordered, "id" | "address">,
  message: VersionedMessage,
): Promise<string> {
  const keys = depositKeys([TEST_MASTER_SECRET], () => chain.genesisHash);
  const transaction = new VersionedTransaction(message);
  const bytes = message.serialize();
  const signed = await keypairSigner(sponsor.secretKey).sign(bytes);
  transaction.addSignature(publicKeyOf(sponsor), signed);
  const own = await keys.signer({ masterVersion: 1, transactionId: id }).sign(bytes);
  transaction.addSignature(new PublicKey(address), own);
  await ledger.broadcast(transaction.serialize()).catch(() => undefined);
  return bs58.encode(signed);
}
