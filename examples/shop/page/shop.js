/** The page of the shop: it finds the wallets of the browser, has a transaction signed, and follows the order. */
import { getWallets } from "./wallet-standard/index.js";

const CHAIN = "solana:localnet"; // in production solana:mainnet

const wallets = getWallets();
const element = (id) => document.getElementById(id);
const say = (text) => (element("status").textContent = text);

/** A wallet that can sign for this chain. */
const fits = ({ chains, features }) =>
  chains.includes(CHAIN) && "standard:connect" in features && "solana:signTransaction" in features;

function showWallets() {
  const buttons = wallets
    .get()
    .filter(fits)
    .map((wallet) => {
      const button = document.createElement("button");
      button.textContent = `Pay with ${wallet.name}`;
      button.addEventListener("click", () => void tryToBuy(wallet));
      return button;
    });
  if (buttons.length > 0) element("wallets").replaceChildren(...buttons);
}
wallets.on("register", showWallets);
showWallets();

/** Somebody has said no, so nothing was done. Any other failure leaves that unknown. */
class Refused extends Error {}

async function ask(method, path, body) {
  const headers = { "content-type": "application/json" };
  const response = await fetch(path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (response.status === 202) return null;
  const answer = await response.json();
  if (response.ok) return answer;
  throw response.status < 500 ? new Refused(answer.error) : new Error(answer.error);
}

async function tryToBuy(wallet) {
  try {
    await buy(wallet);
  } catch (error) {
    say(error.message);
  }
}

async function buy(wallet) {
  const { accounts } = await wallet.features["standard:connect"].connect();
  const [account] = accounts;
  const item = element("item").value;
  // The address of the page holds the order's id: loaded again, or tried again, it is the same order.
  if (location.hash === "") location.hash = crypto.randomUUID();
  const path = `/orders/${location.hash.slice(1)}`;
  await ask("PUT", path, { item, payer: account.address });
  const { transaction } = await ask("POST", `${path}/quote`);
  say("Waiting for your wallet");
  const [{ signedTransaction }] = await wallet.features["solana:signTransaction"].signTransaction({
    account,
    chain: CHAIN,
    transaction: Uint8Array.from(atob(transaction), (char) => char.charCodeAt(0)),
  });
  const signed = { signedTransaction: btoa(String.fromCharCode(...signedTransaction)) };
  try {
    await ask("POST", `${path}/payment`, signed);
  } catch (error) {
    // Without an answer it may have been taken. The order tells, sooner or later.
    if (error instanceof Refused) throw error;
  }
  await follow(path);
}

const WORDS = {
  open: "Waiting for the payment",
  packing: "Paid, being packed",
  sent: "On its way to you",
  kept: "On its way to you",
  refunding: "Your money is on its way back",
  owed: "We owe you your money, and look after it",
  refunded: "Your money is back",
  unpaid: "The chain did not take the payment. Nothing was paid",
};

/** Shows the order until it has come to its end. */
async function follow(path) {
  let state = "open";
  while (!["kept", "refunded", "unpaid"].includes(state)) {
    try {
      ({ state } = await ask("GET", path));
      say(WORDS[state]);
    } catch {
      say("The shop does not answer. It is asked again");
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
if (location.hash !== "") void follow(`/orders/${location.hash.slice(1)}`);
