/** How long a provider asks to back off, in milliseconds, at most an hour; 0 if it gives no readable hint. */

export const retryAfterMsMax = 3_600_000;

/**
 * Reads `retry-after-ms` (OpenAI, Azure), `retry-after` in seconds or as an HTTP date, or Google's `retryDelay` in the
 * body. Header names are lower case. Of a header sent several times (a gateway may add one), the longest delay applies.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  body: string,
  nowMs: number,
): number {
  // The date is relative to the provider's own clock, which `date` gives.
  const theirNowMs = longest(headers.date, httpDate) ?? nowMs;
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  const retryAfterMs =
    longest(headers['retry-after-ms'], number) ??
    longest(headers['retry-after'], (each) => waitMs(each, theirNowMs)) ??
    longest(delay, (each) => number(each) * 1_000);
  return Math.min(Math.max(Math.ceil(retryAfterMs ?? 0), 0), retryAfterMsMax);
}

/** Repeated header values are joined by commas. A date contains a comma after its weekday only. */
function longest(header: string | undefined, read: (each: string) => number): number | null {
  const found = (header ?? '')
    .split(',')
    .map((each) => read(each.trim()))
    .filter((each) => !Number.isNaN(each));
  return found.length > 0 ? Math.max(...found) : null;
}

function waitMs(text: string, nowMs: number): number {
  const seconds = number(text);
  return Number.isNaN(seconds) ? httpDate(text) - nowMs : seconds * 1_000;
}

function number(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/**
 * An HTTP date in any of its three forms, without the weekday and its comma. `Date.parse` alone would read a bare
 * number as a year, and a date without a zone as local time.
 */
function httpDate(text: string): number {
  if (/^\d{1,2}[ -][A-Z][a-z]{2}[ -]\d{2,4} [\d:]+ GMT$/.test(text)) return Date.parse(text);
  const withoutZone = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]+ \d{4}$/.test(text);
  return withoutZone ? Date.parse(`${text} GMT`) : Number.NaN;
}
