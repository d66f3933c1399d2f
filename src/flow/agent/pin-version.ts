import { uuid7, uuid7Time } from '../../core/id.ts';
import { findLastPin, insertPin } from '../../store/agent/pins.ts';
import { readClock } from '../../store/connection/clock.ts';
import type { Trx } from '../../store/connection/database.ts';

/**
 * Notes in an agent's history which version it has from now on. The id, by which the history is ordered, is later than
 * that of the pin before even where the clock was set back or stands still: the newest is the one in force.
 * The agent must be locked, or be new.
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
