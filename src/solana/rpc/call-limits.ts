/** Limits on the size of a JSON-RPC call, by the nodes' own rules. Providers may allow less: see `EndpointOptions`. */

/** Accounts in getMultipleAccounts (agave: MAX_MULTIPLE_ACCOUNTS). */
export const MAX_ACCOUNTS_PER_CALL = 100;
/** Signatures in getSignatureStatuses (agave: MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS). */
export const MAX_SIGNATURES_PER_CALL = 256;
/** Calls in one HTTP request: more would gain little, and all of them wait for the slowest. */
export const MAX_CALLS_PER_BATCH = 100;
/** Characters of one HTTP request with several calls (agave: MAX_REQUEST_BODY_SIZE, 50 KiB; some are left for what joins them). */
export const MAX_BATCH_BYTES = 48 * 1024;
