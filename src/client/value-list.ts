/** Several values of a parameter: separated by commas, with `\,` and `\\` inside a value. */
export function joinValues(values: readonly unknown[]): string {
  return values.map((value) => String(value).replaceAll(/[\\,]/g, '\\$&')).join();
}
