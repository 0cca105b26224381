/** Secrets at rest: AES-256-GCM under a key derived from the operator's master secret, bound to the row they are for. */
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject } from "node:crypto";
import type { Random } from "../../../core/runtime.ts";

/**
 * A version of the operator's master secret. New secrets are sealed with the first version; older versions still open
 * their secrets.
 */
export interface MasterSecret {
  /** A whole number above 0, never reused for a different secret. */
  readonly version: number;
  /** 32 bytes or more. */
  readonly secret: Uint8Array;
}

/** The row that a secret belongs to; a sealed text moved to another row does not open. */
export interface SealScope {
  readonly table: string;
  readonly row: string;
  readonly owner: string;
}

export interface SecretBox {
  seal(secret: string, place: SealScope): string;
  /** Throws when the text was altered, moved, or sealed under a master secret that is not given. */
  open(sealed: string, place: SealScope): string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

export function createSecretBox(masterSecrets: readonly MasterSecret[], random: Random): SecretBox {
  const keys = new Map<number, KeyObject>();
  const keyOf = (version: number): KeyObject => {
    const known = keys.get(version);
    if (known !== undefined) return known;
    const master = masterSecrets.find((candidate) => candidate.version === version);
    if (master === undefined) {
      throw new Error(`a secret was sealed under master secret ${version}, which is not given`);
    }
    const derived = hkdfSync("sha256", master.secret, "", "paystate sealed secrets v1", 32);
    const key = createSecretKey(Buffer.from(derived));
    keys.set(version, key);
    return key;
  };
  const bound = ({ table, row, owner }: SealScope, version: number): Buffer =>
    Buffer.from(JSON.stringify([table, row, owner, version]));

  return {
    seal(secret, place) {
      const version = masterSecrets[0]?.version ?? 0;
      const iv = Buffer.from(random.bytes(IV_BYTES));
      const cipher = createCipheriv("aes-256-gcm", keyOf(version), iv).setAAD(bound(place, version));
      const sealed = Buffer.concat([iv, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${version}.${sealed.toString("base64")}`;
    },
    open(sealed, place) {
      const [version = "", text = ""] = sealed.split(".");
      const bytes = Buffer.from(text, "base64");
      const decipher = createDecipheriv("aes-256-gcm", keyOf(Number(version)), bytes.subarray(0, IV_BYTES))
        .setAAD(bound(place, Number(version)))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = [decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()];
      return Buffer.concat(opened).toString("utf8");
    },
  };
}

/** The oldest secret is forgotten first; opening it again costs no more than before. */
const MAX_OPENED = 1_000;

/** Opens as `sealing` does, each secret once: to open it takes as long as to sign with it. A sealed text never changes its meaning, so a new secret is a new text. */
export function keepingOpened(sealing: SecretBox): SecretBox {
  const opened = new Map<string, string>();
  return {
    seal: (secret, place) => sealing.seal(secret, place),
    open(sealed, place) {
      const key = JSON.stringify([sealed, place.table, place.row, place.owner]);
      const known = opened.get(key);
      if (known !== undefined) return known;
      const secret = sealing.open(sealed, place);
      opened.set(key, secret);
      const [first] = opened.keys();
      if (opened.size > MAX_OPENED && first !== undefined) opened.delete(first);
      return secret;
    },
  };
}
