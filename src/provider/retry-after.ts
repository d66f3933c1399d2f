/** How long a provider asks to be left alone, in milliseconds, at most an hour; 0 where it says nothing that can be read. */

export const retryAfterMsMax = 3_600_000;

/**
 * From `retry-after-ms` (OpenAI, Azure), `retry-after` in seconds or as an HTTP date, or the `retryDelay` that Google
 * puts into the body. Header names are lower case.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  body: string,
  nowMs: number,
): number {
  const text = headers['retry-after']?.trim() ?? '';
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  const asked = [
    number(headers['retry-after-ms']),
    number(text) * 1_000,
    // The date is meant on the provider's own clock, which `date` gives.
    httpDate(text) - (httpDate(headers.date ?? '') || nowMs),
    number(delay) * 1_000,
  ].find(Number.isFinite);
  return Math.min(Math.max(Math.ceil(asked ?? 0), 0), retryAfterMsMax);
}

function number(text: string | undefined): number {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
}

/** `Date.parse` alone would take a bare number for a year, and a date without a zone for local time. */
function httpDate(text: string): number {
  return /^[A-Z][a-z]{2,8}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}
