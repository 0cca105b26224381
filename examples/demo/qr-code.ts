/** A QR code in a terminal. */
import makeCode from "qrcode-generator";

/** The lines of a QR code of a text, in half blocks. */
export function qrCode(text: string): readonly string[] {
  // The smallest code that holds the text: a screen is read without dirt and scratches.
  const code = makeCode(0, "L");
  code.addData(text);
  code.make();
  return code.createASCII(1, 2).split("\n");
}
