import type { Retention } from '../../../core/history/retention.ts';
import { toId } from '../../../core/id.ts';
import type { Actor } from '../../../core/people/audit.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { writeAudit } from '../../people/statements/audit-statements.ts';
import { writeRetention } from '../statements/retention-statements.ts';

/** Takes effect with the next round. */
export async function setRetention(db: Db, actor: Actor, to: Retention): Promise<void> {
  const { workspaceId } = actor;
  await inTransaction(db, async (trx) => {
    const from = await writeRetention(trx, workspaceId, to);
    const subject = toId('workspace', workspaceId);
    const line = { action: 'retention.change', subject, details: { from, to } } as const;
    await writeAudit(trx, actor, line);
  });
}
