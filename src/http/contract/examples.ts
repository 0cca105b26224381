/** The ids, addresses and times of all examples, the same everywhere, so that the examples tell one story. */
import { pathParameter } from "./path-parameters.ts";

const idOf = (name: string): string => pathParameter(name).example;

export const QUOTE_ID = idOf("quoteId");
/** See above. */
export const TRANSACTION_ID = idOf("transactionId");
/** See above. */
export const WEBHOOK_ID = idOf("webhookId");
/** See above. */
export const DELIVERY_ID = idOf("deliveryId");
/** See above. */
export const EVENT_ID = "evt_019abc0fa1c07e8fb3d1466a9b5f0e27";

/** The id of a request, the same as its `X-Request-Id`. */
export const REQUEST_ID = "req_5f0c1f7f0a4b4be0a7d2a0a7c6d0b1e2";

export const SENDER = idOf("address");
export const RECIPIENT = "HE9QRESF64Q8MWbeJqCYE5YKQ2EH2PaDS677c3yt3uMt";
/** The vault of a program. */
export const VAULT = "4weY9aLRYqNuYCLPjZRFoXwDdrecZbyCaTy9eu3wxNx7";
export const DEPOSIT_ADDRESS = "6FFVWpLHGaPojbV5Kn2nyHgF9bvm7Lf6MMx9kPdexsXG";
/** The key of one order, in its Solana Pay request. */
export const REFERENCE_KEY = "GVV4cVPRRzTTQ2PqXV3Y3FUDNHqYVhoZkBgXGCpRDEbM";
export const USDC_MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
export const SIGNATURE =
  "2CDipZriGTV3sAQW7ncR1xVwRGw5S9TDXWpgzueUJvzrYmndwayU9XvFsWwAvrUE25EMYs9J6ogfwpyBm8kb1jSy";
/** A transaction in base64; a real one is longer. */
export const TRANSACTION_BASE64 = "AbP7m0pRk2kqg5rXq8cO0m1wQyZ2l6kX4d9fVtE1sHcT";

export const CREATED_AT = "2027-01-31T12:00:00.000Z";
export const EXPIRES_AT = "2027-01-31T12:00:30.000Z";
export const SETTLED_AT = "2027-01-31T12:00:14.000Z";
/** The time of settlement in Unix seconds. */
export const SETTLED_SECONDS = 1_801_396_814;
export const DEPOSIT_EXPIRES_AT = "2027-01-31T12:30:00.000Z";
