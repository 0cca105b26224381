/** `paystate/client`: a typed client of the API. It needs nothing of Node. */
export { createClient } from "./create-client.ts";
export type { PaymentClient } from "./create-client.ts";
export type { ClientOptions, ClientFetch } from "./client-options.ts";
export { ApiError, isApiError } from "./api-error.ts";
export type { ApiErrorParts } from "./api-error.ts";
export { NoAnswer } from "./no-answer.ts";
export type { NoAnswerParts } from "./no-answer.ts";
export { StatusNotReached } from "./wait-for-status.ts";
export type { Transaction, WantedStatus } from "./wait-for-status.ts";
export type { PageBody, Pages } from "./pages.ts";
export type { AnswerOf, CallOptions, OperationId, PostOptions } from "./methods.ts";
export type { ErrorCode, ErrorDetails } from "../errors/errors.ts";
