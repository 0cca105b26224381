/** The groups that endpoints are shown in. */

/** Tags by name, in the order of the document. */
export const TAGS = {
  Assets: "What can be paid, and what an address holds.",
  Quotes: "A price that holds for a short while. Every transaction uses one up.",
  Transactions: "Sends, payrolls and swaps, in wallet mode and in private mode.",
  Events: "What webhooks were told, for owners who lost deliveries.",
  Webhooks: "Receivers of notices, and their deliveries.",
  Account: "What a key may do.",
  Reference: "This description. It needs no key.",
} as const;

/** The name of a tag. */
export type TagName = keyof typeof TAGS;
