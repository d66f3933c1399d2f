/** How long a provider asks to back off, in milliseconds, at most an hour; 0 if it gives no readable hint. */

export const retryAfterMsMax = 3_600_000;

type Headers = Readonly<Record<string, string>>;

/**
 * Reads the first of these hints that exists:
 *
 * 1. `retry-after-ms`, `x-ms-retry-after-ms`
 * 2. `retry-after` as seconds, duration, HTTP date, ISO date or epoch
 * 3. `retryDelay` in the body (Google)
 * 4. when a limit resets: `x-ratelimit-reset…`, `anthropic-ratelimit-…-reset`, or such headers in the body (OpenRouter)
 * 5. `estimated_time` of a loading model, or `retry_after`, in seconds in the body
 * 6. words such as "try again in 6s"
 *
 * Header names are lower case. Of a header sent several times (a gateway may add one), the longest delay applies.
 * @param limited whether a limit rejected the call: providers send their resets with every response
 */
export function retryAfterMs(
  headers: Headers,
  body: string,
  { nowMs, limited }: { readonly nowMs: number; readonly limited: boolean },
): number {
  // A date is relative to the provider's own clock, which `date` gives.
  const clock = longest(headers.date, httpDate) ?? nowMs;
  const searched = body.slice(0, searchedCharsMax);
  const delayMs =
    fromHeaders(headers, clock, limited) ??
    // Google and OpenRouter nest them at different depths.
    longest(/"retryDelay"\s*:\s*"([\d.]+s)"/.exec(searched)?.[1], durationMs) ??
    (limited ? resetMs(headersIn(searched), clock) : null) ??
    longest(inSeconds.exec(searched)?.[1], number, 1_000) ??
    longest(words.exec(searched)?.[1]?.toLowerCase(), durationMs);
  return Math.min(Math.max(Math.ceil(delayMs ?? 0), 0), retryAfterMsMax);
}

/** The text is untrusted, and hints come early. */
const searchedCharsMax = 16_384;

const inSeconds =
  /"(?:estimated_time|retry_after|retry_after_seconds|retryAfter)"\s*:\s*"?(\d+(?:\.\d+)?)/;

/** "Please try again in 1m2.9s", "Please retry after 26 seconds", "Please wait 51211 seconds before retrying". */
const words =
  /\b(?:try again|retry|wait)(?: in| after| for)? ((?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)\b ?|\d+(?:\.\d+)?[hms](?=\d)){1,4})/i;

function fromHeaders(headers: Headers, nowMs: number, limited: boolean): number | null {
  return (
    longest(headers['retry-after-ms'], number) ??
    longest(headers['x-ms-retry-after-ms'], number) ??
    longest(headers['retry-after'], (each) => delayOf(each, nowMs)) ??
    (limited ? resetMs(headers, nowMs) : null)
  );
}

/**
 * The reset of the limit that is used up (`remaining` 0); of several such limits the last reset. If no `remaining` says
 * which limit that is, the first reset.
 */
function resetMs(headers: Headers, nowMs: number): number | null {
  const resets: number[] = [];
  const usedUp: number[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (!resetName.test(name)) continue;
    const delayMs = longest(value, (each) => delayOf(each, nowMs));
    if (delayMs === null) continue;
    resets.push(delayMs);
    const remaining = headers[name.replace('reset', 'remaining')];
    if (remaining !== undefined && Number.parseFloat(remaining) <= 0) usedUp.push(delayMs);
  }
  if (usedUp.length > 0) return Math.max(...usedUp);
  return resets.length > 0 ? Math.min(...resets) : null;
}

const resetName = /^(x-|anthropic-)?rate-?limit-([a-z-]{1,60}-)?reset(-[a-z-]{1,60})?$/;

/** The headers of the upstream provider, which OpenRouter puts into the body. */
function headersIn(body: string): Headers {
  const found: Record<string, string> = {};
  for (const [, name = '', value = ''] of body.matchAll(
    /"([a-z-]{0,20}rate-?limit-[a-z-]{1,80})"\s*:\s*"?([^",}]{1,80})/gi,
  )) {
    found[name.toLowerCase()] = value;
  }
  return found;
}

/**
 * Repeated header values are joined by commas. A date contains a comma after its weekday only.
 * @param unitMs the unit of what `read` returns
 */
function longest(
  header: string | undefined,
  read: (each: string) => number,
  unitMs = 1,
): number | null {
  const found = (header ?? '')
    .split(',')
    .map((each) => read(each.trim()) * unitMs)
    .filter((each) => !Number.isNaN(each));
  return found.length > 0 ? Math.max(...found) : null;
}

function delayOf(text: string, nowMs: number): number {
  const value = number(text);
  // A number this large is a time, not a delay: in milliseconds or seconds since 1970.
  if (value >= 1e12) return value - nowMs;
  if (value >= 1e9) return value * 1_000 - nowMs;
  if (!Number.isNaN(value)) return value * 1_000;
  const delayMs = durationMs(text);
  return Number.isNaN(delayMs) ? dateMs(text) - nowMs : delayMs;
}

function number(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
}

/** `3s`, `120ms`, `1m2.9s`, `1h0m0s`, `26 seconds`. */
function durationMs(text: string): number {
  if (!duration.test(text)) return Number.NaN;
  let sumMs = 0;
  for (const [, value, unit = ''] of text.matchAll(/([\d.]+) ?([a-zµ]+)/g)) {
    sumMs += Number(value) * unitMs(unit);
  }
  return sumMs;
}

const duration =
  /^(\d+(\.\d+)? ?(ns|[uµ]s|ms|milliseconds?|d(ays?)?|h(ours?)?|m(in(ute)?s?)?|s(ec(ond)?s?)?) ?){1,6}$/;

function unitMs(unit: string): number {
  if (unit.startsWith('mil') || unit === 'ms') return 1;
  const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
  // Nanoseconds and microseconds are too short to matter.
  return units[unit.slice(0, 1)] ?? 0;
}

function dateMs(text: string): number {
  return /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/.test(text)
    ? Date.parse(text)
    : httpDate(text);
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
