/** Chooses what is taken out of token accounts that do not count: into one that does, or, of a foreign mint, to whom it is sent. */
import type { PrivateContext } from "./private-storage.ts";
import { knownAddress, SOL_MINT } from "../../core/address.ts";
import { waitForRent } from "./choose-chunk.ts";
import { actOf } from "./choose-redirect.ts";
import { choiceOf, type Choice } from "./chosen-transfer.ts";
import { uncountedAccounts } from "./find-strays.ts";
import { pricesOf, type LookParts } from "./look.ts";
import { accountRent, collectCost, smaller } from "./protocol/cost.ts";
import { legsOfCollect, legsOfForeign, type Stray } from "./protocol/redirect.ts";
import { endAct } from "./settled-on-chain.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";
import { orderChanged, putOff } from "./transfer-outcomes.ts";

type StrayDeps = Pick<PrivateContext, "ledger" | "assets">;
type CollectDeps = StrayDeps & Pick<LookParts, "prices">;

const PRICE_PAUSE_MS = 60_000;

const NOTHING: Choice = { instead: { event: { type: "NOTHING_LEFT" } } };

/**
 * The balance of its account, if it is worth more than the collect costs. The rent that the sponsor lays out is kept with the
 * bytes: the next rest is charged with it.
 */
export async function chooseCollect(deps: CollectDeps, { row, look }: TransferInHand): Promise<Choice> {
  const { terms, judged, reading } = look;
  const asset = deps.assets.named(row.mint ?? "");
  const isSol = asset.mint === SOL_MINT;
  const accounts = await uncountedAccounts(deps, terms.address, asset.mint);
  const found = accounts.find(({ address }) => row.subjects.includes(address));
  const isClosable = row.reason !== NOT_CLOSABLE;
  // Wrapped SOL is unwrapped by closing its account, and in no other way.
  if (found === undefined || (isSol && !isClosable)) return NOTHING;
  const { address: account, amount } = found;
  const isMissing = !isSol && judged.look.isMissing(terms.address, asset.mint);
  const lamports = collectCost({ rentPerByte: reading.rentPerByte, fee: judged.fee }, isMissing);
  const cost = isSol ? lamports : (await pricesOf(deps, [asset]))(asset.mint)?.(lamports);
  if (cost === undefined) return { instead: putOff("waiting_for_price", PRICE_PAUSE_MS) };
  if (amount <= cost) return NOTHING;
  const stray: Stray = { account, asset, amount, program: "token", isClosable };
  const rent = accountRent(reading.rentPerByte);
  const booked = isMissing ? [{ mint: SOL_MINT, to: terms.address, amount: rent, as: "rent" as const }] : [];
  return { chosen: { ...choiceOf(terms, legsOfCollect(terms, stray, isMissing)), booked } };
}

/** Why a collect leaves its account open: another key may close it, or its rent is less than an address must hold by now. */
export const NOT_CLOSABLE = "not_closable";

/** All that the account holds, as a person has ordered, but to somebody else than the sender not more than was approved. */
export async function chooseForeign(deps: StrayDeps, inHand: TransferInHand): Promise<Choice> {
  const { terms, judged } = inHand.look;
  const { to } = inHand.row;
  const found = await foreignAccount(deps, inHand);
  if (to === null) return NOTHING;
  const isBack = to === terms.sender;
  const act = isBack ? null : actOf(inHand);
  // Nothing of an approval stays open: another one would be refused beside it.
  const ended = act === null ? [] : [orderChanged(inHand.look), endAct(act, "ended")];
  if (found === null) return { instead: { event: { type: "NOTHING_LEFT" }, writes: ended } };
  const dear = act === null ? null : waitForRent(inHand.look, 0);
  if (dear !== null) return { instead: dear };
  const amount = act === null ? found.amount : smaller(found.amount, act.sum);
  const { asset } = found;
  const legs = legsOfForeign(judged, { ...found, amount }, { to, n: act?.n ?? null });
  const booked = [{ mint: asset.mint, to, amount, as: isBack ? ("sender" as const) : ("payee" as const) }];
  return { chosen: { ...choiceOf(terms, legs), booked } };
}

/** The account of foreign tokens. One node's word is enough: only this account is moved, and no more than it holds. */
async function foreignAccount({ ledger }: StrayDeps, { row }: TransferInHand): Promise<Stray | null> {
  const mint = knownAddress(row.mint ?? "");
  const [metadata = null] = await ledger.mints([mint]);
  if (metadata === null) return null;
  const { decimals, program } = metadata;
  const [subject = ""] = row.subjects;
  const account = knownAddress(subject);
  const [amount = 0n] = await ledger.amountsIn([{ address: account, mint }], "finalized");
  return amount === 0n ? null : { account, amount, program, asset: { mint, decimals }, isClosable: false };
}
