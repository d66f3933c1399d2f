import { print } from '../client/print.ts';

/**
 * Prints a new secret alone on standard output, so that `KEY=$(cueline keys create …)` has nothing else, and what there is to
 * say on standard error. With `json`, the record on standard output.
 */
export async function printSecret(
  secret: string | null,
  sentence: string,
  { record, json }: { readonly record: object; readonly json: boolean },
): Promise<void> {
  if (json) return print(JSON.stringify(record));
  if (secret !== null) await print(secret);
  console.error(sentence);
}
