/** The error for a body that was read before the handler saw the request: a mistake in the host's code, which the log explains. */

/** Becomes a 500 with a line on the log: the caller has sent a good request, and can do nothing about it. */
class BodyTaken extends Error {
  override readonly name = "BodyTaken";
}

/** For requests of `node:http`: something has read the body, and left neither bytes nor a parsed value on them. */
export function bodyTakenFromNode(): BodyTaken {
  return new BodyTaken(
    "the request's body was read before handler.node and left nowhere: mount the handler before the body parser, " +
      "or put the bytes on the request of node:http as `rawBody`, or the parsed value as `body`",
  );
}

/** For requests of `fetch`: they can be read once. */
export function bodyTakenFromFetch(): BodyTaken {
  return new BodyTaken(
    "the request's body was read before handler.fetch: read that of request.clone() instead, or mount the handler before",
  );
}
