/** A certificate for the loopback addresses, made with Node alone: X.509 signed by its own key, and good for nothing else. */
import { generateKeyPairSync, sign } from "node:crypto";
import type { Random } from "../core/runtime.ts";

/** A certificate and its key, both in PEM. A client that is to accept it trusts the certificate itself. */
interface LoopbackCertificate {
  readonly certificate: string;
  readonly privateKey: string;
}

/** From when until when it is valid, in milliseconds since the Unix epoch; before the year 2050. */
interface Validity {
  readonly from: number;
  readonly until: number;
}

// Tags of DER, the encoding of certificates.
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

// Names of things in certificates, encoded.
const COMMON_NAME = Buffer.from("0603550403", "hex");
const ECDSA_WITH_SHA256 = Buffer.from("06082a8648ce3d040302", "hex");
const BASIC_CONSTRAINTS = Buffer.from("0603551d13", "hex");
const KEY_USAGE = Buffer.from("0603551d0f", "hex");
const EXTENDED_KEY_USAGE = Buffer.from("0603551d25", "hex");
const SUBJECT_ALT_NAME = Buffer.from("0603551d11", "hex");
const SERVER_AUTH = Buffer.from("06082b06010505070301", "hex");
const TRUE = Buffer.from("0101ff", "hex");
const DIGITAL_SIGNATURE = Buffer.from("03020780", "hex");
const THIRD_VERSION = Buffer.from([2]);

const ADDRESSES = [Buffer.from([127, 0, 0, 1]), Buffer.from(`${"00".repeat(15)}01`, "hex")];
const SERIAL_BYTES = 16;

/** Makes a fresh P-256 key and its certificate for localhost, 127.0.0.1 and ::1. It cannot issue others. */
export function makeLoopbackCertificate(validity: Validity, random: Random): LoopbackCertificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const name = der(
    SEQUENCE,
    der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from("paystate dev")))),
  );
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, THIRD_VERSION)),
    der(INTEGER, serialNumber(random)),
    algorithm,
    name,
    der(SEQUENCE, utcTime(validity.from), utcTime(validity.until)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    extensions(),
  );
  const certificate = der(SEQUENCE, content, algorithm, bits(sign("sha256", content, privateKey)));
  return {
    certificate: pem(certificate),
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function extensions(): Buffer {
  const names = der(
    SEQUENCE,
    der(DNS_NAME, Buffer.from("localhost")),
    ...ADDRESSES.map((address) => der(IP_ADDRESS, address)),
  );
  return der(
    EXTENSIONS,
    der(
      SEQUENCE,
      // Empty: it is no authority.
      der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTET_STRING, der(SEQUENCE))),
      der(SEQUENCE, KEY_USAGE, TRUE, der(OCTET_STRING, DIGITAL_SIGNATURE)),
      der(SEQUENCE, EXTENDED_KEY_USAGE, der(OCTET_STRING, der(SEQUENCE, SERVER_AUTH))),
      der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, names)),
    ),
  );
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), encodedLength(content.length), content]);
}

/** Up to 65,535, ten times as long as a certificate of this kind is. */
function encodedLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  return Buffer.from(length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]);
}

function bits(bytes: Uint8Array): Buffer {
  const noneUnused = Buffer.from([0]);
  return der(BIT_STRING, noneUnused, bytes);
}

/** Positive, and without the leading zero that the encoding forbids. */
function serialNumber(random: Random): Buffer {
  const bytes = Buffer.from(random.bytes(SERIAL_BYTES));
  bytes[0] = 0x40 | ((bytes[0] ?? 0) & 0x3f);
  return bytes;
}

/** YYMMDDHHMMSSZ, which is how times before 2050 are written. */
function utcTime(time: number): Buffer {
  const digits = new Date(time).toISOString().replace(/\.\d+|[^\dZ]/g, "");
  return der(UTC_TIME, Buffer.from(digits.slice(2)));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").replaceAll(/.{64}/g, "$&\n").trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
