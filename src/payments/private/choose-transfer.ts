/** Chooses what is signed for a transfer now, by its kind. */
import type { SwapPricingDeps } from "./price-order-swap.ts";
import { chooseChunk } from "./choose-chunk.ts";
import { chooseCollect, chooseForeign } from "./choose-stray.ts";
import { chooseRedirect } from "./choose-redirect.ts";
import { chooseRest, type RestDeps } from "./choose-rest.ts";
import type { Choice } from "./chosen-transfer.ts";
import type { LookParts } from "./look.ts";
import type { TransferInHand } from "./transfer-in-hand.ts";

/** Throws `LedgerUnavailable`. */
export async function chooseTransfer(
  deps: SwapPricingDeps & RestDeps & Pick<LookParts, "prices">,
  inHand: TransferInHand,
): Promise<Choice> {
  switch (inHand.row.kind) {
    case "chunk":
      return chooseChunk(deps, inHand);
    case "rest":
      return chooseRest(deps, inHand);
    case "redirect":
      return chooseRedirect(deps, inHand);
    case "collect":
      return chooseCollect(deps, inHand);
    case "foreign":
      return chooseForeign(deps, inHand);
  }
}
