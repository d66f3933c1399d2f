import { stringify } from '../text/exact-json.ts';

/** Where the playground of a prompt keeps the values of its variables. */
export const playgroundValuesKey = (promptId: string) => `cueline-values-${promptId}`;

/** Makes the playground of a prompt open with these variables. */
export function keepPlaygroundValues(
  promptId: string,
  variables: Readonly<Record<string, unknown>>,
): void {
  sessionStorage.setItem(playgroundValuesKey(promptId), JSON.stringify(fieldTexts(variables)));
}

/** Variables as the fields of the playground hold them: texts, and anything else as JSON. */
export function fieldTexts(variables: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(variables).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : stringify(value),
  ]);
  return Object.fromEntries(texts);
}
