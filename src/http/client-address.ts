/** The client's address as the host's own function tells it. */

/** The host's function did not tell an address; the message names the option and what it has to return. */
class NoClientAddress extends Error {
  override readonly name = "NoClientAddress";
}

/** The address, null when it is unknown. Throws `NoClientAddress` for what is neither, and for what the function throws. */
export function clientAddressBy(tell: (request: Request) => unknown, request: Request): string | null {
  const address = toldBy(tell, request);
  if (address === null || typeof address === "string") return address;
  const told = address === undefined ? "undefined" : `a value of type ${typeof address}`;
  throw new NoClientAddress(
    `createHttpHandler: the option clientAddress returned ${told}: return the client's IP address as a string, or null when it is unknown`,
  );
}

function toldBy(tell: (request: Request) => unknown, request: Request): unknown {
  try {
    return tell(request);
  } catch (cause) {
    throw new NoClientAddress(
      "createHttpHandler: the option clientAddress threw: return null when the client's IP address is unknown",
      { cause },
    );
  }
}
