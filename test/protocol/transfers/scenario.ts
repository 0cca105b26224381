/** What a search of the transfer's model sends, and which rule it does without. */
// modules: private

/** The rules that can be taken out; rows of the table go by `edges`. */
export type TransferRule =
  | "K12: a marker with the act's mint and receiver is that act"
  | "K12: … whatever the sum"
  | "what is made again pays nobody where nobody was wanted"
  | "a hold stops a go and a rest"
  | "a hold stops nothing else";

/** One search: chunk 0, a later one, a rest to the sender, or an act that a person has approved. */
export interface Scenario {
  readonly sends: "go" | "later" | "rest" | "redirect";
  readonly without?: TransferRule;
}
