/** The words of a text. A long list of names reads better in lines than with one name in each. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(words(text));
}
