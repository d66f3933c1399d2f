import { toId } from '../../core/id.ts';
import { sealExtrasOwner, sealOwner } from '../../core/model/provider.ts';
import { seal, unseal } from '../../core/seal.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import type { Db } from '../../store/connection/database.ts';
import { lockSealedEndpoints, updateSealedEndpoints } from '../../store/event/endpoints.ts';
import { writeAuditEverywhere } from '../../store/people/audit.ts';
import { lockSealed, updateSealed } from '../../store/people/providers.ts';
import { lockSealedWebhooks, updateSealedWebhooks } from '../../store/workflow/webhooks.ts';

/**
 * Re-encrypts all stored credentials and the secrets of webhooks and endpoints with a new key, or none if one cannot be decrypted. Values that
 * already use the new key stay, so it can be repeated. Returns the number of re-encrypted values.
 */
export async function reseal(db: Db, oldKey: Buffer, newKey: Buffer): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const providers = await lockSealed(trx);
    const credentials = providers.flatMap((row) => sealedBy(sealOwner(row), row, row.sealedApiKey));
    const extras = providers.flatMap((row) =>
      sealedBy(sealExtrasOwner(row), row, row.sealedExtras),
    );
    const webhooks = (await lockSealedWebhooks(trx)).flatMap((row) =>
      sealedBy(sealOwner(row), row, row.sealedSecret),
    );
    const endpoints = await lockSealedEndpoints(trx);
    const current = endpoints.flatMap((row) => sealedBy(sealOwner(row), row, row.sealedSecret));
    const previous = endpoints.flatMap((row) =>
      sealedBy(sealOwner(row), row, row.previousSealedSecret),
    );
    const all = [credentials, extras, webhooks, current, previous];
    const resealed = all.map((rows) => resealRows(rows, oldKey, newKey));
    const unreadable = resealed.flatMap((kind) => kind.unreadable);
    if (unreadable.length > 0) throw new StartupFailure(unreadableMessage(unreadable));
    const kinds = resealed.map((kind) => kind.rows);
    const [keys = [], others = [], secrets = [], signing = [], earlier = []] = kinds;
    await updateSealed(
      trx,
      keys.map(({ id, sealed }) => ({ id, sealedApiKey: sealed })),
    );
    await updateSealed(
      trx,
      others.map(({ id, sealed }) => ({ id, sealedExtras: sealed })),
    );
    await updateSealedWebhooks(
      trx,
      secrets.map(({ id, sealed }) => ({ id, sealedSecret: sealed })),
    );
    await updateSealedEndpoints(trx, signing, 'current');
    await updateSealedEndpoints(trx, earlier, 'previous');
    // The command line starts every rotation.
    await writeAuditEverywhere(trx, { action: 'secret.rotate' });
    return kinds.flat().length;
  });
}

interface Sealed {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly sealed: Buffer;
  readonly owner: string;
}

function sealedBy(
  owner: string,
  { id, workspaceId, name }: Omit<Sealed, 'sealed' | 'owner'>,
  sealed: Buffer | null,
): Sealed[] {
  return sealed === null ? [] : [{ id, workspaceId, name, sealed, owner }];
}

/** Re-encrypts rows that do not use the new key yet. `unreadable` are those that the old key does not decrypt. */
function resealRows(rows: readonly Sealed[], oldKey: Buffer, newKey: Buffer) {
  const texts = rows
    .filter((row) => tryUnseal(row, newKey) === null)
    .map((row) => ({ row, text: tryUnseal(row, oldKey) }));
  return {
    rows: texts.map(({ row, text }) => ({
      id: row.id,
      sealed: seal(newKey, text ?? '', row.owner),
    })),
    unreadable: texts.filter(({ text }) => text === null).map(({ row }) => row),
  };
}

function tryUnseal(row: Sealed, key: Buffer): string | null {
  try {
    return unseal(key, row.sealed, row.owner);
  } catch {
    return null;
  }
}

function unreadableMessage(unreadable: readonly Sealed[]): string {
  const names = unreadable.map((row) => `'${row.name}' of ${toId('workspace', row.workspaceId)}`);
  return `Nothing was changed. The old secret does not decrypt ${names.join(', ')}. Remove those providers, webhooks or endpoints, or use the right secret.`;
}
