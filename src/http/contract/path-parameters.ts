/** The variable parts of paths, by the names that the paths give them. */

interface PathParameter {
  readonly description: string;
  readonly example: string;
}

const PATH_PARAMETERS: Readonly<Record<string, PathParameter>> = {
  address: {
    description: "A wallet's address: base58 of 32 bytes.",
    example: "C48uQySY2hDsTDSpoC6pjAG1EzmkvPAPgtDbTw2Wu8XA",
  },
  quoteId: {
    description: "The quote's id.",
    example: "quote_019abc0f7e0066d6a1c4a86b6f30b1d2",
  },
  transactionId: {
    description: "The transaction's id.",
    example: "tx_019abc0f8a3c4c1f9d02f4be9a17c3e5",
  },
  webhookId: {
    description: "The webhook's id.",
    example: "wh_019abc0f91b871d58f3ee2a7c05d64b9",
  },
  deliveryId: {
    description: "The delivery's id.",
    example: "dlv_019abc0f99447be2a66d0c2f8e1ab370",
  },
};

/** The names of a path's variable parts, in order. */
export function parameterNames(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** The description of a variable part. Throws for a name that stands in no path. */
export function pathParameter(name: string): PathParameter {
  const known = PATH_PARAMETERS[name];
  if (known === undefined) throw new Error(`the path parameter ${name} is not described`);
  return known;
}
