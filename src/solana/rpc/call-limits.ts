/** How much fits one JSON-RPC call, by the nodes' own rules. Providers may allow less: see `EndpointOption`. */

/** Accounts in getMultipleAccounts (agave: MAX_MULTIPLE_ACCOUNTS). */
export const MAX_ACCOUNTS_PER_CALL = 100;
/** Signatures in getSignatureStatuses (agave: MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS). */
export const MAX_SIGNATURES_PER_CALL = 256;
