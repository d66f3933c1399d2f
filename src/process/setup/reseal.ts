import { shownURL } from '../../core/event/endpoint.ts';
import { toId } from '../../core/id.ts';
import { sealExtrasOwner, sealOwner, sealURLOwner } from '../../core/model/provider.ts';
import { seal, unseal } from '../../core/seal.ts';
import { StartupFailure } from '../../core/startup-failure.ts';
import { type Db, inTransaction, type Trx } from '../../db/database.ts';
import {
  lockSealedEndpoints,
  updateSealedEndpoints,
} from '../../features/events/statements/endpoints.ts';
import { writeAuditEverywhere } from '../../features/people/statements/audit-statements.ts';
import {
  findCanary,
  insertCanary,
  replaceCanary,
} from '../../features/people/statements/secret-canary.ts';
import { lockSealed, updateSealed } from '../../features/providers/statements/providers.ts';
import {
  lockSealedToolServers,
  updateSealedToolServers,
} from '../../features/tools/statements/tool-servers.ts';
import {
  lockSealedWebhooks,
  updateSealedWebhooks,
} from '../../features/workflows/statements/webhooks.ts';

/**
 * What is encrypted with the server's secret: credentials of providers, secrets of webhooks, endpoints and tool servers, URLs
 * of endpoints, and the canary, by which a process that starts with a wrong secret notices it. Keys are those of `deriveSealKey`.
 */

/**
 * Re-encrypts everything with a new key, or nothing if something cannot be decrypted. Values that already use the new key stay,
 * so it can be repeated. Returns the number of re-encrypted values.
 */
export async function reseal(db: Db, oldKey: Buffer, newKey: Buffer): Promise<number> {
  return db.transaction(async (trx) => {
    const canary = await findCanary(trx);
    if (canary && !opensCanary(oldKey, canary) && !opensCanary(newKey, canary)) {
      throw new StartupFailure(wrongSecret);
    }
    const sealed = await lockEverySealed(trx);
    const resealed = mapKinds(sealed, (rows) => resealRows(rows, oldKey, newKey));
    const unreadable = Object.values(resealed).flatMap((kind) => kind.unreadable);
    if (unreadable.length > 0) throw new StartupFailure(unreadableMessage(unreadable));
    const rows = mapKinds(resealed, (kind) => kind.rows);
    await updateSealed(
      trx,
      rows.credentials.map(({ id, sealed }) => ({ id, sealedApiKey: sealed })),
    );
    await updateSealed(
      trx,
      rows.extras.map(({ id, sealed }) => ({ id, sealedExtras: sealed })),
    );
    await updateSealedWebhooks(
      trx,
      rows.webhooks.map(({ id, sealed }) => ({ id, sealedSecret: sealed })),
    );
    await updateSealedEndpoints(trx, rows.signing, 'sealed_secret');
    await updateSealedEndpoints(trx, rows.earlier, 'previous_sealed_secret');
    await updateSealedEndpoints(trx, rows.urls, 'sealed_url');
    await updateSealedToolServers(trx, rows.toolHeaders, 'sealed_headers');
    await updateSealedToolServers(trx, rows.toolSigning, 'sealed_secret');
    await updateSealedToolServers(trx, rows.toolEarlier, 'previous_sealed_secret');
    await replaceCanary(trx, sealCanary(newKey));
    // The command line starts every rotation.
    await writeAuditEverywhere(trx, { action: 'secret.rotate' });
    return Object.values(rows).flat().length;
  });
}

/**
 * Throws if the key is not that of the database. The first start that knows the canary, writes it: with any key if nothing is
 * encrypted yet, else with one that decrypts something.
 */
export async function verifySecret(db: Db, key: Buffer): Promise<void> {
  const canary = (await findCanary(db)) ?? (await firstCanary(db, key));
  if (!opensCanary(key, canary)) throw new StartupFailure(wrongSecret);
}

async function firstCanary(db: Db, key: Buffer): Promise<Buffer> {
  return inTransaction(db, async (trx) => {
    const sealed = Object.values(await lockEverySealed(trx)).flat();
    const opens = sealed.length === 0 || sealed.some((row) => tryUnseal(row, key) !== null);
    if (!opens) throw new StartupFailure(wrongSecret);
    await insertCanary(trx, sealCanary(key));
    // Of two processes that start at once, the first decides.
    const canary = await findCanary(trx);
    if (!canary) throw new Error('The canary was inserted.');
    return canary;
  });
}

/** The old secret is lost: the database belongs to this one from now on. What it does not decrypt must be stored again. */
export async function acceptSecret(db: Db, key: Buffer): Promise<void> {
  await inTransaction(db, async (trx) => {
    await replaceCanary(trx, sealCanary(key));
    await writeAuditEverywhere(trx, { action: 'secret.rotate', details: { lost: true } });
  });
}

const wrongSecret =
  'The secret (CUELINE_SECRET, or the file "secret" in the data directory) is not the one that this database is encrypted with: use that one or, if it is lost, run "cueline secrets reset".';

/** What the canary says, and whose it is. */
const canaryText = 'cueline';
const canaryOwner = 'canary';

function sealCanary(key: Buffer): Buffer {
  return seal(key, canaryText, canaryOwner);
}

function opensCanary(key: Buffer, sealed: Buffer): boolean {
  return tryUnseal({ sealed, owner: canaryOwner }, key) === canaryText;
}

interface Sealed {
  readonly id: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly sealed: Buffer;
  readonly owner: string;
}

type Kind =
  | 'credentials'
  | 'extras'
  | 'webhooks'
  | 'signing'
  | 'earlier'
  | 'urls'
  | 'toolHeaders'
  | 'toolSigning'
  | 'toolEarlier';

/** Everything but the canary, of all workspaces, locked until the transaction ends. */
async function lockEverySealed(trx: Trx): Promise<Record<Kind, Sealed[]>> {
  const providers = await lockSealed(trx);
  const webhooks = await lockSealedWebhooks(trx);
  const endpoints = (await lockSealedEndpoints(trx)).map((row) => ({
    ...row,
    name: row.url === null ? 'pull endpoint' : shownURL(row.url),
  }));
  const tools = await lockSealedToolServers(trx);
  return {
    credentials: providers.flatMap((row) => sealedBy(sealOwner(row), row, row.sealedApiKey)),
    extras: providers.flatMap((row) => sealedBy(sealExtrasOwner(row), row, row.sealedExtras)),
    webhooks: webhooks.flatMap((row) => sealedBy(sealOwner(row), row, row.sealedSecret)),
    signing: endpoints.flatMap((row) => sealedBy(sealOwner(row), row, row.sealedSecret)),
    earlier: endpoints.flatMap((row) => sealedBy(sealOwner(row), row, row.previousSealedSecret)),
    urls: endpoints.flatMap((row) => sealedBy(sealURLOwner(row), row, row.sealedUrl)),
    toolHeaders: tools.flatMap((row) => sealedBy(sealExtrasOwner(row), row, row.sealedHeaders)),
    toolSigning: tools.flatMap((row) => sealedBy(sealOwner(row), row, row.sealedSecret)),
    toolEarlier: tools.flatMap((row) => sealedBy(sealOwner(row), row, row.previousSealedSecret)),
  };
}

function mapKinds<From, To>(kinds: Record<Kind, From>, map: (kind: From) => To): Record<Kind, To> {
  const entries = Object.entries(kinds).map(([kind, value]) => [kind, map(value)]);
  return Object.fromEntries(entries) as Record<Kind, To>;
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

function tryUnseal(row: Pick<Sealed, 'sealed' | 'owner'>, key: Buffer): string | null {
  try {
    return unseal(key, row.sealed, row.owner);
  } catch {
    return null;
  }
}

function unreadableMessage(unreadable: readonly Sealed[]): string {
  const names = unreadable.map((row) => `'${row.name}' of ${toId('workspace', row.workspaceId)}`);
  return `Nothing was changed. The old secret does not decrypt ${names.join(', ')}. Remove those providers, webhooks, endpoints or tool servers, or use the right secret.`;
}
