import { uuid7 } from '../src/core/id.ts';

let lastMs = 0;
let ofLastMs = 0;
/** What twelve bits count. */
const ofMsMax = 4_096;

/**
 * For what a test puts into the database itself. They come in the order in which they are asked for, also within a
 * millisecond, where those that the service makes do not.
 */
export function freshId(): string {
  const nowMs = Date.now();
  if (nowMs > lastMs) [lastMs, ofLastMs] = [nowMs, 0];
  if (ofLastMs === ofMsMax) [lastMs, ofLastMs] = [lastMs + 1, 0];
  const id = uuid7(lastMs);
  // The twelve bits after the version, which are random else.
  return id.slice(0, 15) + (ofLastMs++).toString(16).padStart(3, '0') + id.slice(18);
}
