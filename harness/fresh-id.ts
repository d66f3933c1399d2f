import { uuid7 } from '../src/core/id.ts';

let lastMs = 0;
let ofLastMs = 0;
/** The range of twelve bits. */
const ofMsMax = 4_096;

/**
 * Ids for rows that a test inserts. They increase in the order of the calls, even within a millisecond; ids made by the
 * service do not.
 */
export function freshId(): string {
  const nowMs = Date.now();
  if (nowMs > lastMs) [lastMs, ofLastMs] = [nowMs, 0];
  if (ofLastMs === ofMsMax) [lastMs, ofLastMs] = [lastMs + 1, 0];
  const id = uuid7(lastMs);
  // The twelve bits after the version, which are random otherwise.
  return id.slice(0, 15) + (ofLastMs++).toString(16).padStart(3, '0') + id.slice(18);
}
