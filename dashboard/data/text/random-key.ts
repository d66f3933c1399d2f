/** `crypto.randomUUID` is missing where the page is served over plain HTTP. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(36)).join(
    '-',
  );
}
