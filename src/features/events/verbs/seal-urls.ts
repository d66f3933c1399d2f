import { storedOrigin } from '../../../core/event/endpoint.ts';
import { toId } from '../../../core/id.ts';
import { sealURLOwner } from '../../../core/model/provider.ts';
import { seal } from '../../../core/seal.ts';
import { type Db, inTransaction } from '../../../db/database.ts';
import { shortenAuditedURL } from '../../people/statements/audit-statements.ts';
import { lockPlainURLs, writeSealedURLs } from '../statements/endpoints.ts';

/**
 * Seals the URLs of endpoints that an earlier version wrote: those from before the migration, and those of processes that still run
 * beside this one. The entries of the audit log about them keep the host only, as new ones do.
 *
 * An earlier version sends to the text that is stored, so nothing is sealed while a worker of one is there. A worker that comes back
 * after a pause fails to send and tries again later, as after any failure: it never sends to a wrong address.
 */
export async function sealURLs(db: Db, sealKey: Buffer): Promise<void> {
  while ((await sealSome(db, sealKey)) > 0);
}

const sealedMax = 100;

function sealSome(db: Db, sealKey: Buffer): Promise<number> {
  return inTransaction(db, async (trx) => {
    const plain = await lockPlainURLs(trx, sealedMax);
    const sealed = plain.map((row) => ({
      id: row.id,
      url: storedOrigin(row.url),
      sealedUrl: seal(sealKey, row.url, sealURLOwner(row)),
    }));
    await writeSealedURLs(trx, sealed);
    for (const { id, workspaceId, url } of plain) {
      const { host } = new URL(url);
      await shortenAuditedURL(trx, { workspaceId, subject: toId('endpoint', id), host });
    }
    return plain.length;
  });
}
