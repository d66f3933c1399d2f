import { sql } from 'kysely';
import type { Db, Trx } from '../connection/database.ts';
import { type Page, readPage } from '../page.ts';

/** The pins of an agent: which prompt version it used, since when, pinned by whom. */

export interface PinRow {
  readonly id: string;
  readonly promptVersionId: string;
  readonly promptVersionLabel: string;
  readonly number: number;
  readonly pinnedAt: Date;
  readonly pinnedBy: string | null;
}

/** Newest first. The first pin is in effect. */
export function listPins(
  db: Db,
  agentId: string,
  page: Page,
): Promise<{ rows: PinRow[]; total: number }> {
  const columns = sql`p.id, p.prompt_version_id, v.label as prompt_version_label, v.number, p.pinned_at,
    p.pinned_by`;
  const from = sql`pins p join prompt_versions v on v.id = p.prompt_version_id
    where p.agent_id = ${agentId}`;
  return readPage(db, { columns, from, order: sql`p.id desc` }, page);
}

/** The pin in effect. Valid only while the agent is locked. */
export async function findLastPin(trx: Trx, agentId: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    select id from pins where agent_id = ${agentId} order by id desc limit 1`.execute(trx);
  return rows[0]?.id ?? null;
}

export async function insertPin(
  trx: Trx,
  pin: {
    readonly id: string;
    readonly agentId: string;
    readonly promptVersionId: string;
    readonly pinnedBy: string | null;
  },
): Promise<void> {
  await sql`
    insert into pins (id, agent_id, prompt_version_id, pinned_by)
    values (${pin.id}, ${pin.agentId}, ${pin.promptVersionId}, ${pin.pinnedBy})`.execute(trx);
}
