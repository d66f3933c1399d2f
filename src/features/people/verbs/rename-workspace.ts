import { toId } from '../../../core/id.ts';
import type { Actor } from '../../../core/people/audit.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { writeAudit } from '../statements/audit-statements.ts';
import { updateName } from '../statements/workspaces.ts';

/** Nothing refers to a workspace by its name. */
export async function renameWorkspace(db: Db, actor: Actor, name: string): Promise<void> {
  const { workspaceId } = actor;
  await inTransaction(db, async (trx) => {
    await updateName(trx, workspaceId, name);
    const line = { subject: toId('workspace', workspaceId), details: { name } };
    await writeAudit(trx, actor, { action: 'workspace.change', ...line });
  });
}
