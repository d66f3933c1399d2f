import { uuid7, uuid7Time } from '../../../core/id.ts';
import { readClock } from '../../../db/clock.ts';
import type { Trx } from '../../../db/database.ts';
import { findLastPin, insertPin, type NewPin, type PinOwner } from '../statements/pins.ts';

/**
 * Adds a pin to the history of an agent or a workflow. Its id orders the history and is always later than the previous
 * one, even if the clock was set back: the newest pin is in effect. The agent or workflow must be locked, or new.
 */
export async function pinVersion(trx: Trx, of: PinOwner, pin: NewPin): Promise<void> {
  const nowMs = await readClock(trx);
  const last = await findLastPin(trx, of, pin.ownerId);
  const atMs = last === null ? nowMs : Math.max(nowMs, uuid7Time(last) + 1);
  await insertPin(trx, of, { ...pin, id: uuid7(atMs) });
}
