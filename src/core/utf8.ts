const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text in UTF-8, without a byte order mark; null if it is not valid. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

export const notUtf8 = 'The body is not valid UTF-8.';
