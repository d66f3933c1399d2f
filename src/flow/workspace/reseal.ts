import { toId } from '../../core/id.ts';
import { sealOwner } from '../../core/model/provider.ts';
import { seal, unseal } from '../../core/seal.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Db } from '../../store/connection/database.ts';
import { lockSealed, updateSealed } from '../../store/people/providers.ts';
import { lockSealedWebhooks, updateSealedWebhooks } from '../../store/workflow/webhooks.ts';

/**
 * Seals every stored credential and every secret of a webhook under another key: all of them, or none where one does not open. What is under the
 * new key already is left alone, so a second go does no harm. Answers how many were sealed anew.
 */
export async function reseal(db: Db, oldKey: Buffer, newKey: Buffer): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const providers = (await lockSealed(trx)).map((row) => ({ ...row, sealed: row.sealedApiKey }));
    const webhooks = (await lockSealedWebhooks(trx)).map((row) => ({
      ...row,
      sealed: row.sealedSecret,
    }));
    const resealed = [providers, webhooks].map((rows) => anew(rows, oldKey, newKey));
    const closed = resealed.flatMap((kind) => kind.closed);
    if (closed.length > 0) throw new StartupFailure(refusal(closed));
    const [keys = [], secrets = []] = resealed.map((kind) => kind.rows);
    await updateSealed(
      trx,
      keys.map(({ id, sealed }) => ({ id, sealedApiKey: sealed })),
    );
    await updateSealedWebhooks(
      trx,
      secrets.map(({ id, sealed }) => ({ id, sealedSecret: sealed })),
    );
    return keys.length + secrets.length;
  });
}

interface Sealed {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly sealed: Buffer;
}

/** What is not under the new key yet, sealed anew; and what the old one does not open. */
function anew(rows: readonly Sealed[], oldKey: Buffer, newKey: Buffer) {
  const texts = rows
    .filter((row) => opened(row, newKey) === null)
    .map((row) => ({ row, text: opened(row, oldKey) }));
  return {
    rows: texts.map(({ row, text }) => ({
      id: row.id,
      sealed: seal(newKey, text ?? '', sealOwner(row)),
    })),
    closed: texts.filter(({ text }) => text === null).map(({ row }) => row),
  };
}

function opened(row: Sealed, key: Buffer): string | null {
  try {
    return unseal(key, row.sealed, sealOwner(row));
  } catch {
    return null;
  }
}

function refusal(closed: readonly Sealed[]): string {
  const names = closed.map((row) => `'${row.name}' of ${toId('workspace', row.workspaceId)}`);
  return `Nothing was changed: the old secret does not open the secrets of ${names.join(', ')}. Remove those providers or webhooks, or name the right secret.`;
}
