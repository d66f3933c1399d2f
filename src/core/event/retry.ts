/** When the attempts of a delivery take place, and what their answers mean. */

/** The delay before each attempt, in seconds. After the last one the delivery has failed. */
const delaySeconds = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/** Each delay varies by this share, so that the attempts of many deliveries spread out. */
const jitter = 0.2;
const retryAfterSecondsMax = 86_400;

/**
 * The delay before the next attempt in milliseconds; null after the last one.
 * @param attempts how many preceded it
 * @param retryAfterSeconds as the receiver asks; 0 if it does not
 * @param random between 0 and 1
 */
export function retryDelayMs(
  attempts: number,
  retryAfterSeconds: number,
  random: number,
): number | null {
  const seconds = delaySeconds[attempts];
  if (seconds === undefined) return null;
  const varied = seconds * (1 - jitter + 2 * jitter * random);
  return Math.round(Math.max(varied, Math.min(retryAfterSeconds, retryAfterSecondsMax)) * 1_000);
}

/** The seconds of a `Retry-After` header, which is a number or a date; 0 without a valid one. */
export function retryAfterSeconds(header: string | null, nowMs: number): number {
  if (header === null) return 0;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? 0 : Math.max(0, Math.ceil((atMs - nowMs) / 1_000));
}

/** An endpoint without success for so long is disabled. */
export const failingDaysMax = 5;

/** Events and deliveries are deleted after so long. */
export const eventDays = 30;

/** How long an attempt may take, from the connection to the end of the headers. */
export const attemptMsMax = 15_000;

/** How much of an answer the delivery log shows. */
export const answerCharsMax = 1_000;

/** Requests to one endpoint at a time, over all processes. A failing endpoint gets one. */
export const inFlightMax = 10;
