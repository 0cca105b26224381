/** Whether the sponsor's balance covers what is signed (K16): no payment begins that he may be unable to finish. */
import type { ChosenTransfer } from "./chosen-transfer.ts";
import { loanOf, outlayOf, reservedFor } from "./protocol/cost.ts";
import { placesOf } from "./protocol/cut.ts";
import { saidAtLeast } from "./protocol/look.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";

/**
 * A chunk that pays somebody has to leave what is reserved for the other chunks of its order. All else covers itself: it ends
 * an order, or gives something back.
 */
export function isPurseFull({ row, look }: TransferInHand, { legs, booked }: ChosenTransfer): boolean {
  const { terms, judged, reading, facts } = look;
  const { sponsor } = terms;
  const { rentPerByte, witnesses, told } = reading;
  const { fee } = judged;
  const held = saidAtLeast(
    told.map((each) => judged.look.wallet(each, sponsor).lamports),
    witnesses,
  );
  const outlay = outlayOf(legs, sponsor, { rentPerByte, fee });
  if (row.kind !== "chunk" || booked.length === 0) return held >= outlay;
  const open = facts.chunks.filter(({ k, marker }) => k !== row.n && marker === null);
  const priced = open
    .flatMap(({ k }) => placesOf(terms, k))
    .filter(({ member }) => member?.isPriced === true);
  const reserved = reservedFor({ ...terms, fee, chunks: open.length, priced: priced.length });
  // The loan is lent with the go, which this is or follows.
  return held >= outlay + reserved - loanOf(terms);
}
