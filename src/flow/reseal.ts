import { toId } from '../core/id.ts';
import { sealOwner } from '../core/provider.ts';
import { seal, unseal } from '../core/seal.ts';
import { StartFailure } from '../core/start-failure.ts';
import type { Db } from '../store/db.ts';
import { lockSealed, type SealedRow, updateSealed } from '../store/providers.ts';

/**
 * Seals every stored credential under another key: all of them, or none where one does not open. What is under the
 * new key already is left alone, so a second go does no harm. Answers how many were sealed anew.
 */
export async function reseal(db: Db, oldKey: Buffer, newKey: Buffer): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const rows = (await lockSealed(trx)).filter((row) => opened(row, newKey) === null);
    const texts = rows.map((row) => ({ row, text: opened(row, oldKey) }));
    const closed = texts.filter(({ text }) => text === null).map(({ row }) => row);
    if (closed.length > 0) throw new StartFailure(refusal(closed));
    const sealed = texts.map(({ row, text }) => ({
      id: row.id,
      sealedApiKey: seal(newKey, text ?? '', sealOwner(row)),
    }));
    await updateSealed(trx, sealed);
    return sealed.length;
  });
}

function opened(row: SealedRow, key: Buffer): string | null {
  try {
    return unseal(key, row.sealedApiKey, sealOwner(row));
  } catch {
    return null;
  }
}

function refusal(closed: readonly SealedRow[]): string {
  const names = closed.map((row) => `'${row.name}' of ${toId('workspace', row.workspaceId)}`);
  return `Nothing was changed: the old secret does not open the credentials of ${names.join(', ')}. Remove those providers, or name the right secret.`;
}
