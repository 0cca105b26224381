/** The parts that the helpers of `paystate dev` work on. */
import type { Ledger } from "../ledger/ledger.ts";
import type { LocalChain, LocalWallet } from "../local/index.ts";
import type { Tier } from "../payments/tables/identity.ts";
import type { PaymentService } from "../service/payment-service.ts";

/** A development at work. */
export interface DevContext {
  readonly chain: LocalChain;
  /** Duration of a slot in milliseconds. */
  readonly slotMs: number;
  readonly ledger: Pick<Ledger, "buildTransaction" | "broadcast">;
  readonly service: Pick<PaymentService, "authenticate" | "transaction" | "tokens">;
  readonly apiKeys: Readonly<Record<Tier, string>>;
  /** Pays deposits. */
  readonly payer: LocalWallet;
}
