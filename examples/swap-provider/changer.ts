/** A swap provider of one's own: a money changer that gives stablecoins for stablecoins, one for one less a fee. */
import { PaymentError, signTransaction, type Signer, type Token } from "paystate";
import type { Swapper, ProviderContext, SwapProvider, TransactionPlan } from "paystate/ledger";

/** A tenth of a percent, in base units of what is given; rounded up, as fees are. */
const feeOn = (amount: bigint): bigint => (amount + 999n) / 1_000n;

/** `till` holds USDC and USDT, and nothing leaves it that does not come with as much of the other. */
export function moneyChanger(till: Signer): SwapProvider {
  return { name: "money changer", connect: (surroundings) => atWork(till, surroundings) };
}

function atWork(till: Signer, { ledger, log }: ProviderContext): Swapper {
  const isStable = ({ symbol }: Token): boolean => symbol === "USDC" || symbol === "USDT";
  const held = async ({ mint }: Token): Promise<bigint> => {
    const { funds } = await ledger.funds([till.address], [mint], "finalized");
    return funds[0]?.tokens[0] ?? 0n;
  };

  return {
    async check(genesisHash) {
      log.info({ till: till.address, genesisHash }, "the money changer is open");
    },

    // Its price depends on no other process, so any number of offers can be made at once.
    queueOf: () => null,

    async offer({ give, get, amount }, promised) {
      const resource = `till ${till.address} ${get.symbol}`;
      if (!isStable(give) || !isStable(get)) throw tooLittle("0");
      const [most, open] = await Promise.all([held(get), promised(resource)]);
      const outputAmount = amount - feeOn(amount);
      if (open + outputAmount > most) throw tooLittle(wholeUnits(most - open, get));
      // What is promised to one customer is promised to no other, whichever process is asked.
      return { outputAmount, priceImpact: 0, reservations: [{ resource, amount: outputAmount, most }] };
    },

    async build({ give, get, inputAmount, outputAmount, sender, reference }) {
      const given = { mint: give.mint, decimals: give.decimals, amount: inputAmount };
      const paid = { mint: get.mint, decimals: get.decimals, amount: outputAmount };
      const plan: TransactionPlan = {
        feePayer: sender,
        moves: [
          { does: "transfer", ...given, from: sender, to: till.address, accountPayer: null, reference },
          { does: "transfer", ...paid, from: till.address, to: sender, accountPayer: sender },
        ],
      };
      const [state] = await ledger.tokenAccountStates([{ owner: sender, mint: get.mint }]);
      const rent = state === "absent" ? await ledger.rentMinimum(TOKEN_ACCOUNT_BYTES) : 0n;
      return { unsigned: await ledger.buildTransaction(plan), plan, rent, ticket: null };
    },

    // Only ever asked for a transaction that `build` has built and the sender has signed.
    async complete({ unsigned, sender, signature }) {
      return (await signTransaction(unsigned, [till], new Map([[sender, signature]]))).bytes;
    },

    // It serves wallets only. A desk that also signs within private payments has a `direct` side.
    direct: null,
  };
}

const TOKEN_ACCOUNT_BYTES = 165;

function tooLittle(available: string): PaymentError {
  return new PaymentError("INSUFFICIENT_LIQUIDITY", { available });
}

function wholeUnits(amount: bigint, { decimals }: Token): string {
  const unit = 10n ** BigInt(decimals);
  return `${amount / unit}.${String(amount % unit).padStart(decimals, "0")}`;
}
