import { uuid7, uuid7Time } from '../../core/id.ts';
import { findLastPin, insertPin } from '../../store/agent/pins.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Trx } from '../../store/connection/database.ts';

/**
 * Adds a pin to the agent's history. Its id orders the history and is always later than the previous one, even if the
 * clock was set back: the newest pin is in effect. The agent must be locked, or new.
 */
export async function pinVersion(
  trx: Trx,
  pin: {
    readonly agentId: string;
    readonly promptVersionId: string;
    readonly pinnedBy: string | null;
  },
): Promise<void> {
  const nowMs = await readClock(trx);
  const last = await findLastPin(trx, pin.agentId);
  const atMs = last === null ? nowMs : Math.max(nowMs, uuid7Time(last) + 1);
  await insertPin(trx, { ...pin, id: uuid7(atMs) });
}
