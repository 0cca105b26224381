/** The text of an API key: `psk_live_<id>_<secret>_<checksum>`, and `ps_live_…` with a checksum that anybody can compute. */
import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../ids.ts";
import type { KeyChecksums } from "../secrets/key-checksums.ts";
import type { ApiKeyRecord } from "../tables/identity.ts";

export interface KeyParts {
  readonly environment: ApiKeyRecord["environment"];
  readonly id: string;
  readonly secret: string;
}

interface GivenKey extends KeyParts {
  /** All before the checksum. */
  readonly body: string;
  readonly checksum: string;
}

// The scheme is no secret and has no case (RFC 9110); everything after it has.
const KEY_SHAPE =
  /^[Bb][Ee][Aa][Rr][Ee][Rr] (psk?_(live|test)_([0-9a-f]{32})_([0-9a-f]{64}))_([0-9a-f]{8}|[0-9a-f]{16})$/;
const PLAIN_CHECKSUM_LENGTH = 8;

/** Null for what has not the shape of a key. */
export function readKey(authorization: string | null): GivenKey | null {
  const [, body = "", environment, id = "", secret = "", checksum = ""] =
    KEY_SHAPE.exec(authorization ?? "") ?? [];
  if (environment !== "live" && environment !== "test") return null;
  return { environment, id, secret, body, checksum };
}

/** Whether the header holds a key that is told from a made-up key without a look-up. */
export function isCheckedKey(authorization: string | null): boolean {
  return /^bearer psk_/i.test(authorization ?? "");
}

/** Writes a new key; without checksums of the database, such as in a command without master secrets, a `ps_` key. */
export async function writeKey(
  { environment, id, secret }: KeyParts,
  checksums: KeyChecksums | null,
): Promise<string> {
  const rest = `${environment}_${id}_${secret}`;
  checksums?.renew();
  const checksum = (await checksums?.of(`psk_${rest}`)) ?? null;
  if (checksum !== null) return `psk_${rest}_${checksum}`;
  return `ps_${rest}_${plainChecksum(`ps_${rest}`)}`;
}

/**
 * The verdict of the checksum, without a look-up: `wrong` is a typo, or a key that nobody has issued; `right` only the
 * database's secret makes; `nothing` where anybody can compute the checksum, or that secret does not open.
 */
export type ChecksumStatus = "wrong" | "right" | "nothing";

export async function standingOf(key: GivenKey, checksums: KeyChecksums | null): Promise<ChecksumStatus> {
  const { body, checksum } = key;
  if (!body.startsWith("psk_")) return isEqual(checksum, plainChecksum(body)) ? "nothing" : "wrong";
  const expected = (await checksums?.of(body)) ?? null;
  if (checksums === null || expected === null) return "nothing";
  if (isEqual(checksum, expected)) return "right";
  return checksums.renewIfOld() ? standingOf(key, checksums) : "wrong";
}

function isEqual(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

function plainChecksum(body: string): string {
  return sha256Hex(body).slice(0, PLAIN_CHECKSUM_LENGTH);
}
